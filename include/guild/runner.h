/*
 * Extension `guild.runner/1`, model architectures.
 *
 * A runner describes, the host executes. `describe` reads a model's metadata and calls the host's
 * builder; it never sees weights or activations. Every call here is cold.
 *
 * Generated from sdk/guild-abi by tests/c-abi; don't edit.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GUILD_RUNNER_H
#define GUILD_RUNNER_H

#include "abi.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A dimension that stands for the rows of a call.
 */
#define GUILD_DIM_ROWS UINT64_MAX

/**
 * A dimension that stands for the output rows of a call.
 */
#define GUILD_DIM_OUTPUTS (UINT64_MAX - 1)

/**
 * Input kind: token ids, i32 `[rows]`.
 */
#define GUILD_INPUT_TOKENS 1

/**
 * Input kind: numbers of the rows whose logits are wanted, i32 `[outputs]`.
 */
#define GUILD_INPUT_OUTPUT_ROWS 2

/**
 * Input kind of a draft section: the main model's last hidden states, f32 `[rows, hidden]`.
 */
#define GUILD_INPUT_HIDDEN 3

/**
 * Output kind: logits, f32 `[outputs, vocabulary]`.
 */
#define GUILD_OUTPUT_LOGITS 1

/**
 * Output kind: hidden states before the head, f32 `[rows, hidden]`, for draft sections.
 */
#define GUILD_OUTPUT_HIDDEN 2

/**
 * Section kind: the model itself; exactly one, and first.
 */
#define GUILD_SECTION_MAIN 1

/**
 * Section kind: a draft head (multi-token prediction).
 */
#define GUILD_SECTION_DRAFT 2

/**
 * A tensor of the model file, without its bytes. 88 bytes.
 */
typedef struct guild_tensor_info {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * Element format.
     */
    uint32_t format;
    /**
     * Axes in use.
     */
    uint32_t rank;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * Elements along each axis, outermost first.
     */
    uint64_t shape[6];
    /**
     * Bytes in the file.
     */
    uint64_t byte_len;
    /**
     * Name; valid while the model is.
     */
    guild_str name;
} guild_tensor_info;

/**
 * The model file as a runner sees it. 96 bytes.
 */
typedef struct guild_model_v1 {
    /**
     * Header, `GUILD_KIND_EXTENSION`.
     */
    guild_hdr h;
    /**
     * First argument of the functions below.
     */
    void *ctx;
    /**
     * The file's architecture name.
     */
    guild_str architecture;
    /**
     * Tensors in the file.
     */
    uint64_t tensor_count;
    /**
     * Elements of a metadata value: 1 for a scalar, its length for an array; `NOT_FOUND`. `[serial]`
     */
    guild_status (*length)(void *ctx, guild_str key, uint64_t *out);
    /**
     * An integer or boolean, element `index`; `NOT_FOUND`, or `INVALID` for another type. `[serial]`
     */
    guild_status (*get_u64)(void *ctx, guild_str key, uint64_t index, uint64_t *out);
    /**
     * A number, element `index`. `[serial]`
     */
    guild_status (*get_f64)(void *ctx, guild_str key, uint64_t index, double *out);
    /**
     * A string, element `index`; valid while the model is. `[serial]`
     */
    guild_status (*get_str)(void *ctx, guild_str key, uint64_t index, guild_str *out);
    /**
     * A tensor by name, or `NOT_FOUND`. `[serial]`
     */
    guild_status (*tensor)(void *ctx, guild_str name, struct guild_tensor_info *out);
    /**
     * A tensor by number. `[serial]`
     */
    guild_status (*tensor_at)(void *ctx, uint64_t index, struct guild_tensor_info *out);
} guild_model_v1;

/**
 * Format and shape of a value that an operation makes. 64 bytes.
 */
typedef struct guild_value_desc {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * Element format.
     */
    uint32_t format;
    /**
     * Axes in use.
     */
    uint32_t rank;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * Elements along each axis, outermost first; axis 0 may be `GUILD_DIM_ROWS` or
     * `GUILD_DIM_OUTPUTS`.
     */
    uint64_t shape[6];
} guild_value_desc;

/**
 * A part of a described model. 48 bytes.
 */
typedef struct guild_section_desc {
    /**
     * Header, `GUILD_KIND_RECORD`.
     */
    guild_hdr h;
    /**
     * One of `GUILD_SECTION_*`.
     */
    uint32_t kind;
    /**
     * Zero.
     */
    uint32_t reserved0;
    /**
     * Name for reports.
     */
    guild_str name;
    /**
     * Zero.
     */
    uint64_t reserved;
} guild_section_desc;

/**
 * A state that operations of the section share. 80 bytes.
 */
typedef struct guild_state_desc {
    /**
     * Header, `GUILD_KIND_RECORD`.
     */
    guild_hdr h;
    /**
     * One of `GUILD_STATE_*`.
     */
    uint32_t kind;
    /**
     * Element format; 0 lets the host choose (the session's KV format).
     */
    uint32_t format;
    /**
     * Axes in use, at most 4; an append-only state names `[kv_heads, head_dim]`.
     */
    uint32_t rank;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * Elements along each axis, outermost first.
     */
    uint64_t shape[4];
    /**
     * Name for reports.
     */
    guild_str name;
} guild_state_desc;

/**
 * A window on another value's memory. 160 bytes.
 */
