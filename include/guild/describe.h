/*
 * Conveniences for runners in C: metadata with its checks, weights with their shapes, core operations
 * as functions. Everything here is built from runner.h and core_ops.h; nothing here is needed.
 *
 * A `guild_describe` goes through one `describe` call and remembers the first failure. After it every
 * function that takes one does nothing and returns something harmless (a value of rank 0, a number
 * that may be divided by), so that a description reads from top to bottom without an `if` a line;
 * return `d->status` at the end. The functions are `[serial]`, as `describe` is.
 *
 * Written by hand; the headers that it includes are generated.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GUILD_DESCRIBE_H
#define GUILD_DESCRIBE_H

#include "core_ops.h"
#include "formats.h"
#include "runner.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if defined(__GNUC__)
#define GUILD_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define GUILD_PRINTF(text, first)
#endif

/** Exports the entry from a library that hides everything else (`-fvisibility=hidden`). */
#if defined(__GNUC__)
#define GUILD_EXPORT __attribute__((visibility("default")))
#else
#define GUILD_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a formatted name or reason; longer text is cut. */
#define GUILD_TEXT_BYTES 512

/** Bytes that a shape's text takes: six axes of twenty digits at most. */
#define GUILD_SHAPE_BYTES 144

/** Most outputs of one `guild_linear`. */
#define GUILD_LINEAR_MAX 8

/** One `describe` in progress. */
typedef struct guild_describe {
    /** The model file. */
    const guild_model_v1 *model;
    /** The host's builder. */
    const guild_builder_v1 *builder;
    /** Where the first failure's text goes; may be null. */
    guild_err *err;
    /** The first failure, or `GUILD_STATUS_OK`. */
    guild_status status;
    /** Layer number that operations from here on carry, for reports. */
    uint32_t layer;
} guild_describe;

/** A value of the graph with its shape, outermost axis first. */
typedef struct guild_value {
    /** Its number within the section. */
    uint32_t number;
    /** Axes in use; 0 after a failure. */
    uint32_t rank;
    /** Elements along each axis. */
    uint64_t shape[6];
} guild_value;

/* ---- text ---- */

/** Borrows a C string. */
static inline guild_str guild_text(const char *text)
{
    guild_str out;
    out.ptr = (const uint8_t *)text;
    out.len = strlen(text);
    return out;
}

/** Whether two texts are equal. */
static inline int guild_text_is(guild_str text, const char *other)
{
    return text.len == strlen(other) && (text.len == 0 || memcmp(text.ptr, other, text.len) == 0);
}

/** Bytes of `text`, at most `length`, without the UTF-8 character that its end splits, if it does. */
static inline size_t guild_whole_characters(const uint8_t *text, size_t length)
{
    size_t lead = length, needs;
    while (lead > 0 && length - lead < 3 && (text[lead - 1] & 0xc0) == 0x80) {
        lead--;
    }
    if (lead == 0 || text[lead - 1] < 0xc0) {
        return length;
    }
    lead--;
    needs = text[lead] >= 0xf0 ? 4 : text[lead] >= 0xe0 ? 3 : 2;
    return length - lead < needs ? lead : length;
}

/** Bytes of `text` to print with `%.*s`: at most `most`, cut in front of a character. */
static inline int guild_shown(guild_str text, int most)
{
    return text.len <= (uint64_t)most ? (int)text.len
                                      : (int)guild_whole_characters(text.ptr, (size_t)most);
}

/** Leaves a reason in `err` and gives `status` back. Each byte that `err->len` and `err->cap` let the
 *  caller read is written. */
GUILD_PRINTF(3, 0)
static inline guild_status guild_fail_v(guild_err *err, guild_status status, const char *format,
                                        va_list args)
{
    char text[GUILD_TEXT_BYTES];
    size_t length, fits, cap;
    if (err == NULL) {
        return status;
    }
    /* What a failed vsnprintf leaves is nobody's text. */
    if (vsnprintf(text, sizeof text, format, args) < 0) {
        text[0] = 0;
    }
    length = guild_whole_characters((const uint8_t *)text, strlen(text));
    cap = err->buf == NULL ? 0 : err->cap;
    fits = length;
    err->code = status;
    err->len = (uint32_t)length;
    if (fits > cap) {
        fits = guild_whole_characters((const uint8_t *)text, cap);
        if (cap > fits) {
            memset(err->buf + fits, 0, cap - fits);
        }
    }
    if (fits > 0) {
        memcpy(err->buf, text, fits);
    }
    return status;
}

