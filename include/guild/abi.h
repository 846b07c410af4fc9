/*
 * Entry, tables, tensors, execution.
 *
 * Generated from sdk/guild-abi by tests/c-abi; don't edit.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GUILD_ABI_H
#define GUILD_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Major version of the kernel ABI; also the suffix of the entry symbol.
 */
#define GUILD_KERNEL_ABI_VERSION_V1 1

/**
 * Major version of the module ABI.
 */
#define GUILD_MODULE_ABI_VERSION_V1 1

/**
 * Newest minor version that this header describes.
 */
#define GUILD_ABI_MINOR 0

/**
 * Oldest minor version that this header's host accepts.
 */
#define GUILD_ABI_MINOR_FLOOR 0

/**
 * `guild_hdr.kind` of a `guild_host_v1`.
 */
#define GUILD_KIND_HOST 1

/**
 * `guild_hdr.kind` of a `guild_plugin_v1`.
 */
#define GUILD_KIND_PLUGIN 2

/**
 * `guild_hdr.kind` of a `guild_err`.
 */
#define GUILD_KIND_ERR 3

/**
 * `guild_hdr.kind` of a `guild_op_desc`.
 */
#define GUILD_KIND_OP_DESC 4

/**
 * `guild_hdr.kind` of a `guild_op_req`.
 */
#define GUILD_KIND_OP_REQ 5

/**
 * `guild_hdr.kind` of a `guild_refusal`.
 */
#define GUILD_KIND_REFUSAL 6

/**
 * `guild_hdr.kind` of a `guild_bounds`.
 */
#define GUILD_KIND_BOUNDS 7

/**
 * `guild_hdr.kind` of an extension table.
 */
#define GUILD_KIND_EXTENSION 8

/**
 * `guild_hdr.kind` of a description record of an extension.
 */
#define GUILD_KIND_RECORD 9

/**
 * The part of `guild_hdr.flags` that a reader must understand or refuse with `ERR_ABI`.
 */
#define GUILD_FLAGS_MUST_UNDERSTAND 65280

/**
 * Tensor memory: ordinary host memory.
 */
#define GUILD_SPACE_HOST 0

/**
 * Tensor memory: page-locked host memory.
 */
#define GUILD_SPACE_PINNED 1

/**
 * Tensor memory: on a device.
 */
#define GUILD_SPACE_DEVICE 2

/**
 * Tensor memory: managed by a driver, visible to both.
 */
#define GUILD_SPACE_MANAGED 3

/**
 * Tensor memory: a read-only file mapping.
 */
#define GUILD_SPACE_FILE 4

/**
 * Tensor flag: never written.
 */
#define GUILD_TENSOR_READ_ONLY 1

/**
 * Tensor flag: rows follow each other without gaps.
 */
#define GUILD_TENSOR_CONTIGUOUS 2

/**
 * Tensor flag: axis 0 is the number of rows in this call; read `guild_exec.rows`, not `shape[0]`.
 */
#define GUILD_TENSOR_DYNAMIC_ROWS 4

/**
 * Phase of binding: many rows of a prompt.
 */
#define GUILD_PHASE_PREFILL 1

/**
 * Phase of binding: one row a sequence.
 */
#define GUILD_PHASE_DECODE 2

/**
 * Phase of binding: a few draft rows that may be rolled back.
 */
#define GUILD_PHASE_VERIFY 4

/**
 * Exactness class: the result is defined to the bit (`docs/numerics.md`).
 */
#define GUILD_CLASS_EXACT 1

/**
 * Exactness class: bounded error against the oracle.
 */
#define GUILD_CLASS_TOLERANT 2

/**
 * Operation capability (word 0): may be recorded into a device graph.
 */
#define GUILD_CAP_CAPTURE_SAFE 1

/**
 * Operation capability: equal inputs give equal bits, for any worker count.
 */
#define GUILD_CAP_DETERMINISTIC 2

/**
 * Operation capability: a row's result doesn't depend on the other rows.
 */
#define GUILD_CAP_BATCH_INVARIANT 4

/**
 * Operation capability: one instance may execute on several threads at once.
 */
#define GUILD_CAP_REENTRANT 8

/**
 * Operation capability: adds to the output instead of replacing it.
 */
#define GUILD_CAP_ACCUMULATES 16

/**
 * Operation capability: the outputs may alias the inputs that the contract names.
 */
