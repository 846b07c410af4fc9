/*
 * Parameters and numbers of the core operations.
 *
 * `docs/ops.md` holds each operation's contract; this file holds the parts that a compiler needs.
 *
 * Generated from sdk/guild-abi by tests/c-abi; don't edit.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GUILD_CORE_OPS_H
#define GUILD_CORE_OPS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Number of `guild.core.embedding@1`.
 */
#define GUILD_OP_EMBEDDING 1

/**
 * Number of `guild.core.select_rows@1`.
 */
#define GUILD_OP_SELECT_ROWS 2

/**
 * Number of `guild.core.add@1`.
 */
#define GUILD_OP_ADD 3

/**
 * Number of `guild.core.rms_norm@1`.
 */
#define GUILD_OP_RMS_NORM 4

/**
 * Number of `guild.core.gated_rms_norm@1`.
 */
#define GUILD_OP_GATED_RMS_NORM 5

/**
 * Number of `guild.core.l2_norm@1`.
 */
#define GUILD_OP_L2_NORM 6

/**
 * Number of `guild.core.linear@1`.
 */
#define GUILD_OP_LINEAR 7

/**
 * Number of `guild.core.swiglu@1`.
 */
#define GUILD_OP_SWIGLU 8

/**
 * Number of `guild.core.sigmoid_mul@1`.
 */
#define GUILD_OP_SIGMOID_MUL 9

/**
 * Number of `guild.core.rope@1`.
 */
#define GUILD_OP_ROPE 10

/**
 * Number of `guild.core.attention@1`.
 */
#define GUILD_OP_ATTENTION 11

/**
 * Number of `guild.core.causal_conv@1`.
 */
#define GUILD_OP_CAUSAL_CONV 12

/**
 * Number of `guild.core.gated_delta@1`.
 */
#define GUILD_OP_GATED_DELTA 13

/**
 * Number of `guild.core.moe_route@1`.
 */
#define GUILD_OP_MOE_ROUTE 14

/**
 * Number of `guild.core.moe_experts@1`.
 */
#define GUILD_OP_MOE_EXPERTS 15

/**
 * Number of `guild.core.concat@1`.
 */
#define GUILD_OP_CONCAT 16

/**
 * RoPE pairs element `i` with `i + rotary_dims / 2`.
 */
#define GUILD_ROPE_HALVES 0

/**
 * RoPE pairs element `2 i` with `2 i + 1`.
 */
#define GUILD_ROPE_ADJACENT 1

/**
 * Activation: none.
 */
#define GUILD_ACTIVATION_NONE 0

/**
 * Activation: SiLU.
 */
#define GUILD_ACTIVATION_SILU 1

/**
 * Value head `j` uses key head `j / (value heads / key heads)`.
 */
#define GUILD_HEADS_GROUPED 0

/**
 * Value head `j` uses key head `j mod key heads`.
 */
#define GUILD_HEADS_TILED 1

/**
 * Flag of `moe_route`: divide the chosen weights by their sum.
 */
#define GUILD_ROUTE_RENORMALISE 1

/**
 * Flag of `moe_experts`: one tensor `[experts, 2 ff, hidden]` holds gate rows, then up rows.
 */
#define GUILD_MOE_FUSED_GATE_UP 1

/**
 * Flag of `moe_experts`: a shared expert's gate, up and down follow.
 */
#define GUILD_MOE_SHARED 2

/**
 * Flag of `moe_experts`: the shared expert's sigmoid gate `[hidden]` follows.
 */
#define GUILD_MOE_SHARED_GATE 4

/**
 * Parameters of `rms_norm`, `gated_rms_norm` and `l2_norm`. 16 bytes.
 */
typedef struct guild_norm_params {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * Added under the square root.
     */
    float epsilon;
    /**
     * Factor on the result of `l2_norm`; 1 in the others.
     */
    float scale;
    /**
     * Zero.
     */
    uint32_t reserved;
} guild_norm_params;

/**
 * Parameters of `rope`. 48 bytes.
 */
typedef struct guild_rope_params {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * `GUILD_ROPE_HALVES` or `GUILD_ROPE_ADJACENT`.
     */
    uint32_t pairing;
    /**
     * Leading elements of a head that are rotated; even.
     */
    uint32_t rotary_dims;
    /**
     * 1 when the sections of m-RoPE are interleaved.
     */
    uint32_t interleaved;
    /**
     * Base of the frequencies.
     */
    double theta;
    /**
     * Pairs per position component of m-RoPE; all zero without sections. All components of a text
     * token are its position, so sections don't change the result.
     */
    uint32_t sections[4];
    /**
     * Zero.
     */
    uint64_t reserved;
} guild_rope_params;