/** Leaves a reason in `err` and gives `status` back. */
GUILD_PRINTF(3, 4)
static inline guild_status guild_fail(guild_err *err, guild_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    status = guild_fail_v(err, status, format, args);
    va_end(args);
    return status;
}

/** Refuses the model: the first reason stays. */
GUILD_PRINTF(3, 4)
static inline void guild_refuse(guild_describe *d, guild_status status, const char *format, ...)
{
    va_list args;
    if (d->status != GUILD_STATUS_OK) {
        return;
    }
    va_start(args, format);
    d->status = guild_fail_v(d->err, status, format, args);
    va_end(args);
}

/* ---- metadata ---- */

/** Values of a key: 1 for a scalar, its length for an array, 0 for none or after a failure. */
static inline uint64_t guild_key_length(const guild_describe *d, const char *key)
{
    uint64_t length = 0;
    if (d->status != GUILD_STATUS_OK ||
        d->model->length(d->model->ctx, guild_text(key), &length) != GUILD_STATUS_OK) {
        return 0;
    }
    return length;
}

/** Refuses a key that is missing, or that has a value for each layer. */
static inline void guild_check_scalar(guild_describe *d, const char *key)
{
    uint64_t length = guild_key_length(d, key);
    if (length == 0) {
        guild_refuse(d, GUILD_STATUS_ERR_NOT_FOUND, "the metadata has no %s", key);
    } else if (length > 1) {
        guild_refuse(d, GUILD_STATUS_ERR_UNSUPPORTED,
                     "%s has %" PRIu64 " values; this runner takes one for all layers", key, length);
    }
}

/** An integer from `least` to `most`; `least` after a failure, so that it may be divided by. */
static inline uint64_t guild_read_u64(guild_describe *d, const char *key, uint64_t least,
                                      uint64_t most)
{
    uint64_t value = 0;
    guild_check_scalar(d, key);
    if (d->status != GUILD_STATUS_OK) {
        return least;
    }
    if (d->model->get_u64(d->model->ctx, guild_text(key), 0, &value) != GUILD_STATUS_OK) {
        guild_refuse(d, GUILD_STATUS_ERR_INVALID, "%s isn't an integer from 0 up", key);
        return least;
    }
    if (value < least || value > most) {
        guild_refuse(d, GUILD_STATUS_ERR_INVALID,
                     "%s is %" PRIu64 "; %" PRIu64 " to %" PRIu64 " is possible", key, value, least,
                     most);
        return least;
    }
    return value;
}

/** As `guild_read_u64`, or `absent` where the key is absent. */
static inline uint64_t guild_read_u64_or(guild_describe *d, const char *key, uint64_t absent,
                                         uint64_t least, uint64_t most)
{
    if (d->status != GUILD_STATUS_OK) {
        return least;
    }
    return guild_key_length(d, key) == 0 ? absent : guild_read_u64(d, key, least, most);
}

/** A finite number above 0; 1 after a failure. */
static inline double guild_read_positive(guild_describe *d, const char *key)
{
    double value = 1.0;
    guild_check_scalar(d, key);
    if (d->status != GUILD_STATUS_OK) {
        return 1.0;
    }
    if (d->model->get_f64(d->model->ctx, guild_text(key), 0, &value) != GUILD_STATUS_OK) {
        guild_refuse(d, GUILD_STATUS_ERR_INVALID, "%s isn't a number", key);
        return 1.0;
    }
    if (!(value > 0.0 && value - value == 0.0)) {
        guild_refuse(d, GUILD_STATUS_ERR_INVALID, "%s is %g; it must be above 0 and finite", key,
                     value);
        return 1.0;
    }
    return value;
}

/** As `guild_read_positive`, or `absent` where the key is absent. */
static inline double guild_read_positive_or(guild_describe *d, const char *key, double absent)
{
    if (d->status != GUILD_STATUS_OK) {
        return 1.0;
    }
    return guild_key_length(d, key) == 0 ? absent : guild_read_positive(d, key);
}