#define GUILD_CAP_INPLACE 32

/**
 * Operation capability: weights must be prepacked before `prepare`.
 */
#define GUILD_CAP_NEEDS_PREPACK 64

/**
 * Operation capability: `execute` may return `PENDING`.
 */
#define GUILD_CAP_HOST_ASYNC 128

/**
 * Operation capability: accepts a part of the experts.
 */
#define GUILD_CAP_PARTIAL_EXPERTS 256

/**
 * Operation capability: reads weights in place from a file mapping.
 */
#define GUILD_CAP_MMAP_WEIGHTS 512

/**
 * Operation capability: touches the disk in `execute`.
 */
#define GUILD_CAP_TOUCHES_DISK 1024

/**
 * Plugin capability (word 0): starts threads of its own.
 */
#define GUILD_PLUGIN_OWN_THREADS 1

/**
 * Plugin capability: passed the unload check.
 */
#define GUILD_PLUGIN_UNLOADABLE 2

/**
 * Plugin capability: asks to stay mapped for ever.
 */
#define GUILD_PLUGIN_RESIDENT 4

/**
 * Scratch lifetime: per instance, zeroed once.
 */
#define GUILD_SCRATCH_PERSIST 1

/**
 * Scratch lifetime: shared arena, garbage at the start of each call.
 */
#define GUILD_SCRATCH_CALL 2

/**
 * State kind: grows by one entry a position, in pages; truncating rolls back.
 */
#define GUILD_STATE_APPEND 1

/**
 * State kind: overwritten at every position; a snapshot rolls back.
 */
#define GUILD_STATE_RECURRENT 2

/**
 * Positions in one page of an append-only state.
 */
#define GUILD_PAGE_POSITIONS 256

/**
 * Refusal reason: an operand's element type or quantisation.
 */
#define GUILD_REFUSAL_FORMAT 1

/**
 * Refusal reason: an operand's shape or stride.
 */
#define GUILD_REFUSAL_SHAPE 2

/**
 * Refusal reason: the processor lacks an instruction set, or the system doesn't save its state.
 */
#define GUILD_REFUSAL_ISA 3

/**
 * Refusal reason: the device doesn't fit.
 */
#define GUILD_REFUSAL_DEVICE 4

/**
 * Refusal reason: the driver is too old or absent.
 */
#define GUILD_REFUSAL_DRIVER 5

/**
 * Refusal reason: memory.
 */
#define GUILD_REFUSAL_MEMORY 6

/**
 * Refusal reason: exactness class or another policy.
 */
#define GUILD_REFUSAL_POLICY 7

/**
 * Refusal reason: a parameter's value.
 */
#define GUILD_REFUSAL_PARAMS 8

/**
 * Refusal reason: the phase isn't served.
 */
#define GUILD_REFUSAL_PHASE 9

/**
 * Log level of `guild_host_v1.log`: something failed.
 */
#define GUILD_LOG_ERROR 1

/**
 * Log level: something is odd.
 */
#define GUILD_LOG_WARN 2

/**
 * Log level: progress.
 */
#define GUILD_LOG_INFO 3

/**
 * Log level: for developers.
 */
#define GUILD_LOG_DEBUG 4

/**
 * Outcome of a call: 0 is success, positive a soft outcome, negative an error. An unknown
 * negative value reads as `GUILD_STATUS_ERR_INTERNAL`; an unknown positive one is an error too.
 */
typedef int32_t guild_status;

/**
 * Header of every cold struct. 16 bytes.
 */
typedef struct guild_hdr {
    /**
     * Bytes of the whole struct as its writer knows it.
     */
    uint32_t size;
    /**
     * One of `GUILD_KIND_*`; catches a wrong pointer.
     */
    uint16_t kind;
    /**
     * Low byte ignorable, high byte must be understood.
     */
    uint16_t flags;
    /**
     * Next struct of an extension chain, or null. Unknown kinds are skipped.
     */
    const struct guild_hdr *next;
} guild_hdr;

/**
 * Borrowed UTF-8 text, not NUL-terminated. 16 bytes.
 */
typedef struct guild_str {
    /**
     * First byte; may be null when `len` is 0.
     */
    const uint8_t *ptr;
    /**
     * Bytes.
     */
    uint64_t len;
} guild_str;

/**
 * Where a callee writes its error text; the caller owns it. 48 bytes.
 */
