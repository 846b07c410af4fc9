//! Entry, tables, tensors, execution: becomes `guild/abi.h`.

use core::ffi::c_void;

/// Outcome of a call: 0 is success, positive a soft outcome, negative an error. An unknown
/// negative value reads as `GUILD_STATUS_ERR_INTERNAL`; an unknown positive one is an error too.
pub type guild_status = i32;

/// Success.
pub const GUILD_STATUS_OK: guild_status = 0;
/// The provider can't serve this request; a `guild_refusal` says why.
pub const GUILD_STATUS_DECLINED: guild_status = 1;
/// Work was accepted and completes later.
pub const GUILD_STATUS_PENDING: guild_status = 2;
/// An argument breaks the contract.
pub const GUILD_STATUS_ERR_INVALID: guild_status = -1;
/// The feature isn't implemented here.
pub const GUILD_STATUS_ERR_UNSUPPORTED: guild_status = -2;
/// Host memory is exhausted.
pub const GUILD_STATUS_ERR_NOMEM_HOST: guild_status = -3;
/// Device memory is exhausted.
pub const GUILD_STATUS_ERR_NOMEM_DEVICE: guild_status = -4;
/// The device is gone.
pub const GUILD_STATUS_ERR_DEVICE_LOST: guild_status = -5;
/// A fault inside the callee.
pub const GUILD_STATUS_ERR_INTERNAL: guild_status = -6;
/// The callee panicked; the instance is poisoned.
pub const GUILD_STATUS_ERR_PANIC: guild_status = -7;
/// The two sides don't speak the same ABI.
pub const GUILD_STATUS_ERR_ABI: guild_status = -8;
/// The call isn't allowed at this moment.
pub const GUILD_STATUS_ERR_BUSY: guild_status = -9;
/// The work was cancelled.
pub const GUILD_STATUS_ERR_CANCELLED: guild_status = -10;
/// The time limit passed.
pub const GUILD_STATUS_ERR_TIMEOUT: guild_status = -11;
/// A scratch buffer is smaller than the provider declared.
pub const GUILD_STATUS_ERR_SCRATCH_SMALL: guild_status = -12;
/// The operation can't run while a graph is captured.
pub const GUILD_STATUS_ERR_CAPTURE: guild_status = -13;
/// The instance failed before; only `destroy` may follow.
pub const GUILD_STATUS_ERR_POISONED: guild_status = -14;
/// Policy forbids it.
pub const GUILD_STATUS_ERR_DENIED: guild_status = -15;
/// A session still uses the package.
pub const GUILD_STATUS_ERR_ACTIVE_SESSION_BUSY: guild_status = -16;
/// The named thing doesn't exist.
pub const GUILD_STATUS_ERR_NOT_FOUND: guild_status = -17;

/// Major version of the kernel ABI; also the suffix of the entry symbol.
pub const GUILD_KERNEL_ABI_VERSION_V1: u32 = 1;
/// Major version of the module ABI.
pub const GUILD_MODULE_ABI_VERSION_V1: u32 = 1;
/// Newest minor version that this header describes.
pub const GUILD_ABI_MINOR: u32 = 0;
/// Oldest minor version that this header's host accepts.
pub const GUILD_ABI_MINOR_FLOOR: u32 = 0;

/// `guild_hdr.kind` of a `guild_host_v1`.
pub const GUILD_KIND_HOST: u16 = 1;
/// `guild_hdr.kind` of a `guild_plugin_v1`.
pub const GUILD_KIND_PLUGIN: u16 = 2;
/// `guild_hdr.kind` of a `guild_err`.
pub const GUILD_KIND_ERR: u16 = 3;
/// `guild_hdr.kind` of a `guild_op_desc`.
pub const GUILD_KIND_OP_DESC: u16 = 4;
/// `guild_hdr.kind` of a `guild_op_req`.
pub const GUILD_KIND_OP_REQ: u16 = 5;
/// `guild_hdr.kind` of a `guild_refusal`.
pub const GUILD_KIND_REFUSAL: u16 = 6;
/// `guild_hdr.kind` of a `guild_bounds`.
pub const GUILD_KIND_BOUNDS: u16 = 7;
/// `guild_hdr.kind` of an extension table.
pub const GUILD_KIND_EXTENSION: u16 = 8;
/// `guild_hdr.kind` of a description record of an extension.
pub const GUILD_KIND_RECORD: u16 = 9;
/// The part of `guild_hdr.flags` that a reader must understand or refuse with `ERR_ABI`.
pub const GUILD_FLAGS_MUST_UNDERSTAND: u16 = 0xff00;

