/*
 * Calls guild/describe.h with a made-up model and builder, with what a broken runner or a hostile file
 * would hand it. `describe.rs` builds it with the address and undefined-behaviour sanitizers, which see
 * what the checks here can't: each write beside an array.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <guild/describe.h>
#include <stdlib.h>
#include <wchar.h>

#define CHECK(condition)                                                                             \
    do {                                                                                             \
        if (!(condition)) {                                                                          \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                          \
            exit(1);                                                                                 \
        }                                                                                            \
    } while (0)

/* ---- The made-up host ---- */

/* What `tensor_at` gives, and how often the model or the builder was asked. */
struct host {
    const char *tensor;
    size_t tensor_length;
    uint32_t model_calls, builder_calls;
};

static guild_status model_length(void *ctx, guild_str key, uint64_t *out)
{
    ((struct host *)ctx)->model_calls++;
    *out = 1;
    return guild_text_is(key, "absent") ? GUILD_STATUS_ERR_NOT_FOUND : GUILD_STATUS_OK;
}

static guild_status model_integer(void *ctx, guild_str key, uint64_t index, uint64_t *out)
{
    (void)key, (void)index;
    ((struct host *)ctx)->model_calls++;
    *out = 7;
    return GUILD_STATUS_OK;
}

static guild_status model_number(void *ctx, guild_str key, uint64_t index, double *out)
{
    (void)key, (void)index;
    ((struct host *)ctx)->model_calls++;
    *out = 7.0;
    return GUILD_STATUS_OK;
}

static guild_status model_text(void *ctx, guild_str key, uint64_t index, guild_str *out)
{
    (void)key, (void)index;
    ((struct host *)ctx)->model_calls++;
    /* 64 bytes end within its last character. */
    *out = guild_text("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\xc3\xa9");
    return GUILD_STATUS_OK;
}

static guild_status model_tensor(void *ctx, guild_str name, guild_tensor_info *out)
{
    (void)name;
    ((struct host *)ctx)->model_calls++;
    out->rank = 2;
    out->shape[0] = 3;
    out->shape[1] = 4;
    return GUILD_STATUS_OK;
}

static guild_status model_tensor_at(void *ctx, uint64_t index, guild_tensor_info *out)
{
    struct host *host = ctx;
    (void)index;
    host->model_calls++;
    out->name.ptr = (const uint8_t *)host->tensor;
    out->name.len = host->tensor_length;
    return host->tensor == NULL ? GUILD_STATUS_ERR_INTERNAL : GUILD_STATUS_OK;
}

static guild_status builder_section(void *ctx, const guild_section_desc *desc, guild_err *err)
{
    (void)desc, (void)err;
    ((struct host *)ctx)->builder_calls++;
    return GUILD_STATUS_OK;
}

static guild_status builder_weight(void *ctx, guild_str name, uint32_t *value, guild_err *err)
{
    (void)name, (void)err;
    *value = ++((struct host *)ctx)->builder_calls;
    return GUILD_STATUS_OK;
}

static guild_status builder_input(void *ctx, uint32_t kind, uint64_t hidden, uint32_t *value,
                                  guild_err *err)
{
    (void)kind, (void)hidden, (void)err;
    *value = ++((struct host *)ctx)->builder_calls;
    return GUILD_STATUS_OK;
}

static guild_status builder_state(void *ctx, const guild_state_desc *desc, uint32_t *state,
                                  guild_err *err)
{
    (void)desc, (void)err;
    *state = ++((struct host *)ctx)->builder_calls;
    return GUILD_STATUS_OK;
}

static guild_status builder_view(void *ctx, const guild_view_desc *desc, uint32_t *value,
                                 guild_err *err)
{
    (void)err;
    CHECK(desc->rank >= 1 && desc->rank <= 3 && desc->stride[desc->rank - 1] == 1);
    CHECK(desc->rank < 3 || desc->stride[1] == desc->shape[2]);
    *value = ++((struct host *)ctx)->builder_calls;
    return GUILD_STATUS_OK;
}