/** Refuses a key whose value isn't `neutral`, the one that changes nothing; booleans are 0 and 1. A
 *  runner names the keys with it that other models of its architecture's name change the mathematics
 *  by: ignoring one would give wrong text without a word. */
static inline void guild_must_be(guild_describe *d, const char *key, double neutral)
{
    double found = neutral;
    uint64_t integer = 0;
    if (guild_key_length(d, key) == 0) {
        return;
    }
    guild_check_scalar(d, key);
    if (d->status != GUILD_STATUS_OK) {
        return;
    }
    if (d->model->get_u64(d->model->ctx, guild_text(key), 0, &integer) == GUILD_STATUS_OK) {
        found = (double)integer;
    } else if (d->model->get_f64(d->model->ctx, guild_text(key), 0, &found) != GUILD_STATUS_OK) {
        guild_refuse(d, GUILD_STATUS_ERR_INVALID, "%s isn't a number", key);
    }
    if (found != neutral) {
        guild_refuse(d, GUILD_STATUS_ERR_UNSUPPORTED, "%s is %g; this runner computes %g only", key,
                     found, neutral);
    }
}

/** As `guild_must_be`, for a key that holds text. */
static inline void guild_must_be_text(guild_describe *d, const char *key, const char *neutral)
{
    guild_str found = guild_text(neutral);
    if (guild_key_length(d, key) == 0) {
        return;
    }
    if (d->model->get_str(d->model->ctx, guild_text(key), 0, &found) != GUILD_STATUS_OK) {
        guild_refuse(d, GUILD_STATUS_ERR_INVALID, "%s isn't text", key);
    } else if (!guild_text_is(found, neutral)) {
        guild_refuse(d, GUILD_STATUS_ERR_UNSUPPORTED,
                     "%s is \"%.*s\"; this runner computes \"%s\" only", key,
                     guild_shown(found, 64), found.len == 0 ? "" : (const char *)found.ptr, neutral);
    }
}

/** Refuses `number` where `divisor` doesn't divide it, as 0 doesn't; both named by their keys. */
static inline void guild_must_divide(guild_describe *d, const char *key, uint64_t number,
                                     const char *divisor_key, uint64_t divisor)
{
    if (d->status != GUILD_STATUS_OK) {
        return;
    }
    if (divisor == 0 || number % divisor != 0) {
        guild_refuse(d, GUILD_STATUS_ERR_INVALID,
                     "%s is %" PRIu64 ", which isn't a multiple of %s = %" PRIu64, key, number,
                     divisor_key, divisor);
    }
}

/** Refuses `number` where it isn't `other`; both named by what they are. */
static inline void guild_must_equal(guild_describe *d, const char *what, uint64_t number,
                                    const char *other_what, uint64_t other)
{
    if (number != other) {
        guild_refuse(d, GUILD_STATUS_ERR_INVALID,
                     "%s is %" PRIu64 ", but %s is %" PRIu64 "; they must be equal", what, number,
                     other_what, other);
    }
}

/* ---- tensors of the file ---- */

/** The tensor of this name: gives whether the file has it; no after a failure. */
static inline int guild_find_tensor(const guild_describe *d, const char *name,
                                    guild_tensor_info *found)
{
    memset(found, 0, sizeof *found);
    found->size = sizeof *found;
    return d->status == GUILD_STATUS_OK &&
           d->model->tensor(d->model->ctx, guild_text(name), found) == GUILD_STATUS_OK;
}

/** Whether the file has a tensor of this name. */
static inline int guild_has_tensor(const guild_describe *d, const char *name)
{
    guild_tensor_info found;
    return guild_find_tensor(d, name, &found);
}

/** Length of a tensor's outermost axis; refuses a tensor that is missing. 1 after a failure. */
static inline uint64_t guild_tensor_rows(guild_describe *d, const char *name)
{
    guild_tensor_info found;
    if (!guild_find_tensor(d, name, &found)) {
        guild_refuse(d, GUILD_STATUS_ERR_NOT_FOUND, "tensor %s is missing", name);
        return 1;
    }
    return found.shape[0];
}