typedef struct guild_err {
    /**
     * Header, `GUILD_KIND_ERR`.
     */
    struct guild_hdr h;
    /**
     * The status that the call returned.
     */
    guild_status code;
    /**
     * Number of the vendor's own error, such as a CUDA result.
     */
    int32_t vendor_code;
    /**
     * Names the space of `vendor_code`; 0 is none.
     */
    uint32_t vendor_domain;
    /**
     * Bytes that `buf` can hold.
     */
    uint32_t cap;
    /**
     * Bytes that the text has; more than `cap` when it was cut.
     */
    uint32_t len;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * The caller's buffer; may be null when `cap` is 0.
     */
    uint8_t *buf;
} guild_err;

/**
 * How a quantised tensor is stored. 72 bytes.
 */
typedef struct guild_quant {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * One of `GUILD_FORMAT_*` or a number from `guild.formats/1`.
     */
    uint32_t format;
    /**
     * Elements in one storage block.
     */
    uint32_t block_elems;
    /**
     * Bytes in one storage block.
     */
    uint32_t block_bytes;
    /**
     * Axis along which blocks lie.
     */
    uint16_t axis;
    /**
     * Packed layout, one of `GUILD_LAYOUT_*`; a provider declines one that it doesn't know.
     */
    uint16_t layout;
    /**
     * Elements that share a separate scale; 0 when scales are inside the blocks.
     */
    uint32_t group;
    /**
     * Separate scales, or null.
     */
    const void *scale;
    /**
     * Separate zero points, or null.
     */
    const void *zero;
    /**
     * Bytes at `scale`.
     */
    uint64_t scale_bytes;
    /**
     * Bytes at `zero`.
     */
    uint64_t zero_bytes;
    /**
     * Zero.
     */
    uint64_t reserved[2];
} guild_quant;

/**
 * A tensor: inline shape, byte strides, outermost axis first. 160 bytes.
 */
typedef struct guild_tensor {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * Axes in use, 1 to 6.
     */
    uint8_t rank;
    /**
     * One of `GUILD_SPACE_*`.
     */
    uint8_t space;
    /**
     * `GUILD_TENSOR_*` bits.
     */
    uint8_t flags;
    /**
     * Zero.
     */
    uint8_t pad0;
    /**
     * Device number; 0 is the host.
     */
    uint32_t device;
    /**
     * One of `GUILD_FORMAT_*` or a number from `guild.formats/1`.
     */
    uint32_t format;
    /**
     * Bytes that may be accessed from `data` on.
     */
    uint64_t byte_len;
    /**
     * First element; any offset is already applied.
     */
    void *data;
    /**
     * Elements along each axis; with `GUILD_TENSOR_DYNAMIC_ROWS`, `shape[0]` is the bound.
     */
    uint64_t shape[6];
    /**
     * Bytes from one element to the next along an axis; for a quantised format, on the innermost
     * axis, from one storage block to the next.
     */
    int64_t stride[6];
    /**
     * Description of a quantised format or of a packed layout, or null.
     */
    const struct guild_quant *quant;
    /**
     * Stable identity of a weight's bytes; 0 for none.
     */
    uint64_t content_id;
    /**
     * Zero.
     */
    uint64_t reserved[2];
} guild_tensor;

/**
 * A queue of a device; the host's own device has none. 24 bytes.
 */
typedef struct guild_stream {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * Names the type behind `native`.
     */
    uint32_t kind;
    /**
     * The driver's stream handle.
     */
    void *native;
    /**
     * Device number.
     */
    uint32_t device;
    /**
     * 1 while the host captures a graph.
     */
    uint32_t capturing;
} guild_stream;

/**
 * One chunk of a parallel loop: items `lo..hi`, on worker `worker`. Runs to completion on one
 * thread; may wait only for chunks with lower numbers.
 */
typedef void (*guild_range_fn)(void *user, uint64_t lo, uint64_t hi, uint32_t worker);

/**
 * The host's thread pool. 40 bytes.
 */
typedef struct guild_par {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * Upper bound (exclusive) of the worker number.
     */
    uint32_t workers;
    /**
     * First argument of `par_for`.
     */
    void *ctx;
    /**
     * Splits `0..n` into chunks of `grain` items (the last may be shorter) and runs them; returns
     * when all are done. Chunks start in ascending order. A nested call runs inline. `[inst]`
     */
    guild_status (*par_for)(void *ctx,
                            uint64_t n,
                            uint64_t grain,
                            uint32_t domain,
                            guild_range_fn function,
                            void *user);
    /**
     * Zero.
     */
    uint64_t reserved[2];
} guild_par;