/**
 * Parameters of `attention`. 16 bytes.
 */
typedef struct guild_attention_params {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * Factor on the scores.
     */
    float scale;
    /**
     * Zero.
     */
    uint64_t reserved;
} guild_attention_params;

/**
 * Parameters of `causal_conv`. 16 bytes.
 */
typedef struct guild_conv_params {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * One of `GUILD_ACTIVATION_*`.
     */
    uint32_t activation;
    /**
     * Zero.
     */
    uint64_t reserved;
} guild_conv_params;

/**
 * Parameters of `gated_delta`. 16 bytes.
 */
typedef struct guild_delta_params {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * `GUILD_HEADS_GROUPED` or `GUILD_HEADS_TILED`.
     */
    uint32_t head_order;
    /**
     * Zero.
     */
    uint64_t reserved;
} guild_delta_params;

/**
 * Parameters of `moe_route`. 16 bytes.
 */
typedef struct guild_route_params {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * Experts chosen for a row, at most 32.
     */
    uint32_t top_k;
    /**
     * `GUILD_ROUTE_*` bits.
     */
    uint32_t flags;
    /**
     * Zero.
     */
    uint32_t reserved;
} guild_route_params;

/**
 * Parameters of `moe_experts`. 16 bytes.
 */
typedef struct guild_experts_params {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * `GUILD_MOE_*` bits.
     */
    uint32_t flags;
    /**
     * Zero.
     */
    uint64_t reserved;
} guild_experts_params;

/* Name, version and contract (SHA-256 of its canonical text) of each core operation. */

#define GUILD_OP_EMBEDDING_NAME "guild.core.embedding"
#define GUILD_OP_EMBEDDING_VERSION 1
#define GUILD_OP_EMBEDDING_CONTRACT \
    { \
        0xbd, 0x4d, 0x51, 0x7d, 0x8d, 0x22, 0xdb, 0xfb, \
        0xe4, 0xd8, 0xbb, 0x4b, 0xc7, 0xe7, 0x6f, 0x68, \
        0x57, 0x38, 0x82, 0xb1, 0x3f, 0xea, 0x8b, 0x6b, \
        0x3f, 0x27, 0xcd, 0x33, 0x2f, 0xca, 0xf7, 0xb5 \
    }

#define GUILD_OP_SELECT_ROWS_NAME "guild.core.select_rows"
#define GUILD_OP_SELECT_ROWS_VERSION 1
#define GUILD_OP_SELECT_ROWS_CONTRACT \
    { \
        0x28, 0x3c, 0x09, 0x76, 0x37, 0xe8, 0xa1, 0x83, \
        0x32, 0x80, 0x8d, 0x78, 0x43, 0x40, 0x11, 0x63, \
        0x3a, 0x12, 0x5f, 0x44, 0x02, 0x3c, 0xf0, 0x39, \
        0x5c, 0x65, 0x26, 0x1e, 0x1c, 0x88, 0x4d, 0xee \
    }

#define GUILD_OP_ADD_NAME "guild.core.add"
#define GUILD_OP_ADD_VERSION 1
#define GUILD_OP_ADD_CONTRACT \
    { \
        0x29, 0x56, 0xf4, 0x21, 0x35, 0x2e, 0x50, 0x21, \
        0xee, 0xfb, 0x31, 0x20, 0x37, 0xb4, 0x1b, 0x58, \
        0x0a, 0xfc, 0xa7, 0x50, 0xe5, 0x56, 0xca, 0x5a, \
        0x32, 0x71, 0x22, 0xfb, 0x40, 0xe6, 0x68, 0x22 \
    }

#define GUILD_OP_RMS_NORM_NAME "guild.core.rms_norm"
#define GUILD_OP_RMS_NORM_VERSION 1
#define GUILD_OP_RMS_NORM_CONTRACT \
    { \
        0x06, 0x4d, 0x7d, 0x4f, 0x99, 0x6d, 0x7a, 0x84, \
        0x88, 0x9c, 0x11, 0x74, 0xed, 0x93, 0x36, 0xb2, \
        0xa3, 0x03, 0x60, 0xb1, 0xf4, 0x9c, 0x97, 0x38, \
        0x72, 0x60, 0xc7, 0x9c, 0x05, 0xde, 0x69, 0x9e \
    }