/// Tensor memory: ordinary host memory.
pub const GUILD_SPACE_HOST: u8 = 0;
/// Tensor memory: page-locked host memory.
pub const GUILD_SPACE_PINNED: u8 = 1;
/// Tensor memory: on a device.
pub const GUILD_SPACE_DEVICE: u8 = 2;
/// Tensor memory: managed by a driver, visible to both.
pub const GUILD_SPACE_MANAGED: u8 = 3;
/// Tensor memory: a read-only file mapping.
pub const GUILD_SPACE_FILE: u8 = 4;

/// Tensor flag: never written.
pub const GUILD_TENSOR_READ_ONLY: u8 = 1;
/// Tensor flag: rows follow each other without gaps.
pub const GUILD_TENSOR_CONTIGUOUS: u8 = 2;
/// Tensor flag: axis 0 is the number of rows in this call; read `guild_exec.rows`, not `shape[0]`.
pub const GUILD_TENSOR_DYNAMIC_ROWS: u8 = 4;

/// Phase of binding: many rows of a prompt.
pub const GUILD_PHASE_PREFILL: u32 = 1;
/// Phase of binding: one row a sequence.
pub const GUILD_PHASE_DECODE: u32 = 2;
/// Phase of binding: a few draft rows that may be rolled back.
pub const GUILD_PHASE_VERIFY: u32 = 4;

/// Exactness class: the result is defined to the bit (`docs/numerics.md`).
pub const GUILD_CLASS_EXACT: u32 = 1;
/// Exactness class: bounded error against the oracle.
pub const GUILD_CLASS_TOLERANT: u32 = 2;

/// Operation capability (word 0): may be recorded into a device graph.
pub const GUILD_CAP_CAPTURE_SAFE: u64 = 1;
/// Operation capability: equal inputs give equal bits, for any worker count.
pub const GUILD_CAP_DETERMINISTIC: u64 = 2;
/// Operation capability: a row's result doesn't depend on the other rows.
pub const GUILD_CAP_BATCH_INVARIANT: u64 = 4;
/// Operation capability: one instance may execute on several threads at once.
pub const GUILD_CAP_REENTRANT: u64 = 8;
/// Operation capability: adds to the output instead of replacing it.
pub const GUILD_CAP_ACCUMULATES: u64 = 16;
/// Operation capability: the outputs may alias the inputs that the contract names.
pub const GUILD_CAP_INPLACE: u64 = 32;
/// Operation capability: weights must be prepacked before `prepare`.
pub const GUILD_CAP_NEEDS_PREPACK: u64 = 64;
/// Operation capability: `execute` may return `PENDING`.
pub const GUILD_CAP_HOST_ASYNC: u64 = 128;
/// Operation capability: accepts a part of the experts.
pub const GUILD_CAP_PARTIAL_EXPERTS: u64 = 256;
/// Operation capability: reads weights in place from a file mapping.
pub const GUILD_CAP_MMAP_WEIGHTS: u64 = 512;
/// Operation capability: touches the disk in `execute`.
pub const GUILD_CAP_TOUCHES_DISK: u64 = 1024;

/// Plugin capability (word 0): starts threads of its own.
pub const GUILD_PLUGIN_OWN_THREADS: u64 = 1;
/// Plugin capability: passed the unload check.
pub const GUILD_PLUGIN_UNLOADABLE: u64 = 2;
/// Plugin capability: asks to stay mapped for ever.
pub const GUILD_PLUGIN_RESIDENT: u64 = 4;

