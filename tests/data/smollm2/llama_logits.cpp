// Writes llama.cpp's logits of some tokens, all in one batch: f32 [tokens, vocabulary].
//
// usage: llama_logits MODEL.gguf OUT.f32 IDS f32|f16 off|auto
//
// IDS are separated by commas; then come the format of the KV cache and flash attention.
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "llama.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static int fail(const char *what)
{
    fprintf(stderr, "llama_logits: %s\n", what);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        return fail("usage: llama_logits MODEL.gguf OUT.f32 IDS f32|f16 off|auto");
    }
    std::vector<llama_token> ids;
    for (char *id = strtok(argv[3], ","); id != nullptr; id = strtok(nullptr, ",")) {
        ids.push_back(atoi(id));
    }

    llama_backend_init();
    llama_model *model = llama_model_load_from_file(argv[1], llama_model_default_params());
    if (model == nullptr) {
        return fail("the model doesn't load");
    }
    llama_context_params params = llama_context_default_params();
    params.n_ctx = params.n_batch = params.n_ubatch = 512;
    params.n_threads = params.n_threads_batch = 2;
    params.type_k = params.type_v = strcmp(argv[4], "f32") == 0 ? GGML_TYPE_F32 : GGML_TYPE_F16;
    params.flash_attn_type = strcmp(argv[5], "off") == 0 ? LLAMA_FLASH_ATTN_TYPE_DISABLED
                                                        : LLAMA_FLASH_ATTN_TYPE_AUTO;
    llama_context *context = llama_init_from_model(model, params);
    if (context == nullptr) {
        return fail("there is no context");
    }

    llama_batch batch = llama_batch_init((int32_t)ids.size(), 0, 1);
    batch.n_tokens = (int32_t)ids.size();
    for (int32_t row = 0; row < batch.n_tokens; row++) {
        batch.token[row] = ids[row];
        batch.pos[row] = row;
        batch.n_seq_id[row] = 1;
        batch.seq_id[row][0] = 0;
        batch.logits[row] = true;
    }
    if (llama_decode(context, batch) != 0) {
        return fail("it doesn't compute");
    }

    const size_t vocabulary = (size_t)llama_vocab_n_tokens(llama_model_get_vocab(model));
    FILE *out = fopen(argv[2], "wb");
    if (out == nullptr) {
        return fail("the output can't be written");
    }
    for (int32_t row = 0; row < batch.n_tokens; row++) {
        if (fwrite(llama_get_logits_ith(context, row), 4, vocabulary, out) != vocabulary) {
            return fail("the output can't be written");
        }
    }
    return fclose(out) == 0 ? 0 : fail("the output can't be written");
}
