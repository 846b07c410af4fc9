/*
 * Extension `guild.ops/1`, operations for plugins and tools.
 *
 * Generated from sdk/guild-abi by tests/c-abi; don't edit.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GUILD_OPS_H
#define GUILD_OPS_H

#include "abi.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A resolved operation; holds a lease on its package. 40 bytes.
 */
typedef struct guild_binding {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * Zero.
     */
    uint32_t flags;
    /**
     * Runs the operation; call it with `inst`.
     */
    guild_execute_fn execute;
    /**
     * First argument of `execute`.
     */
    void *inst;
    /**
     * Lease: slot and generation. A stale release is an error.
     */
    uint64_t lease;
    /**
     * Version that was bound.
     */
    uint32_t op_version;
    /**
     * Zero.
     */
    uint32_t reserved;
} guild_binding;

/**
 * Host extension `guild.ops/1`. 88 bytes.
 */
typedef struct guild_ops_v1 {
    /**
     * Header, `GUILD_KIND_EXTENSION`.
     */
    guild_hdr h;
    /**
     * First argument of the functions below.
     */
    void *ctx;
    /**
     * Finds a provider and makes an instance. Refused with `BUSY` inside `execute`. `[any]`
     */
    guild_status (*resolve)(void *ctx,
                            guild_str op,
                            const guild_op_req *request,
                            struct guild_binding *out,
                            guild_err *err);
    /**
     * Scratch that the binding needs. `[inst]`
     */
    guild_status (*scratch)(void *ctx,
                            const struct guild_binding *binding,
                            const guild_bounds *bounds,
                            guild_scratch_slot *slots,
                            uint32_t cap,
                            uint32_t *count,
                            guild_err *err);
    /**
     * Runs a binding with every argument checked, for tests and tools. `[inst]`
     */
    guild_status (*execute)(void *ctx, const struct guild_binding *binding, const guild_exec *x);
    /**
     * Ends the binding and its lease. `[inst]`
     */
    void (*release)(void *ctx, struct guild_binding *binding);
    /**
     * Zero.
     */
    uint64_t reserved[4];
} guild_ops_v1;

#ifdef __cplusplus
}
#endif

#endif /* GUILD_OPS_H */