/// Scratch lifetime: per instance, zeroed once.
pub const GUILD_SCRATCH_PERSIST: u8 = 1;
/// Scratch lifetime: shared arena, garbage at the start of each call.
pub const GUILD_SCRATCH_CALL: u8 = 2;

/// State kind: grows by one entry a position, in pages; truncating rolls back.
pub const GUILD_STATE_APPEND: u32 = 1;
/// State kind: overwritten at every position; a snapshot rolls back.
pub const GUILD_STATE_RECURRENT: u32 = 2;
/// Positions in one page of an append-only state.
pub const GUILD_PAGE_POSITIONS: u32 = 256;

/// Refusal reason: an operand's element type or quantisation.
pub const GUILD_REFUSAL_FORMAT: u32 = 1;
/// Refusal reason: an operand's shape or stride.
pub const GUILD_REFUSAL_SHAPE: u32 = 2;
/// Refusal reason: the processor lacks an instruction set, or the system doesn't save its state.
pub const GUILD_REFUSAL_ISA: u32 = 3;
/// Refusal reason: the device doesn't fit.
pub const GUILD_REFUSAL_DEVICE: u32 = 4;
/// Refusal reason: the driver is too old or absent.
pub const GUILD_REFUSAL_DRIVER: u32 = 5;
/// Refusal reason: memory.
pub const GUILD_REFUSAL_MEMORY: u32 = 6;
/// Refusal reason: exactness class or another policy.
pub const GUILD_REFUSAL_POLICY: u32 = 7;
/// Refusal reason: a parameter's value.
pub const GUILD_REFUSAL_PARAMS: u32 = 8;
/// Refusal reason: the phase isn't served.
pub const GUILD_REFUSAL_PHASE: u32 = 9;

/// Log level of `guild_host_v1.log`: something failed.
pub const GUILD_LOG_ERROR: u32 = 1;
/// Log level: something is odd.
pub const GUILD_LOG_WARN: u32 = 2;
/// Log level: progress.
pub const GUILD_LOG_INFO: u32 = 3;
/// Log level: for developers.
pub const GUILD_LOG_DEBUG: u32 = 4;

/// Header of every cold struct. 16 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_hdr {
    /// Bytes of the whole struct as its writer knows it.
    pub size: u32,
    /// One of `GUILD_KIND_*`; catches a wrong pointer.
    pub kind: u16,
    /// Low byte ignorable, high byte must be understood.
    pub flags: u16,
    /// Next struct of an extension chain, or null. Unknown kinds are skipped.
    pub next: *const guild_hdr,
}

/// Borrowed UTF-8 text, not NUL-terminated. 16 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_str {
    /// First byte; may be null when `len` is 0.
    pub ptr: *const u8,
    /// Bytes.
    pub len: u64,
}

/// Where a callee writes its error text; the caller owns it. 48 bytes.
#[repr(C)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_err {
    /// Header, `GUILD_KIND_ERR`.
    pub h: guild_hdr,
    /// The status that the call returned.
    pub code: guild_status,
    /// Number of the vendor's own error, such as a CUDA result.
    pub vendor_code: i32,
    /// Names the space of `vendor_code`; 0 is none.
    pub vendor_domain: u32,
    /// Bytes that `buf` can hold.
    pub cap: u32,
    /// Bytes that the text has; more than `cap` when it was cut.
    pub len: u32,
    /// Zero.
    pub reserved: u32,
    /// The caller's buffer; may be null when `cap` is 0.
    pub buf: *mut u8,
}