static guild_status builder_op(void *ctx, const guild_node_desc *desc, uint32_t *values,
                               guild_err *err)
{
    uint32_t i;
    if (guild_text_is(desc->name, "refused")) {
        return guild_fail(err, GUILD_STATUS_ERR_INVALID, "the made-up host refuses it");
    }
    ((struct host *)ctx)->builder_calls++;
    for (i = 0; i < desc->n_out; i++) {
        values[i] = 100 + i;
    }
    return GUILD_STATUS_OK;
}

static guild_status builder_output(void *ctx, uint32_t kind, uint32_t value, guild_err *err)
{
    (void)kind, (void)value, (void)err;
    ((struct host *)ctx)->builder_calls++;
    return GUILD_STATUS_OK;
}

/* One description in progress with all that it points to. */
struct trial {
    struct host host;
    guild_model_v1 model;
    guild_builder_v1 builder;
    guild_err err;
    uint8_t text[1024];
    guild_describe d;
};

/* A byte that no text has: what stands where nobody wrote. */
enum { UNWRITTEN = 0xff };

static guild_describe *start(struct trial *t)
{
    memset(t, 0, sizeof *t);
    memset(t->text, UNWRITTEN, sizeof t->text);
    t->err.buf = t->text;
    t->err.cap = sizeof t->text;
    t->model.ctx = &t->host;
    t->model.tensor_count = 1;
    t->model.length = model_length;
    t->model.get_u64 = model_integer;
    t->model.get_f64 = model_number;
    t->model.get_str = model_text;
    t->model.tensor = model_tensor;
    t->model.tensor_at = model_tensor_at;
    t->builder.ctx = &t->host;
    t->builder.section = builder_section;
    t->builder.weight = builder_weight;
    t->builder.input = builder_input;
    t->builder.state = builder_state;
    t->builder.view = builder_view;
    t->builder.op = builder_op;
    t->builder.output = builder_output;
    t->d.model = &t->model;
    t->d.builder = &t->builder;
    t->d.err = &t->err;
    t->d.status = GUILD_STATUS_OK;
    return &t->d;
}

/* Whether the reason is `text`, and every byte that the caller may read was written. */
static int reason_is(const struct trial *t, const char *text)
{
    const size_t length = strlen(text);
    return t->err.len == length && memcmp(t->text, text, length) == 0;
}

/* Whether the reason has `part`. */
static int reason_has(const struct trial *t, const char *part)
{
    char text[sizeof t->text + 1] = {0};
    CHECK(t->err.len < sizeof t->text);
    memcpy(text, t->text, t->err.len);
    return strstr(text, part) != NULL;
}

/* ---- After a failure ---- */

static void every_call_after_a_failure_does_nothing(void)
{
    struct trial t;
    guild_describe *d = start(&t);
    guild_value x = guild_shaped(2, 3, 4, 0), several[3];
    const char *const none[] = {NULL};
    guild_refuse(d, GUILD_STATUS_ERR_UNSUPPORTED, "first");
    memset(several, UNWRITTEN, sizeof several);

    CHECK(guild_key_length(d, "key") == 0);
    CHECK(guild_read_u64(d, "key", 3, 9) == 3);
    CHECK(guild_read_u64_or(d, "absent", 0, 3, 9) == 3);
    CHECK(guild_read_positive(d, "key") == 1.0);
    CHECK(guild_read_positive_or(d, "absent", 0.0) == 1.0);
    guild_must_be(d, "key", 0);
    guild_must_be_text(d, "key", "none");
    guild_must_divide(d, "key", 8, "other", 0);
    CHECK(guild_has_tensor(d, "name") == 0);
    CHECK(guild_tensor_rows(d, "name") == 1);
    guild_refuse_other_tensors(d, none, none, 1);

    guild_main_section(d);
    CHECK(guild_input(d, GUILD_INPUT_TOKENS).rank == 0);
    CHECK(guild_vector(d, 3, "name").rank == 0);
    CHECK(guild_matrix(d, 3, 4, "name").rank == 0);
    CHECK(guild_append_state(d, "keys", 1, 2) == 0);
    CHECK(guild_reshape(d, x, guild_shaped(0, 0, 0, 0)).rank == 0);
    CHECK(guild_heads(d, x, 2, 2).rank == 0);
    CHECK(guild_flat(d, x).rank == 0);
    CHECK(guild_add(d, "add", x, x).rank == 0);
    CHECK(guild_rms_norm(d, "norm", x, x, 1e-5).rank == 0);
    CHECK(guild_rope(d, "rope", x, NULL, GUILD_ROPE_ADJACENT, 2, 1e4).rank == 0);
    CHECK(guild_attention(d, "attention", x, x, x, 0, 1, 1.0).rank == 0);
    guild_linear(d, "linear", x, &x, several, 1);
    CHECK(several[0].rank == 0);
    guild_output(d, GUILD_OUTPUT_LOGITS, x);

    CHECK(t.host.model_calls == 0 && t.host.builder_calls == 0);
    CHECK(d->status == GUILD_STATUS_ERR_UNSUPPORTED && reason_is(&t, "first"));
}

