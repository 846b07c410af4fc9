/*
 * A runner for GGUF files of architecture `llama` without experts: Llama 1 to 3, SmolLM2 and others.
 *
 * A runner describes a model and computes nothing. The host asks `matches` whether this is its
 * architecture, then `describe` for the graph: it reads the metadata, checks what the mathematics
 * rests on, and names each weight and operation to the host's builder. Kernels are other packages.
 *
 * This file is the example of docs/adding-an-architecture.md, over include/guild alone: C99, and one
 * compiler builtin for the counter (`__atomic_*`, of GCC and Clang).
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <guild/describe.h>
#include <guild/guild.h>
#include <guild/note.h>
#include <math.h>

#define PACKAGE_ID "org.guild.runners.llama"
#define PACKAGE_VERSION "1.0.0"

/* A host that links this file in gives the entry another name, and needs no note in the file. */
#ifndef GUILD_PLUGIN_ENTRY
#define GUILD_PLUGIN_ENTRY guild_plugin_entry_v1
GUILD_NOTE(PACKAGE_ID, PACKAGE_VERSION);
#endif

/* Far above every published model, and low enough that no product of two overflows. */
enum { LAYERS_MAX = 1024, DIMENSION_MAX = 1 << 20 };

struct llama {
    uint64_t layers, hidden, vocabulary, feed_forward;
    uint64_t heads, kv_heads, head_dim, rotary_dims;
    double theta, epsilon;
};

/* ---- What the file must say ---- */

/* Ignoring one of these keys would give wrong text without a word. */
static void refuse_variants(guild_describe *d)
{
    guild_must_be(d, "llama.expert_count", 0);
    guild_must_be(d, "llama.attention.sliding_window", 0);
    guild_must_be(d, "llama.attention.causal", 1);
    guild_must_be(d, "llama.attention.scale", 0);
    guild_must_be(d, "llama.attention.clamp_kqv", 0);
    guild_must_be(d, "llama.attention.max_alibi_bias", 0);
    guild_must_be(d, "llama.use_parallel_residual", 0);
    guild_must_be(d, "llama.embedding_scale", 1);
    guild_must_be(d, "llama.residual_scale", 1);
    guild_must_be(d, "llama.logit_scale", 1);
    guild_must_be(d, "llama.attn_logit_softcapping", 0);
    guild_must_be(d, "llama.final_logit_softcapping", 0);
    guild_must_be(d, "llama.rope.scale_linear", 1);
    guild_must_be(d, "llama.rope.scaling.factor", 1);
    guild_must_be(d, "llama.rope.scaling.attn_factor", 1);
    guild_must_be_text(d, "llama.rope.scaling.type", "none");
}

static struct llama read_hyperparameters(guild_describe *d)
{
    const char *const heads = "llama.attention.head_count";
    struct llama m;
    m.layers = guild_read_u64(d, "llama.block_count", 1, LAYERS_MAX);
    m.hidden = guild_read_u64(d, "llama.embedding_length", 1, DIMENSION_MAX);
    m.feed_forward = guild_read_u64(d, "llama.feed_forward_length", 1, DIMENSION_MAX);
    m.epsilon = guild_read_positive(d, "llama.attention.layer_norm_rms_epsilon");
    m.theta = guild_read_positive_or(d, "llama.rope.freq_base", 10000.0);

    /* Grouped queries: each key and value head serves as many query heads. */
    m.heads = guild_read_u64(d, heads, 1, DIMENSION_MAX);
    m.kv_heads = guild_read_u64_or(d, "llama.attention.head_count_kv", m.heads, 1, DIMENSION_MAX);
    guild_must_divide(d, heads, m.heads, "llama.attention.head_count_kv", m.kv_heads);
    if (guild_key_length(d, "llama.attention.key_length") == 0) {
        guild_must_divide(d, "llama.embedding_length", m.hidden, heads, m.heads);
    }
    m.head_dim = guild_read_u64_or(d, "llama.attention.key_length", m.hidden / m.heads, 1,
                                   DIMENSION_MAX);
    guild_must_equal(d, "llama.attention.value_length",
                     guild_read_u64_or(d, "llama.attention.value_length", m.head_dim, 1,
                                       DIMENSION_MAX),
                     "the length of a key", m.head_dim);

    /* The first elements of a head are turned, in pairs. */
    m.rotary_dims = guild_read_u64_or(d, "llama.rope.dimension_count", m.head_dim, 2, m.head_dim);
    guild_must_divide(d, "llama.rope.dimension_count", m.rotary_dims, "a pair", 2);

    /* The embedding has a row for each token: that is the vocabulary. */
    m.vocabulary = guild_tensor_rows(d, "token_embd.weight");
    guild_must_equal(d, "llama.vocab_size",
                     guild_read_u64_or(d, "llama.vocab_size", m.vocabulary, 1, UINT32_MAX),
                     "the number of rows of tensor token_embd.weight", m.vocabulary);
    return m;
}