/** What follows `blk.LAYER.` in a tensor's name, or null: LAYER is below `layers` and written as
 *  `%u` writes it, so that no two names are one layer's. */
static inline const uint8_t *guild_after_layer(guild_str name, uint64_t layers)
{
    static const char prefix[] = "blk.";
    const size_t start = sizeof prefix - 1;
    uint64_t layer = 0;
    size_t at;
    if (name.len < start || memcmp(name.ptr, prefix, start) != 0) {
        return NULL;
    }
    for (at = start; at < name.len && name.ptr[at] >= '0' && name.ptr[at] <= '9'; at++) {
        const uint64_t digit = (uint64_t)(name.ptr[at] - '0');
        if ((at > start && name.ptr[start] == '0') || layer > (UINT64_MAX - digit) / 10) {
            return NULL;
        }
        layer = layer * 10 + digit;
    }
    if (at == start || at == name.len || name.ptr[at] != '.' || layer >= layers) {
        return NULL;
    }
    return name.ptr + at + 1;
}

/** Whether `list`, ended by a null, has `text`. */
static inline int guild_is_listed(guild_str text, const char *const *list)
{
    for (; *list != NULL; list++) {
        if (guild_text_is(text, *list)) {
            return 1;
        }
    }
    return 0;
}

/** Refuses a tensor that isn't one of `names` or `blk.LAYER.` with one of `suffixes`, each list ended
 *  by a null, LAYER below `layers`. A tensor that a runner doesn't ask for is mathematics left out: a
 *  bias, a norm on the queries, an adapter. */
static inline void guild_refuse_other_tensors(guild_describe *d, const char *const *names,
                                              const char *const *suffixes, uint64_t layers)
{
    uint64_t i;
    for (i = 0; d->status == GUILD_STATUS_OK && i < d->model->tensor_count; i++) {
        guild_tensor_info tensor;
        guild_str suffix;
        guild_status status;
        memset(&tensor, 0, sizeof tensor);
        tensor.size = sizeof tensor;
        status = d->model->tensor_at(d->model->ctx, i, &tensor);
        if (status != GUILD_STATUS_OK) {
            guild_refuse(d, status, "the host doesn't give tensor %" PRIu64, i);
            return;
        }
        suffix.ptr = guild_after_layer(tensor.name, layers);
        suffix.len = suffix.ptr == NULL
                         ? 0
                         : tensor.name.len - (uint64_t)(suffix.ptr - tensor.name.ptr);
        if (!guild_is_listed(tensor.name, names) &&
            !(suffix.ptr != NULL && guild_is_listed(suffix, suffixes))) {
            guild_refuse(d, GUILD_STATUS_ERR_UNSUPPORTED,
                         "tensor %.*s is none that this runner computes with",
                         guild_shown(tensor.name, 128),
                         tensor.name.len == 0 ? "" : (const char *)tensor.name.ptr);
        }
    }
}

/* ---- values ---- */

/** A value of this shape; the builder's calls write its number. */
static inline guild_value guild_shaped(uint32_t rank, uint64_t first, uint64_t second, uint64_t third)
{
    guild_value value;
    memset(&value, 0, sizeof value);
    value.rank = rank;
    value.shape[0] = first;
    value.shape[1] = second;
    value.shape[2] = third;
    return value;
}

/** `value`, or one of rank 0 after a failure. */
static inline guild_value guild_unless_failed(const guild_describe *d, guild_value value)
{
    return d->status == GUILD_STATUS_OK ? value : guild_shaped(0, 0, 0, 0);
}

/** Gives `count` values rank 0. */
static inline void guild_no_values(guild_value *values, uint32_t count)
{
    uint32_t i;
    for (i = 0; i < count; i++) {
        values[i] = guild_shaped(0, 0, 0, 0);
    }
}

/** Keeps a builder's failure; its text is in `err` already. Gives whether all is well. */
static inline int guild_went_well(guild_describe *d, guild_status status)
{
    if (d->status == GUILD_STATUS_OK) {
        d->status = status;
    }
    return d->status == GUILD_STATUS_OK;
}