#define GUILD_OP_GATED_RMS_NORM_NAME "guild.core.gated_rms_norm"
#define GUILD_OP_GATED_RMS_NORM_VERSION 1
#define GUILD_OP_GATED_RMS_NORM_CONTRACT \
    { \
        0x3c, 0xb7, 0x5f, 0x74, 0x5e, 0x61, 0xf5, 0xb2, \
        0x62, 0xfa, 0xf5, 0xee, 0xb0, 0x4e, 0x94, 0x53, \
        0x28, 0x00, 0x34, 0x34, 0x3c, 0xc2, 0x38, 0xf2, \
        0x67, 0xc6, 0xa6, 0x65, 0x07, 0xe2, 0x54, 0x17 \
    }

#define GUILD_OP_L2_NORM_NAME "guild.core.l2_norm"
#define GUILD_OP_L2_NORM_VERSION 1
#define GUILD_OP_L2_NORM_CONTRACT \
    { \
        0x75, 0x98, 0xd8, 0x2a, 0x83, 0xf7, 0x9c, 0x6a, \
        0x5c, 0xf7, 0xe7, 0x00, 0xf5, 0x5f, 0x71, 0x8d, \
        0x17, 0x29, 0xe8, 0x9e, 0xbc, 0x95, 0x95, 0x5d, \
        0xd4, 0xec, 0x4d, 0x8f, 0x53, 0xd9, 0x12, 0x96 \
    }

#define GUILD_OP_LINEAR_NAME "guild.core.linear"
#define GUILD_OP_LINEAR_VERSION 1
#define GUILD_OP_LINEAR_CONTRACT \
    { \
        0x71, 0xd9, 0xd7, 0xa3, 0xae, 0x42, 0x41, 0x8a, \
        0x78, 0x7a, 0x50, 0x7d, 0xed, 0xcf, 0x3c, 0x20, \
        0x38, 0xd3, 0x80, 0x4f, 0x60, 0x48, 0x6f, 0xeb, \
        0x04, 0x53, 0x5f, 0x17, 0x71, 0x8b, 0x93, 0xb8 \
    }

#define GUILD_OP_SWIGLU_NAME "guild.core.swiglu"
#define GUILD_OP_SWIGLU_VERSION 1
#define GUILD_OP_SWIGLU_CONTRACT \
    { \
        0x4f, 0x0e, 0x8a, 0xa1, 0x52, 0x7f, 0xdb, 0x7e, \
        0x30, 0x91, 0x36, 0xf9, 0x02, 0x86, 0x99, 0x3f, \
        0x0b, 0x8a, 0xe2, 0x85, 0xfc, 0xbf, 0x93, 0xe1, \
        0x9e, 0x40, 0x95, 0xeb, 0x7e, 0xaf, 0xf8, 0x9e \
    }

#define GUILD_OP_SIGMOID_MUL_NAME "guild.core.sigmoid_mul"
#define GUILD_OP_SIGMOID_MUL_VERSION 1
#define GUILD_OP_SIGMOID_MUL_CONTRACT \
    { \
        0x29, 0x25, 0x27, 0xd8, 0x99, 0xde, 0x19, 0x49, \
        0xdd, 0x1c, 0xf5, 0xda, 0x1e, 0xa9, 0xcd, 0xf1, \
        0x00, 0xf1, 0xac, 0x55, 0x17, 0x1b, 0x6d, 0x37, \
        0x8f, 0x97, 0x05, 0x74, 0x42, 0x96, 0xa8, 0xab \
    }

#define GUILD_OP_ROPE_NAME "guild.core.rope"
#define GUILD_OP_ROPE_VERSION 1
#define GUILD_OP_ROPE_CONTRACT \
    { \
        0x28, 0x56, 0x12, 0x5b, 0xba, 0xc3, 0x2e, 0x88, \
        0xb6, 0x0f, 0x2d, 0xc7, 0x31, 0x38, 0x47, 0x32, \
        0xbe, 0x4f, 0x76, 0x67, 0x44, 0x1c, 0xe4, 0x45, \
        0x72, 0xf2, 0x86, 0xc7, 0x15, 0x9e, 0xff, 0x70 \
    }