/* A value of rank 0 that isn't from a failure is a runner's mistake. */
static void a_view_has_one_to_three_axes(void)
{
    static const uint32_t ranks[] = {0, 4, 6, 7, UINT32_MAX};
    struct trial t;
    size_t i;
    for (i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        guild_describe *d = start(&t);
        guild_value view = guild_shaped(2, 3, 4, 0);
        CHECK(guild_reshape(d, view, view).number == 1);
        view.rank = ranks[i];
        CHECK(guild_reshape(d, view, view).rank == 0);
        CHECK(d->status == GUILD_STATUS_ERR_INTERNAL && t.host.builder_calls == 1);
    }
}

static void a_refused_operation_gives_no_value(void)
{
    struct trial t;
    guild_describe *d = start(&t);
    guild_value x = guild_shaped(2, 3, 4, 0);
    CHECK(guild_add(d, "taken", x, x).number == 100);
    CHECK(guild_add(d, "refused", x, x).rank == 0);
    CHECK(d->status == GUILD_STATUS_ERR_INVALID && reason_is(&t, "the made-up host refuses it"));
}

/* ---- Counts ---- */

static void a_node_has_no_more_operands_than_its_arrays(void)
{
    static const struct {
        uint64_t n_in, n_state;
        uint32_t n_out;
        int taken;
    } counts[] = {{9, 2, 8, 1},         {10, 0, 1, 0},         {1, 3, 1, 0},
                  {1, 0, 9, 0},         {UINT64_MAX, 0, 1, 0}, {1, UINT64_MAX, 1, 0},
                  {1ull << 32, 0, 1, 0}};
    size_t i;
    for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct trial t;
        guild_describe *d = start(&t);
        guild_value outputs[9];
        guild_operands operands;
        memset(outputs, 0, sizeof outputs);
        memset(&operands, 0, sizeof operands);
        outputs[0].rank = 1;
        operands.n_in = counts[i].n_in;
        operands.n_state = counts[i].n_state;
        guild_node(d, "org.example.op@1", "node", &operands, outputs, counts[i].n_out);
        CHECK(t.host.builder_calls == (counts[i].taken ? 1u : 0u));
        CHECK(outputs[0].rank == (counts[i].taken ? 1u : 0u));
        CHECK(d->status == (counts[i].taken ? GUILD_STATUS_OK : GUILD_STATUS_ERR_INTERNAL));
        CHECK(counts[i].taken || reason_has(&t, "9, 2 and 8 are the most"));
    }
}