/** Writes a shape as `[10, 16]`. */
static inline void guild_shape_text(char *text, uint32_t rank, const uint64_t *shape)
{
    uint32_t axis;
    size_t at = 1;
    text[0] = '[';
    text[1] = 0;
    for (axis = 0; axis < rank && axis < 6; axis++) {
        at += (size_t)snprintf(text + at, GUILD_SHAPE_BYTES - at, axis == 0 ? "%" PRIu64 : ", %" PRIu64,
                               shape[axis]);
    }
    (void)snprintf(text + at, GUILD_SHAPE_BYTES - at, "]");
}

/** The tensor `name`, which must have the shape of `wanted` (rank 1 to 6). */
static inline guild_value guild_weight(guild_describe *d, guild_value wanted, const char *name)
{
    guild_tensor_info found;
    char is[GUILD_SHAPE_BYTES], should_be[GUILD_SHAPE_BYTES];
    if (d->status != GUILD_STATUS_OK) {
        return guild_shaped(0, 0, 0, 0);
    }
    if (!guild_find_tensor(d, name, &found)) {
        guild_refuse(d, GUILD_STATUS_ERR_NOT_FOUND, "tensor %s is missing", name);
        return guild_shaped(0, 0, 0, 0);
    }
    if (found.rank != wanted.rank || wanted.rank < 1 || wanted.rank > 6 ||
        memcmp(found.shape, wanted.shape, wanted.rank * sizeof wanted.shape[0]) != 0) {
        guild_shape_text(is, found.rank, found.shape);
        guild_shape_text(should_be, wanted.rank, wanted.shape);
        guild_refuse(d, GUILD_STATUS_ERR_INVALID,
                     "tensor %s is %s; the metadata asks for %s, outermost axis first", name, is,
                     should_be);
    } else {
        (void)guild_went_well(d, d->builder->weight(d->builder->ctx, guild_text(name),
                                                    &wanted.number, d->err));
    }
    return guild_unless_failed(d, wanted);
}

/** Writes a tensor's name into `text`, of `GUILD_TEXT_BYTES`; refuses one that doesn't fit, for what is
 *  left of it may name another. */
GUILD_PRINTF(3, 0)
static inline void guild_tensor_name_v(guild_describe *d, char *text, const char *name, va_list args)
{
    const int length = vsnprintf(text, GUILD_TEXT_BYTES, name, args);
    if (length < 0 || length >= GUILD_TEXT_BYTES) {
        text[0] = 0;
        guild_refuse(d, GUILD_STATUS_ERR_INTERNAL, "the name of a tensor is longer than %d bytes",
                     GUILD_TEXT_BYTES - 1);
    }
}

/** The tensor of this name (as of `printf`), which must be `[length]`. */
GUILD_PRINTF(3, 4)
static inline guild_value guild_vector(guild_describe *d, uint64_t length, const char *name, ...)
{
    char text[GUILD_TEXT_BYTES];
    va_list args;
    va_start(args, name);
    guild_tensor_name_v(d, text, name, args);
    va_end(args);
    return guild_weight(d, guild_shaped(1, length, 0, 0), text);
}

/** The tensor of this name (as of `printf`), which must be `[rows, columns]`. */
GUILD_PRINTF(4, 5)
static inline guild_value guild_matrix(guild_describe *d, uint64_t rows, uint64_t columns,
                                       const char *name, ...)
{
    char text[GUILD_TEXT_BYTES];
    va_list args;
    va_start(args, name);
    guild_tensor_name_v(d, text, name, args);
    va_end(args);
    return guild_weight(d, guild_shaped(2, rows, columns, 0), text);
}

/** Starts the main section. */
static inline void guild_main_section(guild_describe *d)
{
    guild_section_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.h.size = sizeof desc;
    desc.h.kind = GUILD_KIND_RECORD;
    desc.kind = GUILD_SECTION_MAIN;
    desc.name = guild_text("main");
    if (d->status == GUILD_STATUS_OK) {
        (void)guild_went_well(d, d->builder->section(d->builder->ctx, &desc, d->err));
    }
}

