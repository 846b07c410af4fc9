/*
 * Extension `guild.counters/1`, proof of execution.
 *
 * Generated from sdk/guild-abi by tests/c-abi; don't edit.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GUILD_COUNTERS_H
#define GUILD_COUNTERS_H

#include "abi.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What one operation of a plugin has run since it was loaded. 24 bytes.
 */
typedef struct guild_counter {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * Calls of `execute` that returned `OK`; for a runner, calls of `describe`.
     */
    uint64_t calls;
    /**
     * Rows that those calls worked on.
     */
    uint64_t rows;
} guild_counter;

/**
 * Plugin extension `guild.counters/1`. 48 bytes.
 */
typedef struct guild_counters_v1 {
    /**
     * Header, `GUILD_KIND_EXTENSION`.
     */
    guild_hdr h;
    /**
     * Reads the counter of operation `index` (the index of `describe`). `[any]`
     */
    guild_status (*operation)(void *self_, uint32_t index, struct guild_counter *out);
    /**
     * Reads the counter of runner `index`. `[any]`
     */
    guild_status (*runner)(void *self_, uint32_t index, struct guild_counter *out);
    /**
     * Zero.
     */
    uint64_t reserved[2];
} guild_counters_v1;

#ifdef __cplusplus
}
#endif

#endif /* GUILD_COUNTERS_H */