/**
 * One scratch buffer that a provider asks for. 32 bytes.
 */
typedef struct guild_scratch_slot {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * One of `GUILD_SPACE_*`.
     */
    uint8_t space;
    /**
     * `GUILD_SCRATCH_PERSIST` or `GUILD_SCRATCH_CALL`.
     */
    uint8_t lifetime;
    /**
     * Zero.
     */
    uint8_t pad[2];
    /**
     * Bytes.
     */
    uint64_t bytes;
    /**
     * Alignment in bytes, a power of two.
     */
    uint64_t align;
    /**
     * Zero.
     */
    uint64_t reserved;
} guild_scratch_slot;

/**
 * One sequence's part of a batch. 48 bytes.
 */
typedef struct guild_batch_seq {
    /**
     * Slot of the sequence in recurrent states.
     */
    uint32_t slot;
    /**
     * First row of the sequence in this call.
     */
    uint32_t first_row;
    /**
     * Rows of the sequence in this call.
     */
    uint32_t rows;
    /**
     * Entries of `pages`.
     */
    uint32_t page_count;
    /**
     * Absolute position of the first row.
     */
    uint64_t position;
    /**
     * Page numbers in append-only states; entry `i` holds positions `256 i` to `256 i + 255`.
     */
    const uint32_t *pages;
    /**
     * For each row the slot that takes the recurrent state after it, or null.
     */
    const uint32_t *snapshot_slots;
    /**
     * Zero.
     */
    uint64_t reserved;
} guild_batch_seq;

/**
 * What one call works on; the host rewrites it between calls, its address never changes. 64 bytes.
 */
typedef struct guild_batch {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * Entries of `seqs`.
     */
    uint32_t seq_count;
    /**
     * The sequences, by ascending `first_row`, without gaps.
     */
    const struct guild_batch_seq *seqs;
    /**
     * Bytes from one entry of `seqs` to the next.
     */
    uint64_t seq_stride;
    /**
     * Rows in this call.
     */
    uint64_t rows;
    /**
     * Rows whose logits are wanted.
     */
    uint64_t outputs;
    /**
     * Running number of the call, for crash records.
     */
    uint64_t token;
    /**
     * Zero.
     */
    uint64_t reserved[2];
} guild_batch;

/**
 * A state operand: KV pages or recurrent slots of all sequences. 80 bytes.
 */
typedef struct guild_state {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * `GUILD_STATE_APPEND` or `GUILD_STATE_RECURRENT`.
     */
    uint32_t kind;
    /**
     * Element format.
     */
    uint32_t format;
    /**
     * Pages or slots.
     */
    uint32_t count;
    /**
     * First page or slot.
     */
    void *data;
    /**
     * Bytes from one page or slot to the next.
     */
    uint64_t stride;
    /**
     * Shape of one page (`[kv_heads, 256, head_dim]`) or of one slot, outermost axis first; unused
     * axes are 1.
     */
    uint64_t shape[4];
    /**
     * Zero.
     */
    uint64_t reserved[2];
} guild_state;

/**
 * The argument block of one step; built once at binding, never patched per token. 128 bytes.
 */
typedef struct guild_exec {
    /**
     * Bytes of this struct.
     */
    uint32_t size;
    /**
     * Zero.
     */
    uint32_t flags;
    /**
     * Entries of `inputs`.
     */
    uint32_t n_in;
    /**
     * Entries of `outputs`.
     */
    uint32_t n_out;
    /**
     * Input tensors in the contract's order, weights included.
     */
    const struct guild_tensor *const *inputs;
    /**
     * Output tensors in the contract's order.
     */
    struct guild_tensor *const *outputs;
    /**
     * Entries of `states`.
     */
    uint32_t n_state;
    /**
     * Entries of `scratch`.
     */
    uint32_t n_scratch;
    /**
     * State operands in the contract's order.
     */
    const struct guild_state *const *states;
    /**
     * Scratch buffers in the order that the provider declared.
     */
    void *const *scratch;
    /**
     * The operation's parameter struct.
     */
    const void *params;
    /**
     * Bytes at `params`.
     */
    uint64_t params_size;
    /**
     * Number of rows in this call, for tensors with `GUILD_TENSOR_DYNAMIC_ROWS`.
     */
    const uint64_t *rows;
    /**
     * The batch table.
     */
    const struct guild_batch *batch;
    /**
     * The device's stream, or null on the host.
     */
    const struct guild_stream *stream;
    /**
     * The thread pool; null means one thread.
     */
    const struct guild_par *par;
    /**
     * Where to write an error's text.
     */
    struct guild_err *err;
    /**
     * Zero.
     */
    uint64_t reserved[2];
} guild_exec;