/** The input `GUILD_INPUT_TOKENS` `[rows]` or `GUILD_INPUT_OUTPUT_ROWS` `[outputs]`. */
static inline guild_value guild_input(guild_describe *d, uint32_t kind)
{
    uint64_t length = kind == GUILD_INPUT_TOKENS ? GUILD_DIM_ROWS : GUILD_DIM_OUTPUTS;
    guild_value value = guild_shaped(1, length, 0, 0);
    if (d->status == GUILD_STATUS_OK) {
        (void)guild_went_well(d, d->builder->input(d->builder->ctx, kind, 0, &value.number, d->err));
    }
    return guild_unless_failed(d, value);
}

/** An append-only state `[kv_heads, head_dim]` in the format that the host chooses. */
static inline uint32_t guild_append_state(guild_describe *d, const char *name, uint64_t kv_heads,
                                          uint64_t head_dim)
{
    char text[GUILD_TEXT_BYTES];
    uint32_t state = 0;
    guild_state_desc desc;
    (void)snprintf(text, sizeof text, "blk.%" PRIu32 ".%s", d->layer, name);
    memset(&desc, 0, sizeof desc);
    desc.h.size = sizeof desc;
    desc.h.kind = GUILD_KIND_RECORD;
    desc.kind = GUILD_STATE_APPEND;
    desc.rank = 2;
    desc.shape[0] = kv_heads;
    desc.shape[1] = head_dim;
    desc.name = guild_text(text);
    if (d->status == GUILD_STATUS_OK) {
        (void)guild_went_well(d, d->builder->state(d->builder->ctx, &desc, &state, d->err));
    }
    return state;
}

/** A view of dense rows as `wanted` (rank 1 to 3), whose axes after the first make up a row. */
static inline guild_value guild_reshape(guild_describe *d, guild_value x, guild_value wanted)
{
    guild_view_desc desc;
    if (d->status == GUILD_STATUS_OK && (wanted.rank < 1 || wanted.rank > 3)) {
        guild_refuse(d, GUILD_STATUS_ERR_INTERNAL, "a view has %" PRIu32 " axes; 1 to 3 are possible",
                     wanted.rank);
    }
    if (d->status != GUILD_STATUS_OK) {
        return guild_shaped(0, 0, 0, 0);
    }
    memset(&desc, 0, sizeof desc);
    desc.h.size = sizeof desc;
    desc.h.kind = GUILD_KIND_RECORD;
    desc.source = x.number;
    desc.rank = wanted.rank;
    memcpy(desc.shape, wanted.shape, sizeof desc.shape);
    desc.stride[wanted.rank - 1] = 1;
    if (wanted.rank == 3) {
        desc.stride[1] = wanted.shape[2];
    }
    (void)guild_went_well(d, d->builder->view(d->builder->ctx, &desc, &wanted.number, d->err));
    return guild_unless_failed(d, wanted);
}

/** `x` `[rows, heads * dim]` as `[rows, heads, dim]`. */
static inline guild_value guild_heads(guild_describe *d, guild_value x, uint64_t heads, uint64_t dim)
{
    return guild_reshape(d, x, guild_shaped(3, x.shape[0], heads, dim));
}

/** `x` `[rows, heads, dim]` as `[rows, heads * dim]`. */
static inline guild_value guild_flat(guild_describe *d, guild_value x)
{
    return guild_reshape(d, x, guild_shaped(2, x.shape[0], x.shape[1] * x.shape[2], 0));
}

/** Names `value` as the section's output of this kind, one of `GUILD_OUTPUT_*`. */
static inline void guild_output(guild_describe *d, uint32_t kind, guild_value value)
{
    if (d->status == GUILD_STATUS_OK) {
        (void)guild_went_well(d, d->builder->output(d->builder->ctx, kind, value.number, d->err));
    }
}

/* ---- operations: docs/ops.md has their contracts, the host checks every operand ---- */

/** What an operation takes; zero what it doesn't have. */
typedef struct guild_operands {
    /** Inputs in the contract's order. */
    guild_value inputs[1 + GUILD_LINEAR_MAX];
    /** Entries of `inputs`. */
    uint64_t n_in;
    /** States in the contract's order. */
    uint32_t states[2];
    /** Entries of `states`. */
    uint64_t n_state;
    /** The parameter struct, or null. */
    const void *params;
    /** Its bytes. */
    uint64_t params_size;
} guild_operands;