#define GUILD_OP_ATTENTION_NAME "guild.core.attention"
#define GUILD_OP_ATTENTION_VERSION 1
#define GUILD_OP_ATTENTION_CONTRACT \
    { \
        0x28, 0xb9, 0x0b, 0x6b, 0x71, 0x42, 0x85, 0xb4, \
        0xf7, 0x09, 0xd9, 0x84, 0xba, 0xdd, 0x97, 0x41, \
        0xe7, 0x4b, 0xfa, 0x6f, 0x38, 0xc6, 0x32, 0x60, \
        0xbf, 0xc4, 0x78, 0xdf, 0x8c, 0x01, 0x53, 0x77 \
    }

#define GUILD_OP_CAUSAL_CONV_NAME "guild.core.causal_conv"
#define GUILD_OP_CAUSAL_CONV_VERSION 1
#define GUILD_OP_CAUSAL_CONV_CONTRACT \
    { \
        0xc6, 0x76, 0xa7, 0xad, 0x74, 0xdd, 0xca, 0x4d, \
        0x0d, 0x3e, 0xfd, 0x30, 0x4d, 0xeb, 0x7a, 0x37, \
        0x5c, 0xb4, 0x47, 0x91, 0x4c, 0x53, 0xa8, 0x5b, \
        0x88, 0xa7, 0x06, 0x73, 0xd3, 0x6c, 0xbd, 0x1d \
    }

#define GUILD_OP_GATED_DELTA_NAME "guild.core.gated_delta"
#define GUILD_OP_GATED_DELTA_VERSION 1
#define GUILD_OP_GATED_DELTA_CONTRACT \
    { \
        0x54, 0x41, 0x08, 0x62, 0x61, 0x64, 0x52, 0x21, \
        0xfa, 0x27, 0x93, 0x4b, 0x1b, 0x5b, 0x0b, 0xd0, \
        0x3a, 0xd1, 0x0a, 0x25, 0x28, 0x59, 0x66, 0x91, \
        0x7a, 0x20, 0x46, 0x0a, 0xbe, 0x82, 0x54, 0xcb \
    }

#define GUILD_OP_MOE_ROUTE_NAME "guild.core.moe_route"
#define GUILD_OP_MOE_ROUTE_VERSION 1
#define GUILD_OP_MOE_ROUTE_CONTRACT \
    { \
        0x64, 0x55, 0x7e, 0xb6, 0xf8, 0xa5, 0xb4, 0x0c, \
        0x92, 0x7e, 0x93, 0x3a, 0x7b, 0x44, 0x02, 0x3a, \
        0xa3, 0x50, 0x76, 0x17, 0x76, 0x0f, 0x2e, 0xaf, \
        0x03, 0xf2, 0x51, 0xe1, 0x8c, 0xec, 0x48, 0xa5 \
    }

#define GUILD_OP_MOE_EXPERTS_NAME "guild.core.moe_experts"
#define GUILD_OP_MOE_EXPERTS_VERSION 1
#define GUILD_OP_MOE_EXPERTS_CONTRACT \
    { \
        0x64, 0x06, 0xf1, 0xc3, 0xee, 0x2d, 0x9b, 0x31, \
        0xbb, 0x3f, 0x5f, 0xc4, 0xbd, 0x48, 0xfe, 0xbd, \
        0xba, 0x36, 0x01, 0xd1, 0x46, 0x6c, 0xa3, 0x00, \
        0x30, 0xb6, 0x85, 0x8e, 0x76, 0xd9, 0x4d, 0x48 \
    }

#define GUILD_OP_CONCAT_NAME "guild.core.concat"
#define GUILD_OP_CONCAT_VERSION 1
#define GUILD_OP_CONCAT_CONTRACT \
    { \
        0x59, 0xba, 0x76, 0x98, 0xee, 0x75, 0x19, 0xb2, \
        0xda, 0x53, 0xc2, 0xa1, 0x22, 0x79, 0x6b, 0x3e, \
        0x23, 0x3e, 0x80, 0xb3, 0x1a, 0x36, 0x71, 0x70, \
        0x01, 0x9f, 0xc4, 0x2c, 0xb5, 0xf4, 0xc9, 0x86 \
    }

#ifdef __cplusplus
}
#endif

#endif /* GUILD_CORE_OPS_H */