static void refuse_other_tensors(guild_describe *d, const struct llama *m)
{
    static const char *const names[] = {"token_embd.weight", "output_norm.weight", "output.weight",
                                        "rope_freqs.weight", NULL};
    static const char *const suffixes[] = {
        "attn_norm.weight",   "attn_q.weight",   "attn_k.weight",   "attn_v.weight",
        "attn_output.weight", "ffn_norm.weight", "ffn_gate.weight", "ffn_up.weight",
        "ffn_down.weight",    NULL};
    guild_refuse_other_tensors(d, names, suffixes, m->layers);
}

/* ---- The graph ---- */

/* x + attention(norm(x)): every token mixes in what it finds at the positions before it. */
static guild_value attention_part(guild_describe *d, const struct llama *m,
                                  const guild_value *factors, guild_value x)
{
    const uint64_t q_len = m->heads * m->head_dim, kv_len = m->kv_heads * m->head_dim;
    const uint32_t layer = d->layer;
    guild_value norm = guild_vector(d, m->hidden, "blk.%" PRIu32 ".attn_norm.weight", layer);
    guild_value y = guild_rms_norm(d, "attn_norm", x, norm, m->epsilon);
    guild_value q, k, v, weights[3], qkv[3];
    uint32_t keys, values;

    /* Three weights that read one input are one operation: a kernel encodes the input once. */
    weights[0] = guild_matrix(d, q_len, m->hidden, "blk.%" PRIu32 ".attn_q.weight", layer);
    weights[1] = guild_matrix(d, kv_len, m->hidden, "blk.%" PRIu32 ".attn_k.weight", layer);
    weights[2] = guild_matrix(d, kv_len, m->hidden, "blk.%" PRIu32 ".attn_v.weight", layer);
    guild_linear(d, "attn_input", y, weights, qkv, 3);
    q = guild_heads(d, qkv[0], m->heads, m->head_dim);
    k = guild_heads(d, qkv[1], m->kv_heads, m->head_dim);
    v = guild_heads(d, qkv[2], m->kv_heads, m->head_dim);

    /* The converter orders the rows of q and k so that neighbours are a pair. */
    q = guild_rope(d, "attn_q_rope", q, factors, GUILD_ROPE_ADJACENT, m->rotary_dims, m->theta);
    k = guild_rope(d, "attn_k_rope", k, factors, GUILD_ROPE_ADJACENT, m->rotary_dims, m->theta);

    keys = guild_append_state(d, "keys", m->kv_heads, m->head_dim);
    values = guild_append_state(d, "values", m->kv_heads, m->head_dim);
    y = guild_attention(d, "attention", q, k, v, keys, values, 1.0 / sqrt((double)m->head_dim));
    weights[0] = guild_matrix(d, m->hidden, q_len, "blk.%" PRIu32 ".attn_output.weight", layer);
    guild_linear(d, "attn_output", guild_flat(d, y), weights, &y, 1);
    return guild_add(d, "attn_residual", y, x);
}

/* x + down(silu(gate(norm(x))) * up(norm(x))): each token by itself. */
static guild_value feed_forward_part(guild_describe *d, const struct llama *m, guild_value x)
{
    const uint32_t layer = d->layer;
    guild_value norm = guild_vector(d, m->hidden, "blk.%" PRIu32 ".ffn_norm.weight", layer);
    guild_value y = guild_rms_norm(d, "ffn_norm", x, norm, m->epsilon);
    guild_value weights[2], gate_up[2];
    weights[0] =
        guild_matrix(d, m->feed_forward, m->hidden, "blk.%" PRIu32 ".ffn_gate.weight", layer);
    weights[1] =
        guild_matrix(d, m->feed_forward, m->hidden, "blk.%" PRIu32 ".ffn_up.weight", layer);
    guild_linear(d, "ffn_input", y, weights, gate_up, 2);
    y = guild_swiglu(d, "ffn_swiglu", gate_up[0], gate_up[1]);
    weights[0] =
        guild_matrix(d, m->hidden, m->feed_forward, "blk.%" PRIu32 ".ffn_down.weight", layer);
    guild_linear(d, "ffn_output", y, weights, &y, 1);
    return guild_add(d, "ffn_residual", y, x);
}