/// How a quantised tensor is stored. 72 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_quant {
    /// Bytes of this struct.
    pub size: u32,
    /// One of `GUILD_FORMAT_*` or a number from `guild.formats/1`.
    pub format: u32,
    /// Elements in one storage block.
    pub block_elems: u32,
    /// Bytes in one storage block.
    pub block_bytes: u32,
    /// Axis along which blocks lie.
    pub axis: u16,
    /// Packed layout, one of `GUILD_LAYOUT_*`; a provider declines one that it doesn't know.
    pub layout: u16,
    /// Elements that share a separate scale; 0 when scales are inside the blocks.
    pub group: u32,
    /// Separate scales, or null.
    pub scale: *const c_void,
    /// Separate zero points, or null.
    pub zero: *const c_void,
    /// Bytes at `scale`.
    pub scale_bytes: u64,
    /// Bytes at `zero`.
    pub zero_bytes: u64,
    /// Zero.
    pub reserved: [u64; 2],
}

/// A tensor: inline shape, byte strides, outermost axis first. 160 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_tensor {
    /// Bytes of this struct.
    pub size: u32,
    /// Axes in use, 1 to 6.
    pub rank: u8,
    /// One of `GUILD_SPACE_*`.
    pub space: u8,
    /// `GUILD_TENSOR_*` bits.
    pub flags: u8,
    /// Zero.
    pub pad0: u8,
    /// Device number; 0 is the host.
    pub device: u32,
    /// One of `GUILD_FORMAT_*` or a number from `guild.formats/1`.
    pub format: u32,
    /// Bytes that may be accessed from `data` on.
    pub byte_len: u64,
    /// First element; any offset is already applied.
    pub data: *mut c_void,
    /// Elements along each axis; with `GUILD_TENSOR_DYNAMIC_ROWS`, `shape[0]` is the bound.
    pub shape: [u64; 6],
    /// Bytes from one element to the next along an axis; for a quantised format, on the innermost
    /// axis, from one storage block to the next.
    pub stride: [i64; 6],
    /// Description of a quantised format or of a packed layout, or null.
    pub quant: *const guild_quant,
    /// Stable identity of a weight's bytes; 0 for none.
    pub content_id: u64,
    /// Zero.
    pub reserved: [u64; 2],
}

/// A queue of a device; the host's own device has none. 24 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_stream {
    /// Bytes of this struct.
    pub size: u32,
    /// Names the type behind `native`.
    pub kind: u32,
    /// The driver's stream handle.
    pub native: *mut c_void,
    /// Device number.
    pub device: u32,
    /// 1 while the host captures a graph.
    pub capturing: u32,
}

/// One chunk of a parallel loop: items `lo..hi`, on worker `worker`. Runs to completion on one
/// thread; may wait only for chunks with lower numbers.
pub type guild_range_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, lo: u64, hi: u64, worker: u32)>;

/// The host's thread pool. 40 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_par {
    /// Bytes of this struct.
    pub size: u32,
    /// Upper bound (exclusive) of the worker number.
    pub workers: u32,
    /// First argument of `par_for`.
    pub ctx: *mut c_void,
    /// Splits `0..n` into chunks of `grain` items (the last may be shorter) and runs them; returns
    /// when all are done. Chunks start in ascending order. A nested call runs inline. `[inst]`
    pub par_for: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            n: u64,
            grain: u64,
            domain: u32,
            function: guild_range_fn,
            user: *mut c_void,
        ) -> guild_status,
    >,
    /// Zero.
    pub reserved: [u64; 2],
}

/// One scratch buffer that a provider asks for. 32 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_scratch_slot {
    /// Bytes of this struct.
    pub size: u32,
    /// One of `GUILD_SPACE_*`.
    pub space: u8,
    /// `GUILD_SCRATCH_PERSIST` or `GUILD_SCRATCH_CALL`.
    pub lifetime: u8,
    /// Zero.
    pub pad: [u8; 2],
    /// Bytes.
    pub bytes: u64,
    /// Alignment in bytes, a power of two.
    pub align: u64,
    /// Zero.
    pub reserved: u64,
}

