/*
 * Extension `guild.formats/1`, numbers of element formats.
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