static void describe_graph(guild_describe *d, const struct llama *m)
{
    guild_value tokens, output_rows, table, factors, norm, head, x;
    const guild_value *rope_factors = NULL;
    guild_main_section(d);
    tokens = guild_input(d, GUILD_INPUT_TOKENS);
    output_rows = guild_input(d, GUILD_INPUT_OUTPUT_ROWS);
    table = guild_matrix(d, m->vocabulary, m->hidden, "token_embd.weight");
    /* Llama 3 stretches its low frequencies by factors that stand in the file. */
    if (guild_has_tensor(d, "rope_freqs.weight")) {
        factors = guild_vector(d, m->rotary_dims / 2, "rope_freqs.weight");
        rope_factors = &factors;
    }

    x = guild_embedding(d, "token_embedding", table, tokens);
    for (d->layer = 0; d->layer < m->layers && d->status == GUILD_STATUS_OK; d->layer++) {
        x = attention_part(d, m, rope_factors, x);
        x = feed_forward_part(d, m, x);
    }

    /* Only the rows whose logits are wanted go on: the head is the largest matrix of small models. */
    x = guild_select_rows(d, "output_rows", x, output_rows);
    norm = guild_vector(d, m->hidden, "output_norm.weight");
    x = guild_rms_norm(d, "output_norm", x, norm, m->epsilon);
    /* A file without a head of its own uses the embedding's rows for it. */
    head = table;
    if (guild_has_tensor(d, "output.weight")) {
        head = guild_matrix(d, m->vocabulary, m->hidden, "output.weight");
    }
    guild_linear(d, "output", x, &head, &x, 1);
    guild_output(d, GUILD_OUTPUT_LOGITS, x);
}

/* ---- The plugin ---- */

/* What lives between the entry and `shutdown`. A plugin has no writable globals, so that two hosts in
 * one process don't meet. */
struct plugin {
    const guild_host_v1 *host;
    uint64_t described;
};

static guild_status info(void *self_, uint32_t index, guild_runner_desc *out, guild_err *err)
{
    (void)self_;
    if (index != 0) {
        return guild_fail(err, GUILD_STATUS_ERR_INVALID, "there is no runner %" PRIu32, index);
    }
    out->id = guild_text("guild.runner.llama.v1");
    out->architectures = guild_text("llama");
    return GUILD_STATUS_OK;
}

static guild_status matches(void *self_, uint32_t index, const guild_model_v1 *model, int32_t *score,
                            guild_err *err)
{
    (void)self_, (void)index, (void)err;
    if (!guild_text_is(model->architecture, "llama")) {
        return GUILD_STATUS_DECLINED;
    }
    *score = 100;
    return GUILD_STATUS_OK;
}

static guild_status describe(void *self_, uint32_t index, const guild_model_v1 *model,
                             const guild_describe_params *params, const guild_builder_v1 *builder,
                             guild_err *err)
{
    guild_describe d;
    struct llama m;
    (void)index, (void)params;
    d.model = model;
    d.builder = builder;
    d.err = err;
    d.status = GUILD_STATUS_OK;
    d.layer = 0;
    refuse_variants(&d);
    m = read_hyperparameters(&d);
    describe_graph(&d, &m);
    refuse_other_tensors(&d, &m);
    /* Another thread may read the counter meanwhile. */
    (void)__atomic_add_fetch(&((struct plugin *)self_)->described, 1, __ATOMIC_RELAXED);
    return d.status;
}

/* The host shows this count as proof of which package did the work. */
static guild_status count_runner(void *self_, uint32_t index, guild_counter *out)
{
    if (index != 0) {
        return GUILD_STATUS_DECLINED;
    }
    out->calls = __atomic_load_n(&((struct plugin *)self_)->described, __ATOMIC_RELAXED);
    out->rows = 0;
    return GUILD_STATUS_OK;
}

static const void *get_extension(void *self_, guild_str id)
{
    static const guild_runner_v1 runners = {
        .h = {.size = sizeof(guild_runner_v1), .kind = GUILD_KIND_EXTENSION},
        .runner_count = 1,
        .info = info,
        .matches = matches,
        .describe = describe,
    };
    static const guild_counters_v1 counters = {
        .h = {.size = sizeof(guild_counters_v1), .kind = GUILD_KIND_EXTENSION},
        .runner = count_runner,
    };
    (void)self_;
    if (guild_text_is(id, "guild.runner/1")) {
        return &runners;
    }
    return guild_text_is(id, "guild.counters/1") ? &counters : NULL;
}

static void shutdown(void *self_)
{
    const guild_host_v1 *host = ((struct plugin *)self_)->host;
    host->free(host->ctx, self_, sizeof(struct plugin), sizeof(uint64_t));
}

/* The one symbol that the library exports. */
GUILD_EXPORT guild_status GUILD_PLUGIN_ENTRY(const guild_host_v1 *host, guild_plugin_v1 *out,
                                             guild_err *err)
{
    struct plugin *plugin =
        host->alloc(host->ctx, sizeof(struct plugin), sizeof(uint64_t), 0);
    if (plugin == NULL) {
        return guild_fail(err, GUILD_STATUS_ERR_NOMEM_HOST, "no memory for the runner's counter");
    }
    plugin->host = host;
    plugin->described = 0;
    out->abi_minor_built = GUILD_ABI_MINOR;
    out->abi_minor_min = 0;
    out->id = guild_text(PACKAGE_ID);
    out->version = guild_text(PACKAGE_VERSION);
    out->self_ = plugin;
    out->get_extension = get_extension;
    out->shutdown = shutdown;
    return GUILD_STATUS_OK;
}