/**
 * Maxima that scratch and instances are sized for. 80 bytes.
 */
typedef struct guild_bounds {
    /**
     * Header, `GUILD_KIND_BOUNDS`.
     */
    struct guild_hdr h;
    /**
     * Rows in one call.
     */
    uint64_t max_rows;
    /**
     * Output rows in one call.
     */
    uint64_t max_outputs;
    /**
     * Sequences in one call.
     */
    uint64_t max_sequences;
    /**
     * Positions of one sequence.
     */
    uint64_t max_positions;
    /**
     * Workers of the thread pool.
     */
    uint32_t workers;
    /**
     * Zero.
     */
    uint32_t reserved0;
    /**
     * Zero.
     */
    uint64_t reserved[3];
} guild_bounds;

/**
 * One operation that a plugin provides. 176 bytes.
 */
typedef struct guild_op_desc {
    /**
     * Header, `GUILD_KIND_OP_DESC`.
     */
    struct guild_hdr h;
    /**
     * Operation without its version: `guild.core.rms_norm`.
     */
    struct guild_str name;
    /**
     * Implementation id: `cpu.rms_norm.avx512`.
     */
    struct guild_str implementation;
    /**
     * First version served.
     */
    uint32_t op_min;
    /**
     * Last version served.
     */
    uint32_t op_max;
    /**
     * SHA-256 of the contract's canonical text.
     */
    uint8_t contract[32];
    /**
     * `GUILD_CAP_*` bits.
     */
    uint64_t caps[2];
    /**
     * `GUILD_PHASE_*` bits.
     */
    uint32_t phases;
    /**
     * `GUILD_CLASS_*`.
     */
    uint32_t exactness;
    /**
     * Order among this plugin's own implementations of one operation; higher is preferred.
     */
    int32_t rank;
    /**
     * Entries of `formats`.
     */
    uint32_t n_formats;
    /**
     * Weight formats served, for listings; `supports` decides.
     */
    const uint32_t *formats;
    /**
     * Name and version of the chain that this fused operation replaces, or empty.
     */
    struct guild_str replaces;
    /**
     * Zero.
     */
    uint64_t reserved[4];
} guild_op_desc;

/**
 * What the host asks a provider for. 128 bytes.
 */
typedef struct guild_op_req {
    /**
     * Header, `GUILD_KIND_OP_REQ`.
     */
    struct guild_hdr h;
    /**
     * Operation without its version.
     */
    struct guild_str name;
    /**
     * Version wanted.
     */
    uint32_t version;
    /**
     * One of `GUILD_PHASE_*`.
     */
    uint32_t phase;
    /**
     * The operation's parameter struct, valid during the call.
     */
    const void *params;
    /**
     * Bytes at `params`.
     */
    uint64_t params_size;
    /**
     * Entries of `inputs`.
     */
    uint32_t n_in;
    /**
     * Entries of `outputs`.
     */
    uint32_t n_out;
    /**
     * Entries of `states`.
     */
    uint32_t n_state;
    /**
     * `GUILD_CLASS_*` bits that the policy accepts.
     */
    uint32_t classes;
    /**
     * Inputs: weights with their data, activations with bounds and null data.
     */
    const struct guild_tensor *const *inputs;
    /**
     * Outputs, with bounds.
     */
    const struct guild_tensor *const *outputs;
    /**
     * States, with their page or slot shape.
     */
    const struct guild_state *const *states;
    /**
     * Maxima.
     */
    const struct guild_bounds *bounds;
    /**
     * Device number; 0 is the host.
     */
    uint32_t device;
    /**
     * Zero.
     */
    uint32_t reserved0;
    /**
     * Zero.
     */
    uint64_t reserved[2];
} guild_op_req;

/**
 * Why a provider declined, for reports and tools. 72 bytes.
 */