static void a_linear_has_eight_weights_at_most(void)
{
    struct trial t;
    guild_describe *d = start(&t);
    guild_value weights[9], outputs[9];
    uint32_t i;
    for (i = 0; i < 9; i++) {
        weights[i] = guild_shaped(2, 5, 4, 0);
    }
    guild_linear(d, "eight", guild_shaped(2, 3, 4, 0), weights, outputs, 8);
    CHECK(d->status == GUILD_STATUS_OK && outputs[7].number == 107 && outputs[7].shape[1] == 5);
    memset(outputs, UNWRITTEN, sizeof outputs);
    guild_linear(d, "nine", guild_shaped(2, 3, 4, 0), weights, outputs, 9);
    CHECK(d->status == GUILD_STATUS_ERR_INTERNAL && reason_has(&t, "nine has 9 weights; 8"));
    CHECK(outputs[0].rank == 0 && outputs[8].rank == 0);
}

static void nothing_is_divided_by_zero(void)
{
    struct trial t;
    guild_describe *d = start(&t);
    guild_must_divide(d, "key", 8, "other", 0);
    CHECK(d->status == GUILD_STATUS_ERR_INVALID && reason_has(&t, "a multiple of other = 0"));
}

/* ---- Reasons ---- */

/* 600 bytes: `before` letters, then a character of `size` bytes over and over. */
static void fill(char *text, size_t before, const char *character)
{
    size_t at;
    memset(text, 'x', 600);
    for (at = before; at + strlen(character) <= 600; at += strlen(character)) {
        memcpy(text + at, character, strlen(character));
    }
    text[600] = 0;
}

static void a_long_reason_ends_at_a_character(void)
{
    static const struct {
        size_t before;
        const char *character;
        uint32_t length;
    } cuts[] = {{0, "x", 511},           {510, "\xc3\xa9", 510},         {509, "\xc3\xa9", 511},
                {509, "\xe2\x82\xac", 509}, {510, "\xe2\x82\xac", 510},     {508, "\xe2\x82\xac", 511},
                {508, "\xf0\x9f\x98\x80", 508}, {507, "\xf0\x9f\x98\x80", 511}};
    char text[601];
    size_t i;
    for (i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        struct trial t;
        (void)start(&t);
        fill(text, cuts[i].before, cuts[i].character);
        CHECK(guild_fail(&t.err, GUILD_STATUS_ERR_INVALID, "%s", text) == GUILD_STATUS_ERR_INVALID);
        CHECK(t.err.code == GUILD_STATUS_ERR_INVALID && t.err.len == cuts[i].length);
        CHECK(memcmp(t.text, text, t.err.len) == 0 && t.text[t.err.len] == UNWRITTEN);
    }
}

/* The caller reads the smaller of `len` and `cap`: all of it is text or zeros. */
static void a_small_buffer_is_filled(void)
{
    struct trial t;
    (void)start(&t);
    t.err.cap = 4;
    (void)guild_fail(&t.err, GUILD_STATUS_ERR_INVALID, "ab\xe2\x82\xac and more");
    CHECK(t.err.len > t.err.cap && memcmp(t.text, "ab\0\0", 4) == 0 && t.text[4] == UNWRITTEN);
    t.err.cap = 5;
    (void)guild_fail(&t.err, GUILD_STATUS_ERR_INVALID, "ab\xe2\x82\xac and more");
    CHECK(memcmp(t.text, "ab\xe2\x82\xac", 5) == 0 && t.text[5] == UNWRITTEN);
    t.err.buf = NULL;
    (void)guild_fail(&t.err, GUILD_STATUS_ERR_INVALID, "nowhere");
    CHECK(t.err.len == 7);
    CHECK(guild_fail(NULL, GUILD_STATUS_ERR_INVALID, "nowhere") == GUILD_STATUS_ERR_INVALID);
}

/* The C locale has no byte for this character, so that vsnprintf fails. */
static void a_reason_that_cant_be_formatted_is_empty(void)
{
    struct trial t;
    guild_describe *d = start(&t);
    guild_refuse(d, GUILD_STATUS_ERR_INVALID, "before %lc", (wint_t)0x20ac);
    CHECK(d->status == GUILD_STATUS_ERR_INVALID && t.err.len == 0 && t.text[0] == UNWRITTEN);
    d = start(&t);
    CHECK(guild_vector(d, 3, "before %lc", (wint_t)0x20ac).rank == 0);
    CHECK(d->status == GUILD_STATUS_ERR_INTERNAL && t.host.model_calls == 0);
}