/** Refuses more operands than the arrays of `guild_node` and `guild_operands` have room for. */
static inline void guild_check_operands(guild_describe *d, const char *name,
                                        const guild_operands *operands, uint32_t n_out)
{
    if (operands->n_in > 1 + GUILD_LINEAR_MAX || operands->n_state > 2 || n_out > GUILD_LINEAR_MAX) {
        guild_refuse(d, GUILD_STATUS_ERR_INTERNAL,
                     "%s has %" PRIu64 " inputs, %" PRIu64 " states and %" PRIu32
                     " outputs; %d, 2 and %d are the most",
                     name, operands->n_in, operands->n_state, n_out, 1 + GUILD_LINEAR_MAX,
                     GUILD_LINEAR_MAX);
    }
}

/** Any operation with f32 outputs: `outputs` come with their shapes and get their numbers, or rank 0
 *  after a failure. */
static inline void guild_node(guild_describe *d, const char *op, const char *name,
                              const guild_operands *operands, guild_value *outputs, uint32_t n_out)
{
    uint32_t inputs[1 + GUILD_LINEAR_MAX], numbers[GUILD_LINEAR_MAX] = {0};
    guild_value_desc values[GUILD_LINEAR_MAX];
    guild_node_desc desc;
    uint32_t i;
    guild_check_operands(d, name, operands, n_out);
    if (d->status != GUILD_STATUS_OK) {
        guild_no_values(outputs, n_out);
        return;
    }
    for (i = 0; i < operands->n_in; i++) {
        inputs[i] = operands->inputs[i].number;
    }
    memset(values, 0, sizeof values);
    for (i = 0; i < n_out; i++) {
        values[i].size = sizeof values[i];
        values[i].format = GUILD_FORMAT_F32;
        values[i].rank = outputs[i].rank;
        memcpy(values[i].shape, outputs[i].shape, sizeof values[i].shape);
    }
    memset(&desc, 0, sizeof desc);
    desc.h.size = sizeof desc;
    desc.h.kind = GUILD_KIND_RECORD;
    desc.op = guild_text(op);
    desc.name = guild_text(name);
    desc.params = operands->params;
    desc.params_size = operands->params_size;
    desc.inputs = inputs;
    desc.n_in = (uint32_t)operands->n_in;
    desc.states = operands->states;
    desc.n_state = (uint32_t)operands->n_state;
    desc.outputs = values;
    desc.n_out = n_out;
    desc.layer = d->layer;
    desc.output_stride = sizeof values[0];
    (void)guild_went_well(d, d->builder->op(d->builder->ctx, &desc, numbers, d->err));
    for (i = 0; i < n_out; i++) {
        outputs[i].number = numbers[i];
        outputs[i] = guild_unless_failed(d, outputs[i]);
    }
}

/** An operation of two inputs without states or parameters; `y` has the output's shape. */
static inline guild_value guild_plain(guild_describe *d, const char *op, const char *name,
                                      guild_value a, guild_value b, guild_value y)
{
    guild_operands operands;
    memset(&operands, 0, sizeof operands);
    operands.inputs[0] = a;
    operands.inputs[1] = b;
    operands.n_in = 2;
    guild_node(d, op, name, &operands, &y, 1);
    return y;
}

/** Rows of `table` `[vocabulary, hidden]` by `ids` `[rows]`. */
static inline guild_value guild_embedding(guild_describe *d, const char *name, guild_value table,
                                          guild_value ids)
{
    return guild_plain(d, GUILD_OP_EMBEDDING_NAME "@1", name, table, ids,
                       guild_shaped(2, ids.shape[0], table.shape[1], 0));
}

/** Rows of `x` `[rows, hidden]` by `ids` `[outputs]`. */
static inline guild_value guild_select_rows(guild_describe *d, const char *name, guild_value x,
                                            guild_value ids)
{
    return guild_plain(d, GUILD_OP_SELECT_ROWS_NAME "@1", name, x, ids,
                       guild_shaped(2, ids.shape[0], x.shape[1], 0));
}

/** `a + b`, of one shape. */
static inline guild_value guild_add(guild_describe *d, const char *name, guild_value a, guild_value b)
{
    return guild_plain(d, GUILD_OP_ADD_NAME "@1", name, a, b, a);
}