typedef struct guild_refusal {
    /**
     * Header, `GUILD_KIND_REFUSAL`.
     */
    struct guild_hdr h;
    /**
     * One of `GUILD_REFUSAL_*`.
     */
    uint32_t reason;
    /**
     * Operand that it is about: inputs first, then outputs, then states.
     */
    uint32_t index;
    /**
     * The value asked for.
     */
    uint64_t wanted;
    /**
     * The value that would be served, or 0.
     */
    uint64_t offered;
    /**
     * Bytes that `buf` can hold.
     */
    uint32_t cap;
    /**
     * Bytes that the text has.
     */
    uint32_t len;
    /**
     * The caller's buffer.
     */
    uint8_t *buf;
    /**
     * Zero.
     */
    uint64_t reserved[2];
} guild_refusal;

/**
 * The host's side of the wall. Outlives every call until `shutdown` returns. 144 bytes.
 */
typedef struct guild_host_v1 {
    /**
     * Header, `GUILD_KIND_HOST`.
     */
    struct guild_hdr h;
    /**
     * Newest minor version that the host speaks.
     */
    uint32_t abi_minor;
    /**
     * Oldest minor version that the host accepts.
     */
    uint32_t abi_minor_floor;
    /**
     * Zero.
     */
    uint64_t caps[2];
    /**
     * First argument of the functions below.
     */
    void *ctx;
    /**
     * Writes a log line. `[any]`
     */
    void (*log)(void *ctx, uint32_t level, struct guild_str message);
    /**
     * Allocates; null when memory is exhausted. Never in `execute`. `[any]`
     */
    void *(*alloc)(void *ctx, uint64_t bytes, uint64_t align, uint32_t tag);
    /**
     * Frees what `alloc` gave, with the same bytes and alignment. `[any]`
     */
    void (*free)(void *ctx, void *ptr, uint64_t bytes, uint64_t align);
    /**
     * An extension table by id, or null. After `init`. `[any]`
     */
    const void *(*get_extension)(void *ctx, struct guild_str id);
    /**
     * Zero.
     */
    uint64_t reserved[8];
} guild_host_v1;

/**
 * Runs one step. No allocation, lock, look-up or thread of its own. `[inst]`
 */
typedef guild_status (*guild_execute_fn)(void *inst, const struct guild_exec *x);

/**
 * The plugin's side of the wall, filled by the entry into host memory. 272 bytes.
 */
typedef struct guild_plugin_v1 {
    /**
     * Header, `GUILD_KIND_PLUGIN`.
     */
    struct guild_hdr h;
    /**
     * Minor version of the header that the plugin was built with.
     */
    uint32_t abi_minor_built;
    /**
     * Oldest minor version that the plugin can live with.
     */
    uint32_t abi_minor_min;
    /**
     * `GUILD_PLUGIN_*` bits.
     */
    uint64_t caps[2];
    /**
     * Package id: `org.guild.kernels.cpu`.
     */
    struct guild_str id;
    /**
     * Package version, SemVer.
     */
    struct guild_str version;
    /**
     * Digest that names this build, or zero.
     */
    uint8_t build_id[32];
    /**
     * First argument of the functions below.
     */
    void *self_;
    /**
     * Operations that `describe` knows.
     */
    uint32_t op_count;
    /**
     * Zero.
     */
    uint32_t reserved0;
    /**
     * Called once after the entry. `[serial]`
     */
    guild_status (*init)(void *self_,
                         uint32_t active_minor,
                         struct guild_str config,
                         struct guild_err *err);
    /**
     * Describes operation `index`; text stays valid until `shutdown`. `[any]`
     */
    guild_status (*describe)(void *self_,
                             uint32_t index,
                             struct guild_op_desc *out,
                             struct guild_err *err);
    /**
     * Whether operation `index` can serve the request: `OK` or `DECLINED`. `[any]`
     */
    guild_status (*supports)(void *self_,
                             uint32_t index,
                             const struct guild_op_req *request,
                             struct guild_refusal *out);
    /**
     * Makes an instance for the request; copies what it needs from it. `[any]`
     */
    guild_status (*create)(void *self_,
                           uint32_t index,
                           const struct guild_op_req *request,
                           void **inst,
                           struct guild_err *err);
    /**
     * Writes at most `cap` scratch slots and their number. Pure and monotone in `bounds`. `[inst]`
     */
    guild_status (*scratch)(void *self_,
                            void *inst,
                            const struct guild_bounds *bounds,
                            struct guild_scratch_slot *slots,
                            uint32_t cap,
                            uint32_t *count,
                            struct guild_err *err);
    /**
     * Rewrites a weight into the instance's layout; absent where weights are used in place. `[inst]`
     */
    guild_status (*prepack)(void *self_,
                            void *inst,
                            const struct guild_tensor *input,
                            struct guild_tensor *output,
                            struct guild_err *err);
    /**
     * Loads everything that the first `execute` needs and hands out its pointer. `[inst]`
     */
    guild_status (*prepare)(void *self_,
                            void *inst,
                            const struct guild_stream *stream,
                            guild_execute_fn *function,
                            struct guild_err *err);
    /**
     * Ends an instance. `[inst]`
     */
    void (*destroy)(void *self_, void *inst);
    /**
     * An extension table of the plugin by id, or null. `[any]`
     */
    const void *(*get_extension)(void *self_, struct guild_str id);
    /**
     * Stops threads and async work. `[serial]`
     */
    guild_status (*quiesce)(void *self_, uint64_t timeout_ns, struct guild_err *err);
    /**
     * Ends the plugin; no call follows. `[serial]`
     */
    void (*shutdown)(void *self_);
    /**
     * Zero.
     */
    uint64_t reserved[8];
} guild_plugin_v1;