/// One sequence's part of a batch. 48 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_batch_seq {
    /// Slot of the sequence in recurrent states.
    pub slot: u32,
    /// First row of the sequence in this call.
    pub first_row: u32,
    /// Rows of the sequence in this call.
    pub rows: u32,
    /// Entries of `pages`.
    pub page_count: u32,
    /// Absolute position of the first row.
    pub position: u64,
    /// Page numbers in append-only states; entry `i` holds positions `256 i` to `256 i + 255`.
    pub pages: *const u32,
    /// For each row the slot that takes the recurrent state after it, or null.
    pub snapshot_slots: *const u32,
    /// Zero.
    pub reserved: u64,
}

/// What one call works on; the host rewrites it between calls, its address never changes. 64 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_batch {
    /// Bytes of this struct.
    pub size: u32,
    /// Entries of `seqs`.
    pub seq_count: u32,
    /// The sequences, by ascending `first_row`, without gaps.
    pub seqs: *const guild_batch_seq,
    /// Bytes from one entry of `seqs` to the next.
    pub seq_stride: u64,
    /// Rows in this call.
    pub rows: u64,
    /// Rows whose logits are wanted.
    pub outputs: u64,
    /// Running number of the call, for crash records.
    pub token: u64,
    /// Zero.
    pub reserved: [u64; 2],
}

/// A state operand: KV pages or recurrent slots of all sequences. 80 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_state {
    /// Bytes of this struct.
    pub size: u32,
    /// `GUILD_STATE_APPEND` or `GUILD_STATE_RECURRENT`.
    pub kind: u32,
    /// Element format.
    pub format: u32,
    /// Pages or slots.
    pub count: u32,
    /// First page or slot.
    pub data: *mut c_void,
    /// Bytes from one page or slot to the next.
    pub stride: u64,
    /// Shape of one page (`[kv_heads, 256, head_dim]`) or of one slot, outermost axis first; unused
    /// axes are 1.
    pub shape: [u64; 4],
    /// Zero.
    pub reserved: [u64; 2],
}

/// The argument block of one step; built once at binding, never patched per token. 128 bytes.
#[repr(C)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_exec {
    /// Bytes of this struct.
    pub size: u32,
    /// Zero.
    pub flags: u32,
    /// Entries of `inputs`.
    pub n_in: u32,
    /// Entries of `outputs`.
    pub n_out: u32,
    /// Input tensors in the contract's order, weights included.
    pub inputs: *const *const guild_tensor,
    /// Output tensors in the contract's order.
    pub outputs: *const *mut guild_tensor,
    /// Entries of `states`.
    pub n_state: u32,
    /// Entries of `scratch`.
    pub n_scratch: u32,
    /// State operands in the contract's order.
    pub states: *const *const guild_state,
    /// Scratch buffers in the order that the provider declared.
    pub scratch: *const *mut c_void,
    /// The operation's parameter struct.
    pub params: *const c_void,
    /// Bytes at `params`.
    pub params_size: u64,
    /// Number of rows in this call, for tensors with `GUILD_TENSOR_DYNAMIC_ROWS`.
    pub rows: *const u64,
    /// The batch table.
    pub batch: *const guild_batch,
    /// The device's stream, or null on the host.
    pub stream: *const guild_stream,
    /// The thread pool; null means one thread.
    pub par: *const guild_par,
    /// Where to write an error's text.
    pub err: *mut guild_err,
    /// Zero.
    pub reserved: [u64; 2],
}

/// Runs one step. No allocation, lock, look-up or thread of its own. `[inst]`
pub type guild_execute_fn =
    Option<unsafe extern "C" fn(inst: *mut c_void, x: *const guild_exec) -> guild_status>;

/// Maxima that scratch and instances are sized for. 80 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_bounds {
    /// Header, `GUILD_KIND_BOUNDS`.
    pub h: guild_hdr,
    /// Rows in one call.
    pub max_rows: u64,
    /// Output rows in one call.
    pub max_outputs: u64,
    /// Sequences in one call.
    pub max_sequences: u64,
    /// Positions of one sequence.
    pub max_positions: u64,
    /// Workers of the thread pool.
    pub workers: u32,
    /// Zero.
    pub reserved0: u32,
    /// Zero.
    pub reserved: [u64; 3],
}