/** `silu(gate) * up`, of one shape. */
static inline guild_value guild_swiglu(guild_describe *d, const char *name, guild_value gate,
                                       guild_value up)
{
    return guild_plain(d, GUILD_OP_SWIGLU_NAME "@1", name, gate, up, gate);
}

/** Root-mean-square norm over the last axis, times `weight` `[dim]`. */
static inline guild_value guild_rms_norm(guild_describe *d, const char *name, guild_value x,
                                         guild_value weight, double epsilon)
{
    guild_norm_params params;
    guild_operands operands;
    memset(&params, 0, sizeof params);
    params.size = sizeof params;
    params.epsilon = (float)epsilon;
    params.scale = 1.0f;
    memset(&operands, 0, sizeof operands);
    operands.inputs[0] = x;
    operands.inputs[1] = weight;
    operands.n_in = 2;
    operands.params = &params;
    operands.params_size = sizeof params;
    guild_node(d, GUILD_OP_RMS_NORM_NAME "@1", name, &operands, &x, 1);
    return x;
}

/** `x` `[n, k]` times each of `count` weights `[m, k]`; writes one output `[n, m]` for each. */
static inline void guild_linear(guild_describe *d, const char *name, guild_value x,
                                const guild_value *weights, guild_value *outputs, uint32_t count)
{
    guild_operands operands;
    uint32_t i;
    memset(&operands, 0, sizeof operands);
    if (count > GUILD_LINEAR_MAX) {
        guild_refuse(d, GUILD_STATUS_ERR_INTERNAL, "%s has %" PRIu32 " weights; %d is the most",
                     name, count, GUILD_LINEAR_MAX);
    }
    if (d->status != GUILD_STATUS_OK) {
        guild_no_values(outputs, count);
        return;
    }
    operands.inputs[0] = x;
    for (i = 0; i < count; i++) {
        operands.inputs[1 + i] = weights[i];
        outputs[i] = guild_shaped(2, x.shape[0], weights[i].shape[0], 0);
    }
    operands.n_in = 1 + count;
    guild_node(d, GUILD_OP_LINEAR_NAME "@1", name, &operands, outputs, count);
}

/** Rotary position embedding of `x` `[rows, heads, dim]`; `factors` `[rotary_dims / 2]`, or null.
 *  `pairing` is one of `GUILD_ROPE_*`. */
static inline guild_value guild_rope(guild_describe *d, const char *name, guild_value x,
                                     const guild_value *factors, uint32_t pairing,
                                     uint64_t rotary_dims, double theta)
{
    guild_rope_params params;
    guild_operands operands;
    memset(&params, 0, sizeof params);
    params.size = sizeof params;
    params.pairing = pairing;
    params.rotary_dims = (uint32_t)rotary_dims;
    params.theta = theta;
    memset(&operands, 0, sizeof operands);
    operands.inputs[0] = x;
    operands.n_in = 1;
    if (factors != NULL) {
        operands.inputs[1] = *factors;
        operands.n_in = 2;
    }
    operands.params = &params;
    operands.params_size = sizeof params;
    guild_node(d, GUILD_OP_ROPE_NAME "@1", name, &operands, &x, 1);
    return x;
}

/** Causal attention of `q` `[rows, heads, dim]` over `k`, `v` `[rows, kv_heads, dim]` and what the two
 *  append-only states hold; `scale` multiplies the scores. */
static inline guild_value guild_attention(guild_describe *d, const char *name, guild_value q,
                                          guild_value k, guild_value v, uint32_t keys,
                                          uint32_t values, double scale)
{
    guild_attention_params params;
    guild_operands operands;
    memset(&params, 0, sizeof params);
    params.size = sizeof params;
    params.scale = (float)scale;
    memset(&operands, 0, sizeof operands);
    operands.inputs[0] = q;
    operands.inputs[1] = k;
    operands.inputs[2] = v;
    operands.n_in = 3;
    operands.states[0] = keys;
    operands.states[1] = values;
    operands.n_state = 2;
    operands.params = &params;
    operands.params_size = sizeof params;
    guild_node(d, GUILD_OP_ATTENTION_NAME "@1", name, &operands, &q, 1);
    return q;
}

#ifdef __cplusplus
}
#endif

#endif /* GUILD_DESCRIBE_H */