/**
 * The one symbol that a plugin exports, as `guild_plugin_entry_v1`. Only `log`, `alloc` and `free`
 * of the host may be used inside it. `[serial]`
 */
typedef guild_status (*guild_plugin_entry_fn)(const struct guild_host_v1 *host,
                                              struct guild_plugin_v1 *out,
                                              struct guild_err *err);

/**
 * Success.
 */
#define GUILD_STATUS_OK 0

/**
 * The provider can't serve this request; a `guild_refusal` says why.
 */
#define GUILD_STATUS_DECLINED 1

/**
 * Work was accepted and completes later.
 */
#define GUILD_STATUS_PENDING 2

/**
 * An argument breaks the contract.
 */
#define GUILD_STATUS_ERR_INVALID (-1)

/**
 * The feature isn't implemented here.
 */
#define GUILD_STATUS_ERR_UNSUPPORTED (-2)

/**
 * Host memory is exhausted.
 */
#define GUILD_STATUS_ERR_NOMEM_HOST (-3)

/**
 * Device memory is exhausted.
 */
#define GUILD_STATUS_ERR_NOMEM_DEVICE (-4)

/**
 * The device is gone.
 */
#define GUILD_STATUS_ERR_DEVICE_LOST (-5)

/**
 * A fault inside the callee.
 */
#define GUILD_STATUS_ERR_INTERNAL (-6)

/**
 * The callee panicked; the instance is poisoned.
 */
#define GUILD_STATUS_ERR_PANIC (-7)

/**
 * The two sides don't speak the same ABI.
 */
#define GUILD_STATUS_ERR_ABI (-8)

/**
 * The call isn't allowed at this moment.
 */
#define GUILD_STATUS_ERR_BUSY (-9)

/**
 * The work was cancelled.
 */
#define GUILD_STATUS_ERR_CANCELLED (-10)

/**
 * The time limit passed.
 */
#define GUILD_STATUS_ERR_TIMEOUT (-11)

/**
 * A scratch buffer is smaller than the provider declared.
 */
#define GUILD_STATUS_ERR_SCRATCH_SMALL (-12)

/**
 * The operation can't run while a graph is captured.
 */
#define GUILD_STATUS_ERR_CAPTURE (-13)

/**
 * The instance failed before; only `destroy` may follow.
 */
#define GUILD_STATUS_ERR_POISONED (-14)

/**
 * Policy forbids it.
 */
#define GUILD_STATUS_ERR_DENIED (-15)

/**
 * A session still uses the package.
 */
#define GUILD_STATUS_ERR_ACTIVE_SESSION_BUSY (-16)

/**
 * The named thing doesn't exist.
 */
#define GUILD_STATUS_ERR_NOT_FOUND (-17)

/**
 * The one symbol that a plugin exports; see guild_plugin_entry_fn.
 */
guild_status guild_plugin_entry_v1(const guild_host_v1 *host, guild_plugin_v1 *out, guild_err *err);

#ifdef __cplusplus
}
#endif

#endif /* GUILD_ABI_H */