/// One operation that a plugin provides. 176 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_op_desc {
    /// Header, `GUILD_KIND_OP_DESC`.
    pub h: guild_hdr,
    /// Operation without its version: `guild.core.rms_norm`.
    pub name: guild_str,
    /// Implementation id: `cpu.rms_norm.avx512`.
    pub implementation: guild_str,
    /// First version served.
    pub op_min: u32,
    /// Last version served.
    pub op_max: u32,
    /// SHA-256 of the contract's canonical text.
    pub contract: [u8; 32],
    /// `GUILD_CAP_*` bits.
    pub caps: [u64; 2],
    /// `GUILD_PHASE_*` bits.
    pub phases: u32,
    /// `GUILD_CLASS_*`.
    pub exactness: u32,
    /// Order among this plugin's own implementations of one operation; higher is preferred.
    pub rank: i32,
    /// Entries of `formats`.
    pub n_formats: u32,
    /// Weight formats served, for listings; `supports` decides.
    pub formats: *const u32,
    /// Name and version of the chain that this fused operation replaces, or empty.
    pub replaces: guild_str,
    /// Zero.
    pub reserved: [u64; 4],
}

/// What the host asks a provider for. 128 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_op_req {
    /// Header, `GUILD_KIND_OP_REQ`.
    pub h: guild_hdr,
    /// Operation without its version.
    pub name: guild_str,
    /// Version wanted.
    pub version: u32,
    /// One of `GUILD_PHASE_*`.
    pub phase: u32,
    /// The operation's parameter struct, valid during the call.
    pub params: *const c_void,
    /// Bytes at `params`.
    pub params_size: u64,
    /// Entries of `inputs`.
    pub n_in: u32,
    /// Entries of `outputs`.
    pub n_out: u32,
    /// Entries of `states`.
    pub n_state: u32,
    /// `GUILD_CLASS_*` bits that the policy accepts.
    pub classes: u32,
    /// Inputs: weights with their data, activations with bounds and null data.
    pub inputs: *const *const guild_tensor,
    /// Outputs, with bounds.
    pub outputs: *const *const guild_tensor,
    /// States, with their page or slot shape.
    pub states: *const *const guild_state,
    /// Maxima.
    pub bounds: *const guild_bounds,
    /// Device number; 0 is the host.
    pub device: u32,
    /// Zero.
    pub reserved0: u32,
    /// Zero.
    pub reserved: [u64; 2],
}

/// Why a provider declined, for reports and tools. 72 bytes.
#[repr(C)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_refusal {
    /// Header, `GUILD_KIND_REFUSAL`.
    pub h: guild_hdr,
    /// One of `GUILD_REFUSAL_*`.
    pub reason: u32,
    /// Operand that it is about: inputs first, then outputs, then states.
    pub index: u32,
    /// The value asked for.
    pub wanted: u64,
    /// The value that would be served, or 0.
    pub offered: u64,
    /// Bytes that `buf` can hold.
    pub cap: u32,
    /// Bytes that the text has.
    pub len: u32,
    /// The caller's buffer.
    pub buf: *mut u8,
    /// Zero.
    pub reserved: [u64; 2],
}

