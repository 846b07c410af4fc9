/*
 * Numbers of element formats, and the extension `guild.formats/1` for more.
 *
 * Generated from sdk/guild-abi by tests/c-abi; don't edit.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GUILD_FORMATS_H
#define GUILD_FORMATS_H

#include "abi.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Format: IEEE binary32.
 */
#define GUILD_FORMAT_F32 1

/**
 * Format: IEEE binary16.
 */
#define GUILD_FORMAT_F16 2

/**
 * Format: bfloat16.
 */
#define GUILD_FORMAT_BF16 3

/**
 * Format: 32-bit signed integer.
 */
#define GUILD_FORMAT_I32 4

/**
 * Format: 64-bit signed integer.
 */
#define GUILD_FORMAT_I64 5

/**
 * Format: `ggml.q4_0`, 32 elements in 18 bytes.
 */
#define GUILD_FORMAT_Q4_0 16

/**
 * Format: `ggml.q8_0`, 32 elements in 34 bytes.
 */
#define GUILD_FORMAT_Q8_0 17

/**
 * Format: `ggml.q4_K`, 256 elements in 144 bytes.
 */
#define GUILD_FORMAT_Q4_K 18

/**
 * Format: `ggml.q5_K`, 256 elements in 176 bytes.
 */
#define GUILD_FORMAT_Q5_K 19

/**
 * Format: `ggml.q6_K`, 256 elements in 210 bytes.
 */
#define GUILD_FORMAT_Q6_K 20

/**
 * Format: `ggml.q4_1`, 32 elements in 20 bytes.
 */
#define GUILD_FORMAT_Q4_1 21

/**
 * Format: `ggml.q5_0`, 32 elements in 22 bytes.
 */
#define GUILD_FORMAT_Q5_0 22

/**
 * Format: `ggml.q5_1`, 32 elements in 24 bytes.
 */
#define GUILD_FORMAT_Q5_1 23

/**
 * Format: `ggml.q2_K`, 256 elements in 84 bytes.
 */
#define GUILD_FORMAT_Q2_K 24

/**
 * Format: `ggml.q3_K`, 256 elements in 110 bytes.
 */
#define GUILD_FORMAT_Q3_K 25

/**
 * Format: `ggml.iq4_nl`, 32 elements in 18 bytes.
 */
#define GUILD_FORMAT_IQ4_NL 26

/**
 * Format: `ggml.iq4_xs`, 256 elements in 136 bytes.
 */
#define GUILD_FORMAT_IQ4_XS 27

/**
 * Format: `ggml.iq2_xxs`, 256 elements in 66 bytes.
 */
#define GUILD_FORMAT_IQ2_XXS 28

/**
 * Format: `ggml.iq2_xs`, 256 elements in 74 bytes.
 */
#define GUILD_FORMAT_IQ2_XS 29

/**
 * Format: `ggml.iq2_s`, 256 elements in 82 bytes.
 */
#define GUILD_FORMAT_IQ2_S 30

/**
 * Format: `ggml.iq3_xxs`, 256 elements in 98 bytes.
 */
#define GUILD_FORMAT_IQ3_XXS 31

/**
 * Format: `ggml.iq3_s`, 256 elements in 110 bytes.
 */
#define GUILD_FORMAT_IQ3_S 32

/**
 * Format: `ggml.iq1_s`, 256 elements in 50 bytes.
 */
#define GUILD_FORMAT_IQ1_S 33

/**
 * Format: `ggml.iq1_m`, 256 elements in 56 bytes.
 */
#define GUILD_FORMAT_IQ1_M 34

/**
 * Format: `ggml.tq1_0`, 256 elements in 54 bytes.
 */
#define GUILD_FORMAT_TQ1_0 35

/**
 * Format: `ggml.tq2_0`, 256 elements in 66 bytes.
 */
#define GUILD_FORMAT_TQ2_0 36

/**
 * Format: `ggml.mxfp4`, 32 elements in 17 bytes.
 */
#define GUILD_FORMAT_MXFP4 37

/**
 * Format: `ggml.nvfp4`, 64 elements in 36 bytes.
 */
#define GUILD_FORMAT_NVFP4 38

/**
 * Format: `ggml.q1_0`, 128 elements in 18 bytes.
 */
#define GUILD_FORMAT_Q1_0 39

/**
 * Formats from here on are numbered by the host from their names (`guild.formats/1`).
 */
#define GUILD_FORMAT_NAMED 256

/**
 * Layout of a weight: the file's own; rows follow each other without gaps.
 */
#define GUILD_LAYOUT_FILE 0

/**
 * Layout of the weights of `moe_experts`: an expert's gate and up rows alternate, its down rows follow.
 * Three tensors look into the same bytes; their strides say where rows and experts begin. Where gate and
 * up are one tensor, its rows alternate.
 */
#define GUILD_LAYOUT_GATE_UP_ROWS 1

/**
 * Host extension `guild.formats/1`: numbers for formats beyond the fixed ones. 64 bytes.
 */
typedef struct guild_formats_v1 {
    /**
     * Header, `GUILD_KIND_EXTENSION`.
     */
    guild_hdr h;
    /**
     * First argument of the functions below.
     */
    void *ctx;
    /**
     * Number of a named format (`ggml.q4_K`), or `NOT_FOUND`. `[any]`
     */
    guild_status (*number)(void *ctx, guild_str name, uint32_t *number);
    /**
     * Description of a number: fills `format`, `block_elems`, `block_bytes`. `[any]`
     */
    guild_status (*describe)(void *ctx, uint32_t number, guild_quant *out);
    /**
     * Zero.
     */
    uint64_t reserved[3];
} guild_formats_v1;

#ifdef __cplusplus
}
#endif

#endif /* GUILD_FORMATS_H */