typedef struct guild_view_desc {
    /**
     * Header, `GUILD_KIND_RECORD`.
     */
    guild_hdr h;
    /**
     * The value that the window is on; not a weight.
     */
    uint32_t source;
    /**
     * Axes in use.
     */
    uint32_t rank;
    /**
     * Elements from the start of each row of `source` to the window.
     */
    uint64_t offset;
    /**
     * Elements along each axis; axis 0 as in `source`.
     */
    uint64_t shape[6];
    /**
     * Elements from one entry to the next along each axis; axis 0 is taken from `source`.
     */
    uint64_t stride[6];
    /**
     * Zero.
     */
    uint64_t reserved[4];
} guild_view_desc;

/**
 * One operation of the described graph. 112 bytes.
 */
typedef struct guild_node_desc {
    /**
     * Header, `GUILD_KIND_RECORD`.
     */
    guild_hdr h;
    /**
     * Operation with its version: `guild.core.rms_norm@1`.
     */
    guild_str op;
    /**
     * Name for reports: `attn_norm`.
     */
    guild_str name;
    /**
     * The operation's parameter struct, or null.
     */
    const void *params;
    /**
     * Bytes at `params`.
     */
    uint64_t params_size;
    /**
     * Input values in the contract's order.
     */
    const uint32_t *inputs;
    /**
     * State operands in the contract's order.
     */
    const uint32_t *states;
    /**
     * Output values in the contract's order.
     */
    const struct guild_value_desc *outputs;
    /**
     * Entries of `inputs`.
     */
    uint32_t n_in;
    /**
     * Entries of `states`.
     */
    uint32_t n_state;
    /**
     * Entries of `outputs`.
     */
    uint32_t n_out;
    /**
     * Layer number, for reports and crash records.
     */
    uint32_t layer;
    /**
     * Bytes from one entry of `outputs` to the next.
     */
    uint64_t output_stride;
} guild_node_desc;

/**
 * The host's builder: what `describe` calls. Values and states are numbers within a section.
 * 96 bytes.
 */
typedef struct guild_builder_v1 {
    /**
     * Header, `GUILD_KIND_EXTENSION`.
     */
    guild_hdr h;
    /**
     * First argument of the functions below.
     */
    void *ctx;
    /**
     * Starts a section; values and states made before it can't be used in it. `[serial]`
     */
    guild_status (*section)(void *ctx, const struct guild_section_desc *desc, guild_err *err);
    /**
     * A tensor of the model as a value. `[serial]`
     */
    guild_status (*weight)(void *ctx, guild_str name, uint32_t *value, guild_err *err);
    /**
     * A call's input as a value; `hidden` is the row length where the kind needs one. `[serial]`
     */
    guild_status (*input)(void *ctx, uint32_t kind, uint64_t hidden, uint32_t *value, guild_err *err);
    /**
     * A state. `[serial]`
     */
    guild_status (*state)(void *ctx,
                          const struct guild_state_desc *desc,
                          uint32_t *state,
                          guild_err *err);
    /**
     * A window on a value. `[serial]`
     */
    guild_status (*view)(void *ctx,
                         const struct guild_view_desc *desc,
                         uint32_t *value,
                         guild_err *err);
    /**
     * An operation; writes `desc.n_out` value numbers to `values`. `[serial]`
     */
    guild_status (*op)(void *ctx,
                       const struct guild_node_desc *desc,
                       uint32_t *values,
                       guild_err *err);
    /**
     * Names a value as a result of the section. `[serial]`
     */
    guild_status (*output)(void *ctx, uint32_t kind, uint32_t value, guild_err *err);
    /**
     * Zero.
     */
    uint64_t reserved[2];
} guild_builder_v1;

/**
 * One architecture runner of a plugin. 72 bytes.
 */
typedef struct guild_runner_desc {
    /**
     * Header, `GUILD_KIND_RECORD`.
     */
    guild_hdr h;
    /**
     * Runner id: `guild.runner.qwen3_5_moe.v1`.
     */
    guild_str id;
    /**
     * Architecture names that it may match, separated by spaces, for listings.
     */
    guild_str architectures;
    /**
     * Zero.
     */
    uint64_t reserved[3];
} guild_runner_desc;

/**
 * What the host fixes before `describe`. 48 bytes.
 */
typedef struct guild_describe_params {
    /**
     * Header, `GUILD_KIND_RECORD`.
     */
    guild_hdr h;
    /**
     * Positions of one sequence.
     */
    uint64_t context;
    /**
     * Zero.
     */
    uint64_t reserved[3];
} guild_describe_params;

/**
 * Plugin extension `guild.runner/1`. 72 bytes.
 */
typedef struct guild_runner_v1 {
    /**
     * Header, `GUILD_KIND_EXTENSION`.
     */
    guild_hdr h;
    /**
     * Runners in this plugin.
     */
    uint32_t runner_count;
    /**
     * Zero.
     */
    uint32_t reserved0;
    /**
     * Describes runner `index`; text stays valid until `shutdown`. `[any]`
     */
    guild_status (*info)(void *self_, uint32_t index, struct guild_runner_desc *out, guild_err *err);
    /**
     * How well runner `index` fits the model: a score above 0, or `DECLINED`. `[any]`
     */
    guild_status (*matches)(void *self_,
                            uint32_t index,
                            const struct guild_model_v1 *model,
                            int32_t *score,
                            guild_err *err);
    /**
     * Checks the model's invariants and describes it to the builder. `[serial]`
     */
    guild_status (*describe)(void *self_,
                             uint32_t index,
                             const struct guild_model_v1 *model,
                             const struct guild_describe_params *params,
                             const struct guild_builder_v1 *builder,
                             guild_err *err);
    /**
     * Zero.
     */
    uint64_t reserved[3];
} guild_runner_v1;

#ifdef __cplusplus
}
#endif

#endif /* GUILD_RUNNER_H */