/// The host's side of the wall. Outlives every call until `shutdown` returns. 144 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_host_v1 {
    /// Header, `GUILD_KIND_HOST`.
    pub h: guild_hdr,
    /// Newest minor version that the host speaks.
    pub abi_minor: u32,
    /// Oldest minor version that the host accepts.
    pub abi_minor_floor: u32,
    /// Zero.
    pub caps: [u64; 2],
    /// First argument of the functions below.
    pub ctx: *mut c_void,
    /// Writes a log line. `[any]`
    pub log: Option<unsafe extern "C" fn(ctx: *mut c_void, level: u32, message: guild_str)>,
    /// Allocates; null when memory is exhausted. Never in `execute`. `[any]`
    pub alloc: Option<
        unsafe extern "C" fn(ctx: *mut c_void, bytes: u64, align: u64, tag: u32) -> *mut c_void,
    >,
    /// Frees what `alloc` gave, with the same bytes and alignment. `[any]`
    pub free:
        Option<unsafe extern "C" fn(ctx: *mut c_void, ptr: *mut c_void, bytes: u64, align: u64)>,
    /// An extension table by id, or null. After `init`. `[any]`
    pub get_extension:
        Option<unsafe extern "C" fn(ctx: *mut c_void, id: guild_str) -> *const c_void>,
    /// Zero.
    pub reserved: [u64; 8],
}

/// The plugin's side of the wall, filled by the entry into host memory. 272 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_plugin_v1 {
    /// Header, `GUILD_KIND_PLUGIN`.
    pub h: guild_hdr,
    /// Minor version of the header that the plugin was built with.
    pub abi_minor_built: u32,
    /// Oldest minor version that the plugin can live with.
    pub abi_minor_min: u32,
    /// `GUILD_PLUGIN_*` bits.
    pub caps: [u64; 2],
    /// Package id: `org.guild.kernels.cpu`.
    pub id: guild_str,
    /// Package version, SemVer.
    pub version: guild_str,
    /// Digest that names this build, or zero.
    pub build_id: [u8; 32],
    /// First argument of the functions below.
    pub self_: *mut c_void,
    /// Operations that `describe` knows.
    pub op_count: u32,
    /// Zero.
    pub reserved0: u32,
    /// Called once after the entry. `[serial]`
    pub init: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            active_minor: u32,
            config: guild_str,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Describes operation `index`; text stays valid until `shutdown`. `[any]`
    pub describe: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            index: u32,
            out: *mut guild_op_desc,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Whether operation `index` can serve the request: `OK` or `DECLINED`. `[any]`
    pub supports: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            index: u32,
            request: *const guild_op_req,
            out: *mut guild_refusal,
        ) -> guild_status,
    >,
    /// Makes an instance for the request; copies what it needs from it. `[any]`
    pub create: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            index: u32,
            request: *const guild_op_req,
            inst: *mut *mut c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Writes at most `cap` scratch slots and their number. Pure and monotone in `bounds`. `[inst]`
    pub scratch: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            inst: *mut c_void,
            bounds: *const guild_bounds,
            slots: *mut guild_scratch_slot,
            cap: u32,
            count: *mut u32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Rewrites a weight into the instance's layout; absent where weights are used in place. `[inst]`
    pub prepack: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            inst: *mut c_void,
            input: *const guild_tensor,
            output: *mut guild_tensor,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Loads everything that the first `execute` needs and hands out its pointer. `[inst]`
    pub prepare: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            inst: *mut c_void,
            stream: *const guild_stream,
            function: *mut guild_execute_fn,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Ends an instance. `[inst]`
    pub destroy: Option<unsafe extern "C" fn(self_: *mut c_void, inst: *mut c_void)>,
    /// An extension table of the plugin by id, or null. `[any]`
    pub get_extension:
        Option<unsafe extern "C" fn(self_: *mut c_void, id: guild_str) -> *const c_void>,
    /// Stops threads and async work. `[serial]`
    pub quiesce: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            timeout_ns: u64,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Ends the plugin; no call follows. `[serial]`
    pub shutdown: Option<unsafe extern "C" fn(self_: *mut c_void)>,
    /// Zero.
    pub reserved: [u64; 8],
}

/// The one symbol that a plugin exports, as `guild_plugin_entry_v1`. Only `log`, `alloc` and `free`
/// of the host may be used inside it. `[serial]`
pub type guild_plugin_entry_fn = Option<
    unsafe extern "C" fn(
        host: *const guild_host_v1,
        out: *mut guild_plugin_v1,
        err: *mut guild_err,
    ) -> guild_status,
>;
