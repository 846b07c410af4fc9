/*
 * Extension `guild.device/1`, memory and queues of one kind of hardware.
 *
 * Host memory is the host's own device, number 0, and needs no provider.
 *
 * Generated from sdk/guild-abi by tests/c-abi; don't edit.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GUILD_DEVICE_H
#define GUILD_DEVICE_H

#include "abi.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Copy direction: host to device.
 */
#define GUILD_COPY_HOST_TO_DEVICE 1

/**
 * Copy direction: device to host.
 */
#define GUILD_COPY_DEVICE_TO_HOST 2

/**
 * Copy direction: within one device.
 */
#define GUILD_COPY_DEVICE_TO_DEVICE 3

/**
 * What a device is. 112 bytes.
 */
typedef struct guild_device_desc {
    /**
     * Header, `GUILD_KIND_RECORD`.
     */
    guild_hdr h;
    /**
     * Name as the driver gives it; valid until `shutdown`.
     */
    guild_str name;
    /**
     * Compute capability or architecture number, major.
     */
    uint32_t arch_major;
    /**
     * Compute capability or architecture number, minor.
     */
    uint32_t arch_minor;
    /**
     * Multiprocessors.
     */
    uint32_t units;
    /**
     * Memory bus in bits.
     */
    uint32_t bus_bits;
    /**
     * Device memory in bytes.
     */
    uint64_t memory_bytes;
    /**
     * Free device memory in bytes at the time of the call.
     */
    uint64_t free_bytes;
    /**
     * Level-2 cache in bytes.
     */
    uint64_t l2_bytes;
    /**
     * Driver version.
     */
    uint32_t driver_version;
    /**
     * Runtime version.
     */
    uint32_t runtime_version;
    /**
     * Zero.
     */
    uint64_t reserved[4];
} guild_device_desc;

/**
 * Shape of a launch. 32 bytes.
 */
typedef struct guild_launch {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * Dynamic shared memory in bytes.
     */
    uint32_t shared_bytes;
    /**
     * Blocks along x, y, z.
     */
    uint32_t grid[3];
    /**
     * Threads of a block along x, y, z.
     */
    uint32_t block[3];
} guild_launch;

/**
 * Plugin extension `guild.device/1`. 200 bytes.
 */
typedef struct guild_device_v1 {
    /**
     * Header, `GUILD_KIND_EXTENSION`.
     */
    guild_hdr h;
    /**
     * Number of devices; `DECLINED` with a plain sentence where there is no driver. `[any]`
     */
    guild_status (*count)(void *self_, uint32_t *out, guild_err *err);
    /**
     * Describes a device. `[any]`
     */
    guild_status (*info)(void *self_, uint32_t device, struct guild_device_desc *out, guild_err *err);
    /**
     * Allocates device or pinned memory (`space`). `[any]`
     */
    guild_status (*alloc)(void *self_,
                          uint32_t device,
                          uint32_t space,
                          uint64_t bytes,
                          void **out,
                          guild_err *err);
    /**
     * Frees what `alloc` gave. `[any]`
     */
    void (*free)(void *self_, uint32_t device, uint32_t space, void *ptr);
    /**
     * Makes a stream. `[any]`
     */
    guild_status (*stream_create)(void *self_, uint32_t device, guild_stream *out, guild_err *err);
    /**
     * Ends a stream. `[inst]`
     */
    void (*stream_destroy)(void *self_, guild_stream *stream);
    /**
     * Waits until the stream is idle. `[inst]`
     */
    guild_status (*stream_wait)(void *self_, const guild_stream *stream, guild_err *err);
    /**
     * Enqueues a copy. `[inst]`
     */
    guild_status (*copy)(void *self_,
                         const guild_stream *stream,
                         uint32_t direction,
                         void *to,
                         const void *from,
                         uint64_t bytes,
                         guild_err *err);
    /**
     * Makes an event. `[any]`
     */
    guild_status (*event_create)(void *self_, uint32_t device, void **out, guild_err *err);
    /**
     * Records an event on a stream. `[inst]`
     */
    guild_status (*event_record)(void *self_,
                                 const guild_stream *stream,
                                 void *event,
                                 guild_err *err);
    /**
     * Makes a stream wait for an event. `[inst]`
     */
    guild_status (*event_wait)(void *self_, const guild_stream *stream, void *event, guild_err *err);
    /**
     * Ends an event. `[any]`
     */
    void (*event_destroy)(void *self_, void *event);
    /**
     * Starts capturing a stream into a graph. `[inst]`
     */
    guild_status (*capture_begin)(void *self_, guild_stream *stream, guild_err *err);
    /**
     * Ends capturing and hands out an executable graph. `[inst]`
     */
    guild_status (*capture_end)(void *self_, guild_stream *stream, void **graph, guild_err *err);
    /**
     * Launches a graph on a stream. `[inst]`
     */
    guild_status (*graph_launch)(void *self_,
                                 const guild_stream *stream,
                                 void *graph,
                                 guild_err *err);
    /**
     * Ends a graph. `[any]`
     */
    void (*graph_destroy)(void *self_, void *graph);
    /**
     * Loads a module from verified bytes. `[any]`
     */
    guild_status (*module_load)(void *self_,
                                uint32_t device,
                                const void *image,
                                uint64_t bytes,
                                void **module,
                                guild_err *err);
    /**
     * Finds a function in a module. `[any]`
     */
    guild_status (*module_function)(void *self_,
                                    void *module,
                                    guild_str name,
                                    void **function,
                                    guild_err *err);
    /**
     * Enqueues a launch of a function. `[inst]`
     */
    guild_status (*launch)(void *self_,
                           const guild_stream *stream,
                           void *function,
                           const struct guild_launch *grid,
                           void *const *args,
                           guild_err *err);
    /**
     * Unloads a module. `[any]`
     */
    void (*module_unload)(void *self_, uint32_t device, void *module);
    /**
     * Zero.
     */
    uint64_t reserved[3];
} guild_device_v1;

#ifdef __cplusplus
}
#endif

#endif /* GUILD_DEVICE_H */