static void a_text_in_a_reason_ends_at_a_character(void)
{
    struct trial t;
    guild_describe *d = start(&t);
    guild_must_be_text(d, "key", "none");
    CHECK(d->status == GUILD_STATUS_ERR_UNSUPPORTED && reason_has(&t, "xxx\"; this runner"));
}

static void a_name_that_doesnt_fit_is_refused(void)
{
    struct trial t;
    guild_describe *d = start(&t);
    char text[601];
    fill(text, 0, "x");
    CHECK(guild_matrix(d, 3, 4, "%s", text).rank == 0 && d->status == GUILD_STATUS_ERR_INTERNAL);
    CHECK(t.host.model_calls == 0 && reason_has(&t, "longer than 511 bytes"));
}

/* ---- Names of tensors ---- */

static guild_status other_tensors(struct trial *t, const char *name, size_t length, uint64_t layers)
{
    static const char *const names[] = {"output.weight", NULL};
    static const char *const suffixes[] = {"attn_q.weight", NULL};
    guild_describe *d = start(t);
    t->host.tensor = name;
    t->host.tensor_length = length;
    guild_refuse_other_tensors(d, names, suffixes, layers);
    return d->status;
}

static void a_layer_is_written_in_one_way(void)
{
    static const char *const known[] = {"output.weight", "blk.0.attn_q.weight", "blk.9.attn_q.weight",
                                        "blk.10.attn_q.weight"};
    static const char *const other[] = {
        "", "blk.", "blk.0", "blk.0.", "blk..attn_q.weight", "blk.00.attn_q.weight",
        "blk.01.attn_q.weight", "blk.+0.attn_q.weight", "blk.-0.attn_q.weight",
        "blk. 0.attn_q.weight", "blk.0 .attn_q.weight", "blk.0x0.attn_q.weight",
        "blk.11.attn_q.weight", "blk.18446744073709551615.attn_q.weight",
        "blk.18446744073709551616.attn_q.weight", "blk.99999999999999999999999999.attn_q.weight",
        "blk.0.attn_q.weights", "blk.0.output.weight", "xblk.0.attn_q.weight", "output.weight.scale"};
    static const char with_zero[] = "output.weight\0scale";
    struct trial t;
    size_t i;
    for (i = 0; i < sizeof known / sizeof known[0]; i++) {
        CHECK(other_tensors(&t, known[i], strlen(known[i]), 11) == GUILD_STATUS_OK);
    }
    for (i = 0; i < sizeof other / sizeof other[0]; i++) {
        /* A copy without a zero after it: the sanitizer sees a read past its end. */
        const size_t length = strlen(other[i]);
        char *name = malloc(length + !length);
        CHECK(name != NULL);
        memcpy(name, other[i], length);
        CHECK(other_tensors(&t, name, length, 11) == GUILD_STATUS_ERR_UNSUPPORTED);
        CHECK(reason_has(&t, other[i]));
        free(name);
    }
    CHECK(other_tensors(&t, with_zero, sizeof with_zero - 1, 11) == GUILD_STATUS_ERR_UNSUPPORTED);
    CHECK(other_tensors(&t, NULL, 0, 11) == GUILD_STATUS_ERR_INTERNAL);
}

int main(void)
{
    every_call_after_a_failure_does_nothing();
    a_view_has_one_to_three_axes();
    a_refused_operation_gives_no_value();
    a_node_has_no_more_operands_than_its_arrays();
    a_linear_has_eight_weights_at_most();
    nothing_is_divided_by_zero();
    a_long_reason_ends_at_a_character();
    a_small_buffer_is_filled();
    a_reason_that_cant_be_formatted_is_empty();
    a_text_in_a_reason_ends_at_a_character();
    a_name_that_doesnt_fit_is_refused();
    a_layer_is_written_in_one_way();
    puts("12 checks");
    return 0;
}
