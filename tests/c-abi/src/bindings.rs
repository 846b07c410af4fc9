//! bindgen's reading of `include/guild/guild.h`; made by tests/c-abi, don't edit.

pub const GUILD_KERNEL_ABI_VERSION_V1: u32 = 1;
pub const GUILD_MODULE_ABI_VERSION_V1: u32 = 1;
pub const GUILD_ABI_MINOR: u32 = 0;
pub const GUILD_ABI_MINOR_FLOOR: u32 = 0;
pub const GUILD_KIND_HOST: u32 = 1;
pub const GUILD_KIND_PLUGIN: u32 = 2;
pub const GUILD_KIND_ERR: u32 = 3;
pub const GUILD_KIND_OP_DESC: u32 = 4;
pub const GUILD_KIND_OP_REQ: u32 = 5;
pub const GUILD_KIND_REFUSAL: u32 = 6;
pub const GUILD_KIND_BOUNDS: u32 = 7;
pub const GUILD_KIND_EXTENSION: u32 = 8;
pub const GUILD_KIND_RECORD: u32 = 9;
pub const GUILD_FLAGS_MUST_UNDERSTAND: u32 = 65280;
pub const GUILD_SPACE_HOST: u32 = 0;
pub const GUILD_SPACE_PINNED: u32 = 1;
pub const GUILD_SPACE_DEVICE: u32 = 2;
pub const GUILD_SPACE_MANAGED: u32 = 3;
pub const GUILD_SPACE_FILE: u32 = 4;
pub const GUILD_TENSOR_READ_ONLY: u32 = 1;
pub const GUILD_TENSOR_CONTIGUOUS: u32 = 2;
pub const GUILD_TENSOR_DYNAMIC_ROWS: u32 = 4;
pub const GUILD_PHASE_PREFILL: u32 = 1;
pub const GUILD_PHASE_DECODE: u32 = 2;
pub const GUILD_PHASE_VERIFY: u32 = 4;
pub const GUILD_CLASS_EXACT: u32 = 1;
pub const GUILD_CLASS_TOLERANT: u32 = 2;
pub const GUILD_CAP_CAPTURE_SAFE: u32 = 1;
pub const GUILD_CAP_DETERMINISTIC: u32 = 2;
pub const GUILD_CAP_BATCH_INVARIANT: u32 = 4;
pub const GUILD_CAP_REENTRANT: u32 = 8;
pub const GUILD_CAP_ACCUMULATES: u32 = 16;
pub const GUILD_CAP_INPLACE: u32 = 32;
pub const GUILD_CAP_NEEDS_PREPACK: u32 = 64;
pub const GUILD_CAP_HOST_ASYNC: u32 = 128;
pub const GUILD_CAP_PARTIAL_EXPERTS: u32 = 256;
pub const GUILD_CAP_MMAP_WEIGHTS: u32 = 512;
pub const GUILD_CAP_TOUCHES_DISK: u32 = 1024;
pub const GUILD_PLUGIN_OWN_THREADS: u32 = 1;
pub const GUILD_PLUGIN_UNLOADABLE: u32 = 2;
pub const GUILD_PLUGIN_RESIDENT: u32 = 4;
pub const GUILD_SCRATCH_PERSIST: u32 = 1;
pub const GUILD_SCRATCH_CALL: u32 = 2;
pub const GUILD_STATE_APPEND: u32 = 1;
pub const GUILD_STATE_RECURRENT: u32 = 2;
pub const GUILD_PAGE_POSITIONS: u32 = 256;
pub const GUILD_REFUSAL_FORMAT: u32 = 1;
pub const GUILD_REFUSAL_SHAPE: u32 = 2;
pub const GUILD_REFUSAL_ISA: u32 = 3;
pub const GUILD_REFUSAL_DEVICE: u32 = 4;
pub const GUILD_REFUSAL_DRIVER: u32 = 5;
pub const GUILD_REFUSAL_MEMORY: u32 = 6;
pub const GUILD_REFUSAL_POLICY: u32 = 7;
pub const GUILD_REFUSAL_PARAMS: u32 = 8;
pub const GUILD_REFUSAL_PHASE: u32 = 9;
pub const GUILD_LOG_ERROR: u32 = 1;
pub const GUILD_LOG_WARN: u32 = 2;
pub const GUILD_LOG_INFO: u32 = 3;
pub const GUILD_LOG_DEBUG: u32 = 4;
pub const GUILD_STATUS_OK: u32 = 0;
pub const GUILD_STATUS_DECLINED: u32 = 1;
pub const GUILD_STATUS_PENDING: u32 = 2;
pub const GUILD_STATUS_ERR_INVALID: i32 = -1;
pub const GUILD_STATUS_ERR_UNSUPPORTED: i32 = -2;
pub const GUILD_STATUS_ERR_NOMEM_HOST: i32 = -3;
pub const GUILD_STATUS_ERR_NOMEM_DEVICE: i32 = -4;
pub const GUILD_STATUS_ERR_DEVICE_LOST: i32 = -5;
pub const GUILD_STATUS_ERR_INTERNAL: i32 = -6;
pub const GUILD_STATUS_ERR_PANIC: i32 = -7;
pub const GUILD_STATUS_ERR_ABI: i32 = -8;
pub const GUILD_STATUS_ERR_BUSY: i32 = -9;
pub const GUILD_STATUS_ERR_CANCELLED: i32 = -10;
pub const GUILD_STATUS_ERR_TIMEOUT: i32 = -11;
pub const GUILD_STATUS_ERR_SCRATCH_SMALL: i32 = -12;
pub const GUILD_STATUS_ERR_CAPTURE: i32 = -13;
pub const GUILD_STATUS_ERR_POISONED: i32 = -14;
pub const GUILD_STATUS_ERR_DENIED: i32 = -15;
pub const GUILD_STATUS_ERR_ACTIVE_SESSION_BUSY: i32 = -16;
pub const GUILD_STATUS_ERR_NOT_FOUND: i32 = -17;
pub const GUILD_FORMAT_F32: u32 = 1;
pub const GUILD_FORMAT_F16: u32 = 2;
pub const GUILD_FORMAT_BF16: u32 = 3;
pub const GUILD_FORMAT_I32: u32 = 4;
pub const GUILD_FORMAT_I64: u32 = 5;
pub const GUILD_FORMAT_Q4_0: u32 = 16;
pub const GUILD_FORMAT_Q8_0: u32 = 17;
pub const GUILD_FORMAT_Q4_K: u32 = 18;
pub const GUILD_FORMAT_Q5_K: u32 = 19;
pub const GUILD_FORMAT_Q6_K: u32 = 20;
pub const GUILD_FORMAT_Q4_1: u32 = 21;
pub const GUILD_FORMAT_Q5_0: u32 = 22;
pub const GUILD_FORMAT_Q5_1: u32 = 23;
pub const GUILD_FORMAT_Q2_K: u32 = 24;
pub const GUILD_FORMAT_Q3_K: u32 = 25;
pub const GUILD_FORMAT_IQ4_NL: u32 = 26;
pub const GUILD_FORMAT_IQ4_XS: u32 = 27;
pub const GUILD_FORMAT_IQ2_XXS: u32 = 28;
pub const GUILD_FORMAT_IQ2_XS: u32 = 29;
pub const GUILD_FORMAT_IQ2_S: u32 = 30;
pub const GUILD_FORMAT_IQ3_XXS: u32 = 31;
pub const GUILD_FORMAT_IQ3_S: u32 = 32;
pub const GUILD_FORMAT_IQ1_S: u32 = 33;
pub const GUILD_FORMAT_IQ1_M: u32 = 34;
pub const GUILD_FORMAT_TQ1_0: u32 = 35;
pub const GUILD_FORMAT_TQ2_0: u32 = 36;
pub const GUILD_FORMAT_MXFP4: u32 = 37;
pub const GUILD_FORMAT_NVFP4: u32 = 38;
pub const GUILD_FORMAT_Q1_0: u32 = 39;
pub const GUILD_FORMAT_NAMED: u32 = 256;
pub const GUILD_LAYOUT_FILE: u32 = 0;
pub const GUILD_LAYOUT_GATE_UP_ROWS: u32 = 1;
pub const GUILD_OP_EMBEDDING: u32 = 1;
pub const GUILD_OP_SELECT_ROWS: u32 = 2;
pub const GUILD_OP_ADD: u32 = 3;
pub const GUILD_OP_RMS_NORM: u32 = 4;
pub const GUILD_OP_GATED_RMS_NORM: u32 = 5;
pub const GUILD_OP_L2_NORM: u32 = 6;
pub const GUILD_OP_LINEAR: u32 = 7;
pub const GUILD_OP_SWIGLU: u32 = 8;
pub const GUILD_OP_SIGMOID_MUL: u32 = 9;
pub const GUILD_OP_ROPE: u32 = 10;
pub const GUILD_OP_ATTENTION: u32 = 11;
pub const GUILD_OP_CAUSAL_CONV: u32 = 12;
pub const GUILD_OP_GATED_DELTA: u32 = 13;
pub const GUILD_OP_MOE_ROUTE: u32 = 14;
pub const GUILD_OP_MOE_EXPERTS: u32 = 15;
pub const GUILD_OP_CONCAT: u32 = 16;
pub const GUILD_ROPE_HALVES: u32 = 0;
pub const GUILD_ROPE_ADJACENT: u32 = 1;
pub const GUILD_ACTIVATION_NONE: u32 = 0;
pub const GUILD_ACTIVATION_SILU: u32 = 1;
pub const GUILD_HEADS_GROUPED: u32 = 0;
pub const GUILD_HEADS_TILED: u32 = 1;
pub const GUILD_ROUTE_RENORMALISE: u32 = 1;
pub const GUILD_MOE_FUSED_GATE_UP: u32 = 1;
pub const GUILD_MOE_SHARED: u32 = 2;
pub const GUILD_MOE_SHARED_GATE: u32 = 4;
pub const GUILD_OP_EMBEDDING_NAME: &[u8; 21] = b"guild.core.embedding\0";
pub const GUILD_OP_EMBEDDING_VERSION: u32 = 1;
pub const GUILD_OP_EMBEDDING_CONTRACT: u32 = 181;
pub const GUILD_OP_SELECT_ROWS_NAME: &[u8; 23] = b"guild.core.select_rows\0";
pub const GUILD_OP_SELECT_ROWS_VERSION: u32 = 1;
pub const GUILD_OP_SELECT_ROWS_CONTRACT: u32 = 238;
pub const GUILD_OP_ADD_NAME: &[u8; 15] = b"guild.core.add\0";
pub const GUILD_OP_ADD_VERSION: u32 = 1;
pub const GUILD_OP_ADD_CONTRACT: u32 = 34;
pub const GUILD_OP_RMS_NORM_NAME: &[u8; 20] = b"guild.core.rms_norm\0";
pub const GUILD_OP_RMS_NORM_VERSION: u32 = 1;
pub const GUILD_OP_RMS_NORM_CONTRACT: u32 = 158;
pub const GUILD_OP_GATED_RMS_NORM_NAME: &[u8; 26] = b"guild.core.gated_rms_norm\0";
pub const GUILD_OP_GATED_RMS_NORM_VERSION: u32 = 1;
pub const GUILD_OP_GATED_RMS_NORM_CONTRACT: u32 = 23;
pub const GUILD_OP_L2_NORM_NAME: &[u8; 19] = b"guild.core.l2_norm\0";
pub const GUILD_OP_L2_NORM_VERSION: u32 = 1;
pub const GUILD_OP_L2_NORM_CONTRACT: u32 = 150;
pub const GUILD_OP_LINEAR_NAME: &[u8; 18] = b"guild.core.linear\0";
pub const GUILD_OP_LINEAR_VERSION: u32 = 1;
pub const GUILD_OP_LINEAR_CONTRACT: u32 = 184;
pub const GUILD_OP_SWIGLU_NAME: &[u8; 18] = b"guild.core.swiglu\0";
pub const GUILD_OP_SWIGLU_VERSION: u32 = 1;
pub const GUILD_OP_SWIGLU_CONTRACT: u32 = 158;
pub const GUILD_OP_SIGMOID_MUL_NAME: &[u8; 23] = b"guild.core.sigmoid_mul\0";
pub const GUILD_OP_SIGMOID_MUL_VERSION: u32 = 1;
pub const GUILD_OP_SIGMOID_MUL_CONTRACT: u32 = 171;
pub const GUILD_OP_ROPE_NAME: &[u8; 16] = b"guild.core.rope\0";
pub const GUILD_OP_ROPE_VERSION: u32 = 1;
pub const GUILD_OP_ROPE_CONTRACT: u32 = 112;
pub const GUILD_OP_ATTENTION_NAME: &[u8; 21] = b"guild.core.attention\0";
pub const GUILD_OP_ATTENTION_VERSION: u32 = 1;
pub const GUILD_OP_ATTENTION_CONTRACT: u32 = 119;
pub const GUILD_OP_CAUSAL_CONV_NAME: &[u8; 23] = b"guild.core.causal_conv\0";
pub const GUILD_OP_CAUSAL_CONV_VERSION: u32 = 1;
pub const GUILD_OP_CAUSAL_CONV_CONTRACT: u32 = 29;
pub const GUILD_OP_GATED_DELTA_NAME: &[u8; 23] = b"guild.core.gated_delta\0";
pub const GUILD_OP_GATED_DELTA_VERSION: u32 = 1;
pub const GUILD_OP_GATED_DELTA_CONTRACT: u32 = 203;
pub const GUILD_OP_MOE_ROUTE_NAME: &[u8; 21] = b"guild.core.moe_route\0";
pub const GUILD_OP_MOE_ROUTE_VERSION: u32 = 1;
pub const GUILD_OP_MOE_ROUTE_CONTRACT: u32 = 165;
pub const GUILD_OP_MOE_EXPERTS_NAME: &[u8; 23] = b"guild.core.moe_experts\0";
pub const GUILD_OP_MOE_EXPERTS_VERSION: u32 = 1;
pub const GUILD_OP_MOE_EXPERTS_CONTRACT: u32 = 72;
pub const GUILD_OP_CONCAT_NAME: &[u8; 18] = b"guild.core.concat\0";
pub const GUILD_OP_CONCAT_VERSION: u32 = 1;
pub const GUILD_OP_CONCAT_CONTRACT: u32 = 134;
pub const GUILD_DIM_ROWS: i32 = -1;
pub const GUILD_DIM_OUTPUTS: i32 = -2;
pub const GUILD_INPUT_TOKENS: u32 = 1;
pub const GUILD_INPUT_OUTPUT_ROWS: u32 = 2;
pub const GUILD_INPUT_HIDDEN: u32 = 3;
pub const GUILD_OUTPUT_LOGITS: u32 = 1;
pub const GUILD_OUTPUT_HIDDEN: u32 = 2;
pub const GUILD_SECTION_MAIN: u32 = 1;
pub const GUILD_SECTION_DRAFT: u32 = 2;
pub const GUILD_COPY_HOST_TO_DEVICE: u32 = 1;
pub const GUILD_COPY_DEVICE_TO_HOST: u32 = 2;
pub const GUILD_COPY_DEVICE_TO_DEVICE: u32 = 3;
pub type guild_status = i32;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_hdr {
    pub size: u32,
    pub kind: u16,
    pub flags: u16,
    pub next: *const guild_hdr,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_hdr"][::core::mem::size_of::<guild_hdr>() - 16usize];
    ["Alignment of guild_hdr"][::core::mem::align_of::<guild_hdr>() - 8usize];
    [
        "Offset of field: guild_hdr::size",
    ][::core::mem::offset_of!(guild_hdr, size) - 0usize];
    [
        "Offset of field: guild_hdr::kind",
    ][::core::mem::offset_of!(guild_hdr, kind) - 4usize];
    [
        "Offset of field: guild_hdr::flags",
    ][::core::mem::offset_of!(guild_hdr, flags) - 6usize];
    [
        "Offset of field: guild_hdr::next",
    ][::core::mem::offset_of!(guild_hdr, next) - 8usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_str {
    pub ptr: *const u8,
    pub len: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_str"][::core::mem::size_of::<guild_str>() - 16usize];
    ["Alignment of guild_str"][::core::mem::align_of::<guild_str>() - 8usize];
    [
        "Offset of field: guild_str::ptr",
    ][::core::mem::offset_of!(guild_str, ptr) - 0usize];
    [
        "Offset of field: guild_str::len",
    ][::core::mem::offset_of!(guild_str, len) - 8usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_err {
    pub h: guild_hdr,
    pub code: guild_status,
    pub vendor_code: i32,
    pub vendor_domain: u32,
    pub cap: u32,
    pub len: u32,
    pub reserved: u32,
    pub buf: *mut u8,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_err"][::core::mem::size_of::<guild_err>() - 48usize];
    ["Alignment of guild_err"][::core::mem::align_of::<guild_err>() - 8usize];
    ["Offset of field: guild_err::h"][::core::mem::offset_of!(guild_err, h) - 0usize];
    [
        "Offset of field: guild_err::code",
    ][::core::mem::offset_of!(guild_err, code) - 16usize];
    [
        "Offset of field: guild_err::vendor_code",
    ][::core::mem::offset_of!(guild_err, vendor_code) - 20usize];
    [
        "Offset of field: guild_err::vendor_domain",
    ][::core::mem::offset_of!(guild_err, vendor_domain) - 24usize];
    [
        "Offset of field: guild_err::cap",
    ][::core::mem::offset_of!(guild_err, cap) - 28usize];
    [
        "Offset of field: guild_err::len",
    ][::core::mem::offset_of!(guild_err, len) - 32usize];
    [
        "Offset of field: guild_err::reserved",
    ][::core::mem::offset_of!(guild_err, reserved) - 36usize];
    [
        "Offset of field: guild_err::buf",
    ][::core::mem::offset_of!(guild_err, buf) - 40usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_quant {
    pub size: u32,
    pub format: u32,
    pub block_elems: u32,
    pub block_bytes: u32,
    pub axis: u16,
    pub layout: u16,
    pub group: u32,
    pub scale: *const ::core::ffi::c_void,
    pub zero: *const ::core::ffi::c_void,
    pub scale_bytes: u64,
    pub zero_bytes: u64,
    pub reserved: [u64; 2usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_quant"][::core::mem::size_of::<guild_quant>() - 72usize];
    ["Alignment of guild_quant"][::core::mem::align_of::<guild_quant>() - 8usize];
    [
        "Offset of field: guild_quant::size",
    ][::core::mem::offset_of!(guild_quant, size) - 0usize];
    [
        "Offset of field: guild_quant::format",
    ][::core::mem::offset_of!(guild_quant, format) - 4usize];
    [
        "Offset of field: guild_quant::block_elems",
    ][::core::mem::offset_of!(guild_quant, block_elems) - 8usize];
    [
        "Offset of field: guild_quant::block_bytes",
    ][::core::mem::offset_of!(guild_quant, block_bytes) - 12usize];
    [
        "Offset of field: guild_quant::axis",
    ][::core::mem::offset_of!(guild_quant, axis) - 16usize];
    [
        "Offset of field: guild_quant::layout",
    ][::core::mem::offset_of!(guild_quant, layout) - 18usize];
    [
        "Offset of field: guild_quant::group",
    ][::core::mem::offset_of!(guild_quant, group) - 20usize];
    [
        "Offset of field: guild_quant::scale",
    ][::core::mem::offset_of!(guild_quant, scale) - 24usize];
    [
        "Offset of field: guild_quant::zero",
    ][::core::mem::offset_of!(guild_quant, zero) - 32usize];
    [
        "Offset of field: guild_quant::scale_bytes",
    ][::core::mem::offset_of!(guild_quant, scale_bytes) - 40usize];
    [
        "Offset of field: guild_quant::zero_bytes",
    ][::core::mem::offset_of!(guild_quant, zero_bytes) - 48usize];
    [
        "Offset of field: guild_quant::reserved",
    ][::core::mem::offset_of!(guild_quant, reserved) - 56usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_tensor {
    pub size: u32,
    pub rank: u8,
    pub space: u8,
    pub flags: u8,
    pub pad0: u8,
    pub device: u32,
    pub format: u32,
    pub byte_len: u64,
    pub data: *mut ::core::ffi::c_void,
    pub shape: [u64; 6usize],
    pub stride: [i64; 6usize],
    pub quant: *const guild_quant,
    pub content_id: u64,
    pub reserved: [u64; 2usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_tensor"][::core::mem::size_of::<guild_tensor>() - 160usize];
    ["Alignment of guild_tensor"][::core::mem::align_of::<guild_tensor>() - 8usize];
    [
        "Offset of field: guild_tensor::size",
    ][::core::mem::offset_of!(guild_tensor, size) - 0usize];
    [
        "Offset of field: guild_tensor::rank",
    ][::core::mem::offset_of!(guild_tensor, rank) - 4usize];
    [
        "Offset of field: guild_tensor::space",
    ][::core::mem::offset_of!(guild_tensor, space) - 5usize];
    [
        "Offset of field: guild_tensor::flags",
    ][::core::mem::offset_of!(guild_tensor, flags) - 6usize];
    [
        "Offset of field: guild_tensor::pad0",
    ][::core::mem::offset_of!(guild_tensor, pad0) - 7usize];
    [
        "Offset of field: guild_tensor::device",
    ][::core::mem::offset_of!(guild_tensor, device) - 8usize];
    [
        "Offset of field: guild_tensor::format",
    ][::core::mem::offset_of!(guild_tensor, format) - 12usize];
    [
        "Offset of field: guild_tensor::byte_len",
    ][::core::mem::offset_of!(guild_tensor, byte_len) - 16usize];
    [
        "Offset of field: guild_tensor::data",
    ][::core::mem::offset_of!(guild_tensor, data) - 24usize];
    [
        "Offset of field: guild_tensor::shape",
    ][::core::mem::offset_of!(guild_tensor, shape) - 32usize];
    [
        "Offset of field: guild_tensor::stride",
    ][::core::mem::offset_of!(guild_tensor, stride) - 80usize];
    [
        "Offset of field: guild_tensor::quant",
    ][::core::mem::offset_of!(guild_tensor, quant) - 128usize];
    [
        "Offset of field: guild_tensor::content_id",
    ][::core::mem::offset_of!(guild_tensor, content_id) - 136usize];
    [
        "Offset of field: guild_tensor::reserved",
    ][::core::mem::offset_of!(guild_tensor, reserved) - 144usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_stream {
    pub size: u32,
    pub kind: u32,
    pub native: *mut ::core::ffi::c_void,
    pub device: u32,
    pub capturing: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_stream"][::core::mem::size_of::<guild_stream>() - 24usize];
    ["Alignment of guild_stream"][::core::mem::align_of::<guild_stream>() - 8usize];
    [
        "Offset of field: guild_stream::size",
    ][::core::mem::offset_of!(guild_stream, size) - 0usize];
    [
        "Offset of field: guild_stream::kind",
    ][::core::mem::offset_of!(guild_stream, kind) - 4usize];
    [
        "Offset of field: guild_stream::native",
    ][::core::mem::offset_of!(guild_stream, native) - 8usize];
    [
        "Offset of field: guild_stream::device",
    ][::core::mem::offset_of!(guild_stream, device) - 16usize];
    [
        "Offset of field: guild_stream::capturing",
    ][::core::mem::offset_of!(guild_stream, capturing) - 20usize];
};
pub type guild_range_fn = ::core::option::Option<
    unsafe extern "C" fn(user: *mut ::core::ffi::c_void, lo: u64, hi: u64, worker: u32),
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_par {
    pub size: u32,
    pub workers: u32,
    pub ctx: *mut ::core::ffi::c_void,
    pub par_for: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            n: u64,
            grain: u64,
            domain: u32,
            function: guild_range_fn,
            user: *mut ::core::ffi::c_void,
        ) -> guild_status,
    >,
    pub reserved: [u64; 2usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_par"][::core::mem::size_of::<guild_par>() - 40usize];
    ["Alignment of guild_par"][::core::mem::align_of::<guild_par>() - 8usize];
    [
        "Offset of field: guild_par::size",
    ][::core::mem::offset_of!(guild_par, size) - 0usize];
    [
        "Offset of field: guild_par::workers",
    ][::core::mem::offset_of!(guild_par, workers) - 4usize];
    [
        "Offset of field: guild_par::ctx",
    ][::core::mem::offset_of!(guild_par, ctx) - 8usize];
    [
        "Offset of field: guild_par::par_for",
    ][::core::mem::offset_of!(guild_par, par_for) - 16usize];
    [
        "Offset of field: guild_par::reserved",
    ][::core::mem::offset_of!(guild_par, reserved) - 24usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_scratch_slot {
    pub size: u32,
    pub space: u8,
    pub lifetime: u8,
    pub pad: [u8; 2usize],
    pub bytes: u64,
    pub align: u64,
    pub reserved: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of guild_scratch_slot",
    ][::core::mem::size_of::<guild_scratch_slot>() - 32usize];
    [
        "Alignment of guild_scratch_slot",
    ][::core::mem::align_of::<guild_scratch_slot>() - 8usize];
    [
        "Offset of field: guild_scratch_slot::size",
    ][::core::mem::offset_of!(guild_scratch_slot, size) - 0usize];
    [
        "Offset of field: guild_scratch_slot::space",
    ][::core::mem::offset_of!(guild_scratch_slot, space) - 4usize];
    [
        "Offset of field: guild_scratch_slot::lifetime",
    ][::core::mem::offset_of!(guild_scratch_slot, lifetime) - 5usize];
    [
        "Offset of field: guild_scratch_slot::pad",
    ][::core::mem::offset_of!(guild_scratch_slot, pad) - 6usize];
    [
        "Offset of field: guild_scratch_slot::bytes",
    ][::core::mem::offset_of!(guild_scratch_slot, bytes) - 8usize];
    [
        "Offset of field: guild_scratch_slot::align",
    ][::core::mem::offset_of!(guild_scratch_slot, align) - 16usize];
    [
        "Offset of field: guild_scratch_slot::reserved",
    ][::core::mem::offset_of!(guild_scratch_slot, reserved) - 24usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_batch_seq {
    pub slot: u32,
    pub first_row: u32,
    pub rows: u32,
    pub page_count: u32,
    pub position: u64,
    pub pages: *const u32,
    pub snapshot_slots: *const u32,
    pub reserved: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_batch_seq"][::core::mem::size_of::<guild_batch_seq>() - 48usize];
    [
        "Alignment of guild_batch_seq",
    ][::core::mem::align_of::<guild_batch_seq>() - 8usize];
    [
        "Offset of field: guild_batch_seq::slot",
    ][::core::mem::offset_of!(guild_batch_seq, slot) - 0usize];
    [
        "Offset of field: guild_batch_seq::first_row",
    ][::core::mem::offset_of!(guild_batch_seq, first_row) - 4usize];
    [
        "Offset of field: guild_batch_seq::rows",
    ][::core::mem::offset_of!(guild_batch_seq, rows) - 8usize];
    [
        "Offset of field: guild_batch_seq::page_count",
    ][::core::mem::offset_of!(guild_batch_seq, page_count) - 12usize];
    [
        "Offset of field: guild_batch_seq::position",
    ][::core::mem::offset_of!(guild_batch_seq, position) - 16usize];
    [
        "Offset of field: guild_batch_seq::pages",
    ][::core::mem::offset_of!(guild_batch_seq, pages) - 24usize];
    [
        "Offset of field: guild_batch_seq::snapshot_slots",
    ][::core::mem::offset_of!(guild_batch_seq, snapshot_slots) - 32usize];
    [
        "Offset of field: guild_batch_seq::reserved",
    ][::core::mem::offset_of!(guild_batch_seq, reserved) - 40usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_batch {
    pub size: u32,
    pub seq_count: u32,
    pub seqs: *const guild_batch_seq,
    pub seq_stride: u64,
    pub rows: u64,
    pub outputs: u64,
    pub token: u64,
    pub reserved: [u64; 2usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_batch"][::core::mem::size_of::<guild_batch>() - 64usize];
    ["Alignment of guild_batch"][::core::mem::align_of::<guild_batch>() - 8usize];
    [
        "Offset of field: guild_batch::size",
    ][::core::mem::offset_of!(guild_batch, size) - 0usize];
    [
        "Offset of field: guild_batch::seq_count",
    ][::core::mem::offset_of!(guild_batch, seq_count) - 4usize];
    [
        "Offset of field: guild_batch::seqs",
    ][::core::mem::offset_of!(guild_batch, seqs) - 8usize];
    [
        "Offset of field: guild_batch::seq_stride",
    ][::core::mem::offset_of!(guild_batch, seq_stride) - 16usize];
    [
        "Offset of field: guild_batch::rows",
    ][::core::mem::offset_of!(guild_batch, rows) - 24usize];
    [
        "Offset of field: guild_batch::outputs",
    ][::core::mem::offset_of!(guild_batch, outputs) - 32usize];
    [
        "Offset of field: guild_batch::token",
    ][::core::mem::offset_of!(guild_batch, token) - 40usize];
    [
        "Offset of field: guild_batch::reserved",
    ][::core::mem::offset_of!(guild_batch, reserved) - 48usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_state {
    pub size: u32,
    pub kind: u32,
    pub format: u32,
    pub count: u32,
    pub data: *mut ::core::ffi::c_void,
    pub stride: u64,
    pub shape: [u64; 4usize],
    pub reserved: [u64; 2usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_state"][::core::mem::size_of::<guild_state>() - 80usize];
    ["Alignment of guild_state"][::core::mem::align_of::<guild_state>() - 8usize];
    [
        "Offset of field: guild_state::size",
    ][::core::mem::offset_of!(guild_state, size) - 0usize];
    [
        "Offset of field: guild_state::kind",
    ][::core::mem::offset_of!(guild_state, kind) - 4usize];
    [
        "Offset of field: guild_state::format",
    ][::core::mem::offset_of!(guild_state, format) - 8usize];
    [
        "Offset of field: guild_state::count",
    ][::core::mem::offset_of!(guild_state, count) - 12usize];
    [
        "Offset of field: guild_state::data",
    ][::core::mem::offset_of!(guild_state, data) - 16usize];
    [
        "Offset of field: guild_state::stride",
    ][::core::mem::offset_of!(guild_state, stride) - 24usize];
    [
        "Offset of field: guild_state::shape",
    ][::core::mem::offset_of!(guild_state, shape) - 32usize];
    [
        "Offset of field: guild_state::reserved",
    ][::core::mem::offset_of!(guild_state, reserved) - 64usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_exec {
    pub size: u32,
    pub flags: u32,
    pub n_in: u32,
    pub n_out: u32,
    pub inputs: *const *const guild_tensor,
    pub outputs: *const *mut guild_tensor,
    pub n_state: u32,
    pub n_scratch: u32,
    pub states: *const *const guild_state,
    pub scratch: *const *mut ::core::ffi::c_void,
    pub params: *const ::core::ffi::c_void,
    pub params_size: u64,
    pub rows: *const u64,
    pub batch: *const guild_batch,
    pub stream: *const guild_stream,
    pub par: *const guild_par,
    pub err: *mut guild_err,
    pub reserved: [u64; 2usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_exec"][::core::mem::size_of::<guild_exec>() - 128usize];
    ["Alignment of guild_exec"][::core::mem::align_of::<guild_exec>() - 8usize];
    [
        "Offset of field: guild_exec::size",
    ][::core::mem::offset_of!(guild_exec, size) - 0usize];
    [
        "Offset of field: guild_exec::flags",
    ][::core::mem::offset_of!(guild_exec, flags) - 4usize];
    [
        "Offset of field: guild_exec::n_in",
    ][::core::mem::offset_of!(guild_exec, n_in) - 8usize];
    [
        "Offset of field: guild_exec::n_out",
    ][::core::mem::offset_of!(guild_exec, n_out) - 12usize];
    [
        "Offset of field: guild_exec::inputs",
    ][::core::mem::offset_of!(guild_exec, inputs) - 16usize];
    [
        "Offset of field: guild_exec::outputs",
    ][::core::mem::offset_of!(guild_exec, outputs) - 24usize];
    [
        "Offset of field: guild_exec::n_state",
    ][::core::mem::offset_of!(guild_exec, n_state) - 32usize];
    [
        "Offset of field: guild_exec::n_scratch",
    ][::core::mem::offset_of!(guild_exec, n_scratch) - 36usize];
    [
        "Offset of field: guild_exec::states",
    ][::core::mem::offset_of!(guild_exec, states) - 40usize];
    [
        "Offset of field: guild_exec::scratch",
    ][::core::mem::offset_of!(guild_exec, scratch) - 48usize];
    [
        "Offset of field: guild_exec::params",
    ][::core::mem::offset_of!(guild_exec, params) - 56usize];
    [
        "Offset of field: guild_exec::params_size",
    ][::core::mem::offset_of!(guild_exec, params_size) - 64usize];
    [
        "Offset of field: guild_exec::rows",
    ][::core::mem::offset_of!(guild_exec, rows) - 72usize];
    [
        "Offset of field: guild_exec::batch",
    ][::core::mem::offset_of!(guild_exec, batch) - 80usize];
    [
        "Offset of field: guild_exec::stream",
    ][::core::mem::offset_of!(guild_exec, stream) - 88usize];
    [
        "Offset of field: guild_exec::par",
    ][::core::mem::offset_of!(guild_exec, par) - 96usize];
    [
        "Offset of field: guild_exec::err",
    ][::core::mem::offset_of!(guild_exec, err) - 104usize];
    [
        "Offset of field: guild_exec::reserved",
    ][::core::mem::offset_of!(guild_exec, reserved) - 112usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_bounds {
    pub h: guild_hdr,
    pub max_rows: u64,
    pub max_outputs: u64,
    pub max_sequences: u64,
    pub max_positions: u64,
    pub workers: u32,
    pub reserved0: u32,
    pub reserved: [u64; 3usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_bounds"][::core::mem::size_of::<guild_bounds>() - 80usize];
    ["Alignment of guild_bounds"][::core::mem::align_of::<guild_bounds>() - 8usize];
    [
        "Offset of field: guild_bounds::h",
    ][::core::mem::offset_of!(guild_bounds, h) - 0usize];
    [
        "Offset of field: guild_bounds::max_rows",
    ][::core::mem::offset_of!(guild_bounds, max_rows) - 16usize];
    [
        "Offset of field: guild_bounds::max_outputs",
    ][::core::mem::offset_of!(guild_bounds, max_outputs) - 24usize];
    [
        "Offset of field: guild_bounds::max_sequences",
    ][::core::mem::offset_of!(guild_bounds, max_sequences) - 32usize];
    [
        "Offset of field: guild_bounds::max_positions",
    ][::core::mem::offset_of!(guild_bounds, max_positions) - 40usize];
    [
        "Offset of field: guild_bounds::workers",
    ][::core::mem::offset_of!(guild_bounds, workers) - 48usize];
    [
        "Offset of field: guild_bounds::reserved0",
    ][::core::mem::offset_of!(guild_bounds, reserved0) - 52usize];
    [
        "Offset of field: guild_bounds::reserved",
    ][::core::mem::offset_of!(guild_bounds, reserved) - 56usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_op_desc {
    pub h: guild_hdr,
    pub name: guild_str,
    pub implementation: guild_str,
    pub op_min: u32,
    pub op_max: u32,
    pub contract: [u8; 32usize],
    pub caps: [u64; 2usize],
    pub phases: u32,
    pub exactness: u32,
    pub rank: i32,
    pub n_formats: u32,
    pub formats: *const u32,
    pub replaces: guild_str,
    pub reserved: [u64; 4usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_op_desc"][::core::mem::size_of::<guild_op_desc>() - 176usize];
    ["Alignment of guild_op_desc"][::core::mem::align_of::<guild_op_desc>() - 8usize];
    [
        "Offset of field: guild_op_desc::h",
    ][::core::mem::offset_of!(guild_op_desc, h) - 0usize];
    [
        "Offset of field: guild_op_desc::name",
    ][::core::mem::offset_of!(guild_op_desc, name) - 16usize];
    [
        "Offset of field: guild_op_desc::implementation",
    ][::core::mem::offset_of!(guild_op_desc, implementation) - 32usize];
    [
        "Offset of field: guild_op_desc::op_min",
    ][::core::mem::offset_of!(guild_op_desc, op_min) - 48usize];
    [
        "Offset of field: guild_op_desc::op_max",
    ][::core::mem::offset_of!(guild_op_desc, op_max) - 52usize];
    [
        "Offset of field: guild_op_desc::contract",
    ][::core::mem::offset_of!(guild_op_desc, contract) - 56usize];
    [
        "Offset of field: guild_op_desc::caps",
    ][::core::mem::offset_of!(guild_op_desc, caps) - 88usize];
    [
        "Offset of field: guild_op_desc::phases",
    ][::core::mem::offset_of!(guild_op_desc, phases) - 104usize];
    [
        "Offset of field: guild_op_desc::exactness",
    ][::core::mem::offset_of!(guild_op_desc, exactness) - 108usize];
    [
        "Offset of field: guild_op_desc::rank",
    ][::core::mem::offset_of!(guild_op_desc, rank) - 112usize];
    [
        "Offset of field: guild_op_desc::n_formats",
    ][::core::mem::offset_of!(guild_op_desc, n_formats) - 116usize];
    [
        "Offset of field: guild_op_desc::formats",
    ][::core::mem::offset_of!(guild_op_desc, formats) - 120usize];
    [
        "Offset of field: guild_op_desc::replaces",
    ][::core::mem::offset_of!(guild_op_desc, replaces) - 128usize];
    [
        "Offset of field: guild_op_desc::reserved",
    ][::core::mem::offset_of!(guild_op_desc, reserved) - 144usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_op_req {
    pub h: guild_hdr,
    pub name: guild_str,
    pub version: u32,
    pub phase: u32,
    pub params: *const ::core::ffi::c_void,
    pub params_size: u64,
    pub n_in: u32,
    pub n_out: u32,
    pub n_state: u32,
    pub classes: u32,
    pub inputs: *const *const guild_tensor,
    pub outputs: *const *const guild_tensor,
    pub states: *const *const guild_state,
    pub bounds: *const guild_bounds,
    pub device: u32,
    pub reserved0: u32,
    pub reserved: [u64; 2usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_op_req"][::core::mem::size_of::<guild_op_req>() - 128usize];
    ["Alignment of guild_op_req"][::core::mem::align_of::<guild_op_req>() - 8usize];
    [
        "Offset of field: guild_op_req::h",
    ][::core::mem::offset_of!(guild_op_req, h) - 0usize];
    [
        "Offset of field: guild_op_req::name",
    ][::core::mem::offset_of!(guild_op_req, name) - 16usize];
    [
        "Offset of field: guild_op_req::version",
    ][::core::mem::offset_of!(guild_op_req, version) - 32usize];
    [
        "Offset of field: guild_op_req::phase",
    ][::core::mem::offset_of!(guild_op_req, phase) - 36usize];
    [
        "Offset of field: guild_op_req::params",
    ][::core::mem::offset_of!(guild_op_req, params) - 40usize];
    [
        "Offset of field: guild_op_req::params_size",
    ][::core::mem::offset_of!(guild_op_req, params_size) - 48usize];
    [
        "Offset of field: guild_op_req::n_in",
    ][::core::mem::offset_of!(guild_op_req, n_in) - 56usize];
    [
        "Offset of field: guild_op_req::n_out",
    ][::core::mem::offset_of!(guild_op_req, n_out) - 60usize];
    [
        "Offset of field: guild_op_req::n_state",
    ][::core::mem::offset_of!(guild_op_req, n_state) - 64usize];
    [
        "Offset of field: guild_op_req::classes",
    ][::core::mem::offset_of!(guild_op_req, classes) - 68usize];
    [
        "Offset of field: guild_op_req::inputs",
    ][::core::mem::offset_of!(guild_op_req, inputs) - 72usize];
    [
        "Offset of field: guild_op_req::outputs",
    ][::core::mem::offset_of!(guild_op_req, outputs) - 80usize];
    [
        "Offset of field: guild_op_req::states",
    ][::core::mem::offset_of!(guild_op_req, states) - 88usize];
    [
        "Offset of field: guild_op_req::bounds",
    ][::core::mem::offset_of!(guild_op_req, bounds) - 96usize];
    [
        "Offset of field: guild_op_req::device",
    ][::core::mem::offset_of!(guild_op_req, device) - 104usize];
    [
        "Offset of field: guild_op_req::reserved0",
    ][::core::mem::offset_of!(guild_op_req, reserved0) - 108usize];
    [
        "Offset of field: guild_op_req::reserved",
    ][::core::mem::offset_of!(guild_op_req, reserved) - 112usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_refusal {
    pub h: guild_hdr,
    pub reason: u32,
    pub index: u32,
    pub wanted: u64,
    pub offered: u64,
    pub cap: u32,
    pub len: u32,
    pub buf: *mut u8,
    pub reserved: [u64; 2usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_refusal"][::core::mem::size_of::<guild_refusal>() - 72usize];
    ["Alignment of guild_refusal"][::core::mem::align_of::<guild_refusal>() - 8usize];
    [
        "Offset of field: guild_refusal::h",
    ][::core::mem::offset_of!(guild_refusal, h) - 0usize];
    [
        "Offset of field: guild_refusal::reason",
    ][::core::mem::offset_of!(guild_refusal, reason) - 16usize];
    [
        "Offset of field: guild_refusal::index",
    ][::core::mem::offset_of!(guild_refusal, index) - 20usize];
    [
        "Offset of field: guild_refusal::wanted",
    ][::core::mem::offset_of!(guild_refusal, wanted) - 24usize];
    [
        "Offset of field: guild_refusal::offered",
    ][::core::mem::offset_of!(guild_refusal, offered) - 32usize];
    [
        "Offset of field: guild_refusal::cap",
    ][::core::mem::offset_of!(guild_refusal, cap) - 40usize];
    [
        "Offset of field: guild_refusal::len",
    ][::core::mem::offset_of!(guild_refusal, len) - 44usize];
    [
        "Offset of field: guild_refusal::buf",
    ][::core::mem::offset_of!(guild_refusal, buf) - 48usize];
    [
        "Offset of field: guild_refusal::reserved",
    ][::core::mem::offset_of!(guild_refusal, reserved) - 56usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_host_v1 {
    pub h: guild_hdr,
    pub abi_minor: u32,
    pub abi_minor_floor: u32,
    pub caps: [u64; 2usize],
    pub ctx: *mut ::core::ffi::c_void,
    pub log: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            level: u32,
            message: guild_str,
        ),
    >,
    pub alloc: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            bytes: u64,
            align: u64,
            tag: u32,
        ) -> *mut ::core::ffi::c_void,
    >,
    pub free: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            ptr: *mut ::core::ffi::c_void,
            bytes: u64,
            align: u64,
        ),
    >,
    pub get_extension: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            id: guild_str,
        ) -> *const ::core::ffi::c_void,
    >,
    pub reserved: [u64; 8usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_host_v1"][::core::mem::size_of::<guild_host_v1>() - 144usize];
    ["Alignment of guild_host_v1"][::core::mem::align_of::<guild_host_v1>() - 8usize];
    [
        "Offset of field: guild_host_v1::h",
    ][::core::mem::offset_of!(guild_host_v1, h) - 0usize];
    [
        "Offset of field: guild_host_v1::abi_minor",
    ][::core::mem::offset_of!(guild_host_v1, abi_minor) - 16usize];
    [
        "Offset of field: guild_host_v1::abi_minor_floor",
    ][::core::mem::offset_of!(guild_host_v1, abi_minor_floor) - 20usize];
    [
        "Offset of field: guild_host_v1::caps",
    ][::core::mem::offset_of!(guild_host_v1, caps) - 24usize];
    [
        "Offset of field: guild_host_v1::ctx",
    ][::core::mem::offset_of!(guild_host_v1, ctx) - 40usize];
    [
        "Offset of field: guild_host_v1::log",
    ][::core::mem::offset_of!(guild_host_v1, log) - 48usize];
    [
        "Offset of field: guild_host_v1::alloc",
    ][::core::mem::offset_of!(guild_host_v1, alloc) - 56usize];
    [
        "Offset of field: guild_host_v1::free",
    ][::core::mem::offset_of!(guild_host_v1, free) - 64usize];
    [
        "Offset of field: guild_host_v1::get_extension",
    ][::core::mem::offset_of!(guild_host_v1, get_extension) - 72usize];
    [
        "Offset of field: guild_host_v1::reserved",
    ][::core::mem::offset_of!(guild_host_v1, reserved) - 80usize];
};
pub type guild_execute_fn = ::core::option::Option<
    unsafe extern "C" fn(
        inst: *mut ::core::ffi::c_void,
        x: *const guild_exec,
    ) -> guild_status,
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_plugin_v1 {
    pub h: guild_hdr,
    pub abi_minor_built: u32,
    pub abi_minor_min: u32,
    pub caps: [u64; 2usize],
    pub id: guild_str,
    pub version: guild_str,
    pub build_id: [u8; 32usize],
    pub self_: *mut ::core::ffi::c_void,
    pub op_count: u32,
    pub reserved0: u32,
    pub init: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            active_minor: u32,
            config: guild_str,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub describe: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            index: u32,
            out: *mut guild_op_desc,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub supports: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            index: u32,
            request: *const guild_op_req,
            out: *mut guild_refusal,
        ) -> guild_status,
    >,
    pub create: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            index: u32,
            request: *const guild_op_req,
            inst: *mut *mut ::core::ffi::c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub scratch: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            inst: *mut ::core::ffi::c_void,
            bounds: *const guild_bounds,
            slots: *mut guild_scratch_slot,
            cap: u32,
            count: *mut u32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub prepack: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            inst: *mut ::core::ffi::c_void,
            input: *const guild_tensor,
            output: *mut guild_tensor,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub prepare: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            inst: *mut ::core::ffi::c_void,
            stream: *const guild_stream,
            function: *mut guild_execute_fn,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub destroy: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            inst: *mut ::core::ffi::c_void,
        ),
    >,
    pub get_extension: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            id: guild_str,
        ) -> *const ::core::ffi::c_void,
    >,
    pub quiesce: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            timeout_ns: u64,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub shutdown: ::core::option::Option<
        unsafe extern "C" fn(self_: *mut ::core::ffi::c_void),
    >,
    pub reserved: [u64; 8usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_plugin_v1"][::core::mem::size_of::<guild_plugin_v1>() - 272usize];
    [
        "Alignment of guild_plugin_v1",
    ][::core::mem::align_of::<guild_plugin_v1>() - 8usize];
    [
        "Offset of field: guild_plugin_v1::h",
    ][::core::mem::offset_of!(guild_plugin_v1, h) - 0usize];
    [
        "Offset of field: guild_plugin_v1::abi_minor_built",
    ][::core::mem::offset_of!(guild_plugin_v1, abi_minor_built) - 16usize];
    [
        "Offset of field: guild_plugin_v1::abi_minor_min",
    ][::core::mem::offset_of!(guild_plugin_v1, abi_minor_min) - 20usize];
    [
        "Offset of field: guild_plugin_v1::caps",
    ][::core::mem::offset_of!(guild_plugin_v1, caps) - 24usize];
    [
        "Offset of field: guild_plugin_v1::id",
    ][::core::mem::offset_of!(guild_plugin_v1, id) - 40usize];
    [
        "Offset of field: guild_plugin_v1::version",
    ][::core::mem::offset_of!(guild_plugin_v1, version) - 56usize];
    [
        "Offset of field: guild_plugin_v1::build_id",
    ][::core::mem::offset_of!(guild_plugin_v1, build_id) - 72usize];
    [
        "Offset of field: guild_plugin_v1::self_",
    ][::core::mem::offset_of!(guild_plugin_v1, self_) - 104usize];
    [
        "Offset of field: guild_plugin_v1::op_count",
    ][::core::mem::offset_of!(guild_plugin_v1, op_count) - 112usize];
    [
        "Offset of field: guild_plugin_v1::reserved0",
    ][::core::mem::offset_of!(guild_plugin_v1, reserved0) - 116usize];
    [
        "Offset of field: guild_plugin_v1::init",
    ][::core::mem::offset_of!(guild_plugin_v1, init) - 120usize];
    [
        "Offset of field: guild_plugin_v1::describe",
    ][::core::mem::offset_of!(guild_plugin_v1, describe) - 128usize];
    [
        "Offset of field: guild_plugin_v1::supports",
    ][::core::mem::offset_of!(guild_plugin_v1, supports) - 136usize];
    [
        "Offset of field: guild_plugin_v1::create",
    ][::core::mem::offset_of!(guild_plugin_v1, create) - 144usize];
    [
        "Offset of field: guild_plugin_v1::scratch",
    ][::core::mem::offset_of!(guild_plugin_v1, scratch) - 152usize];
    [
        "Offset of field: guild_plugin_v1::prepack",
    ][::core::mem::offset_of!(guild_plugin_v1, prepack) - 160usize];
    [
        "Offset of field: guild_plugin_v1::prepare",
    ][::core::mem::offset_of!(guild_plugin_v1, prepare) - 168usize];
    [
        "Offset of field: guild_plugin_v1::destroy",
    ][::core::mem::offset_of!(guild_plugin_v1, destroy) - 176usize];
    [
        "Offset of field: guild_plugin_v1::get_extension",
    ][::core::mem::offset_of!(guild_plugin_v1, get_extension) - 184usize];
    [
        "Offset of field: guild_plugin_v1::quiesce",
    ][::core::mem::offset_of!(guild_plugin_v1, quiesce) - 192usize];
    [
        "Offset of field: guild_plugin_v1::shutdown",
    ][::core::mem::offset_of!(guild_plugin_v1, shutdown) - 200usize];
    [
        "Offset of field: guild_plugin_v1::reserved",
    ][::core::mem::offset_of!(guild_plugin_v1, reserved) - 208usize];
};
pub type guild_plugin_entry_fn = ::core::option::Option<
    unsafe extern "C" fn(
        host: *const guild_host_v1,
        out: *mut guild_plugin_v1,
        err: *mut guild_err,
    ) -> guild_status,
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_formats_v1 {
    pub h: guild_hdr,
    pub ctx: *mut ::core::ffi::c_void,
    pub number: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            name: guild_str,
            number: *mut u32,
        ) -> guild_status,
    >,
    pub describe: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            number: u32,
            out: *mut guild_quant,
        ) -> guild_status,
    >,
    pub reserved: [u64; 3usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_formats_v1"][::core::mem::size_of::<guild_formats_v1>() - 64usize];
    [
        "Alignment of guild_formats_v1",
    ][::core::mem::align_of::<guild_formats_v1>() - 8usize];
    [
        "Offset of field: guild_formats_v1::h",
    ][::core::mem::offset_of!(guild_formats_v1, h) - 0usize];
    [
        "Offset of field: guild_formats_v1::ctx",
    ][::core::mem::offset_of!(guild_formats_v1, ctx) - 16usize];
    [
        "Offset of field: guild_formats_v1::number",
    ][::core::mem::offset_of!(guild_formats_v1, number) - 24usize];
    [
        "Offset of field: guild_formats_v1::describe",
    ][::core::mem::offset_of!(guild_formats_v1, describe) - 32usize];
    [
        "Offset of field: guild_formats_v1::reserved",
    ][::core::mem::offset_of!(guild_formats_v1, reserved) - 40usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_norm_params {
    pub size: u32,
    pub epsilon: f32,
    pub scale: f32,
    pub reserved: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_norm_params"][::core::mem::size_of::<guild_norm_params>() - 16usize];
    [
        "Alignment of guild_norm_params",
    ][::core::mem::align_of::<guild_norm_params>() - 4usize];
    [
        "Offset of field: guild_norm_params::size",
    ][::core::mem::offset_of!(guild_norm_params, size) - 0usize];
    [
        "Offset of field: guild_norm_params::epsilon",
    ][::core::mem::offset_of!(guild_norm_params, epsilon) - 4usize];
    [
        "Offset of field: guild_norm_params::scale",
    ][::core::mem::offset_of!(guild_norm_params, scale) - 8usize];
    [
        "Offset of field: guild_norm_params::reserved",
    ][::core::mem::offset_of!(guild_norm_params, reserved) - 12usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_rope_params {
    pub size: u32,
    pub pairing: u32,
    pub rotary_dims: u32,
    pub interleaved: u32,
    pub theta: f64,
    pub sections: [u32; 4usize],
    pub reserved: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_rope_params"][::core::mem::size_of::<guild_rope_params>() - 48usize];
    [
        "Alignment of guild_rope_params",
    ][::core::mem::align_of::<guild_rope_params>() - 8usize];
    [
        "Offset of field: guild_rope_params::size",
    ][::core::mem::offset_of!(guild_rope_params, size) - 0usize];
    [
        "Offset of field: guild_rope_params::pairing",
    ][::core::mem::offset_of!(guild_rope_params, pairing) - 4usize];
    [
        "Offset of field: guild_rope_params::rotary_dims",
    ][::core::mem::offset_of!(guild_rope_params, rotary_dims) - 8usize];
    [
        "Offset of field: guild_rope_params::interleaved",
    ][::core::mem::offset_of!(guild_rope_params, interleaved) - 12usize];
    [
        "Offset of field: guild_rope_params::theta",
    ][::core::mem::offset_of!(guild_rope_params, theta) - 16usize];
    [
        "Offset of field: guild_rope_params::sections",
    ][::core::mem::offset_of!(guild_rope_params, sections) - 24usize];
    [
        "Offset of field: guild_rope_params::reserved",
    ][::core::mem::offset_of!(guild_rope_params, reserved) - 40usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_attention_params {
    pub size: u32,
    pub scale: f32,
    pub reserved: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of guild_attention_params",
    ][::core::mem::size_of::<guild_attention_params>() - 16usize];
    [
        "Alignment of guild_attention_params",
    ][::core::mem::align_of::<guild_attention_params>() - 8usize];
    [
        "Offset of field: guild_attention_params::size",
    ][::core::mem::offset_of!(guild_attention_params, size) - 0usize];
    [
        "Offset of field: guild_attention_params::scale",
    ][::core::mem::offset_of!(guild_attention_params, scale) - 4usize];
    [
        "Offset of field: guild_attention_params::reserved",
    ][::core::mem::offset_of!(guild_attention_params, reserved) - 8usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_conv_params {
    pub size: u32,
    pub activation: u32,
    pub reserved: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_conv_params"][::core::mem::size_of::<guild_conv_params>() - 16usize];
    [
        "Alignment of guild_conv_params",
    ][::core::mem::align_of::<guild_conv_params>() - 8usize];
    [
        "Offset of field: guild_conv_params::size",
    ][::core::mem::offset_of!(guild_conv_params, size) - 0usize];
    [
        "Offset of field: guild_conv_params::activation",
    ][::core::mem::offset_of!(guild_conv_params, activation) - 4usize];
    [
        "Offset of field: guild_conv_params::reserved",
    ][::core::mem::offset_of!(guild_conv_params, reserved) - 8usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_delta_params {
    pub size: u32,
    pub head_order: u32,
    pub reserved: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of guild_delta_params",
    ][::core::mem::size_of::<guild_delta_params>() - 16usize];
    [
        "Alignment of guild_delta_params",
    ][::core::mem::align_of::<guild_delta_params>() - 8usize];
    [
        "Offset of field: guild_delta_params::size",
    ][::core::mem::offset_of!(guild_delta_params, size) - 0usize];
    [
        "Offset of field: guild_delta_params::head_order",
    ][::core::mem::offset_of!(guild_delta_params, head_order) - 4usize];
    [
        "Offset of field: guild_delta_params::reserved",
    ][::core::mem::offset_of!(guild_delta_params, reserved) - 8usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_route_params {
    pub size: u32,
    pub top_k: u32,
    pub flags: u32,
    pub reserved: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of guild_route_params",
    ][::core::mem::size_of::<guild_route_params>() - 16usize];
    [
        "Alignment of guild_route_params",
    ][::core::mem::align_of::<guild_route_params>() - 4usize];
    [
        "Offset of field: guild_route_params::size",
    ][::core::mem::offset_of!(guild_route_params, size) - 0usize];
    [
        "Offset of field: guild_route_params::top_k",
    ][::core::mem::offset_of!(guild_route_params, top_k) - 4usize];
    [
        "Offset of field: guild_route_params::flags",
    ][::core::mem::offset_of!(guild_route_params, flags) - 8usize];
    [
        "Offset of field: guild_route_params::reserved",
    ][::core::mem::offset_of!(guild_route_params, reserved) - 12usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_experts_params {
    pub size: u32,
    pub flags: u32,
    pub reserved: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of guild_experts_params",
    ][::core::mem::size_of::<guild_experts_params>() - 16usize];
    [
        "Alignment of guild_experts_params",
    ][::core::mem::align_of::<guild_experts_params>() - 8usize];
    [
        "Offset of field: guild_experts_params::size",
    ][::core::mem::offset_of!(guild_experts_params, size) - 0usize];
    [
        "Offset of field: guild_experts_params::flags",
    ][::core::mem::offset_of!(guild_experts_params, flags) - 4usize];
    [
        "Offset of field: guild_experts_params::reserved",
    ][::core::mem::offset_of!(guild_experts_params, reserved) - 8usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_tensor_info {
    pub size: u32,
    pub format: u32,
    pub rank: u32,
    pub reserved: u32,
    pub shape: [u64; 6usize],
    pub byte_len: u64,
    pub name: guild_str,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_tensor_info"][::core::mem::size_of::<guild_tensor_info>() - 88usize];
    [
        "Alignment of guild_tensor_info",
    ][::core::mem::align_of::<guild_tensor_info>() - 8usize];
    [
        "Offset of field: guild_tensor_info::size",
    ][::core::mem::offset_of!(guild_tensor_info, size) - 0usize];
    [
        "Offset of field: guild_tensor_info::format",
    ][::core::mem::offset_of!(guild_tensor_info, format) - 4usize];
    [
        "Offset of field: guild_tensor_info::rank",
    ][::core::mem::offset_of!(guild_tensor_info, rank) - 8usize];
    [
        "Offset of field: guild_tensor_info::reserved",
    ][::core::mem::offset_of!(guild_tensor_info, reserved) - 12usize];
    [
        "Offset of field: guild_tensor_info::shape",
    ][::core::mem::offset_of!(guild_tensor_info, shape) - 16usize];
    [
        "Offset of field: guild_tensor_info::byte_len",
    ][::core::mem::offset_of!(guild_tensor_info, byte_len) - 64usize];
    [
        "Offset of field: guild_tensor_info::name",
    ][::core::mem::offset_of!(guild_tensor_info, name) - 72usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_model_v1 {
    pub h: guild_hdr,
    pub ctx: *mut ::core::ffi::c_void,
    pub architecture: guild_str,
    pub tensor_count: u64,
    pub length: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            key: guild_str,
            out: *mut u64,
        ) -> guild_status,
    >,
    pub get_u64: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            key: guild_str,
            index: u64,
            out: *mut u64,
        ) -> guild_status,
    >,
    pub get_f64: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            key: guild_str,
            index: u64,
            out: *mut f64,
        ) -> guild_status,
    >,
    pub get_str: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            key: guild_str,
            index: u64,
            out: *mut guild_str,
        ) -> guild_status,
    >,
    pub tensor: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            name: guild_str,
            out: *mut guild_tensor_info,
        ) -> guild_status,
    >,
    pub tensor_at: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            index: u64,
            out: *mut guild_tensor_info,
        ) -> guild_status,
    >,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_model_v1"][::core::mem::size_of::<guild_model_v1>() - 96usize];
    ["Alignment of guild_model_v1"][::core::mem::align_of::<guild_model_v1>() - 8usize];
    [
        "Offset of field: guild_model_v1::h",
    ][::core::mem::offset_of!(guild_model_v1, h) - 0usize];
    [
        "Offset of field: guild_model_v1::ctx",
    ][::core::mem::offset_of!(guild_model_v1, ctx) - 16usize];
    [
        "Offset of field: guild_model_v1::architecture",
    ][::core::mem::offset_of!(guild_model_v1, architecture) - 24usize];
    [
        "Offset of field: guild_model_v1::tensor_count",
    ][::core::mem::offset_of!(guild_model_v1, tensor_count) - 40usize];
    [
        "Offset of field: guild_model_v1::length",
    ][::core::mem::offset_of!(guild_model_v1, length) - 48usize];
    [
        "Offset of field: guild_model_v1::get_u64",
    ][::core::mem::offset_of!(guild_model_v1, get_u64) - 56usize];
    [
        "Offset of field: guild_model_v1::get_f64",
    ][::core::mem::offset_of!(guild_model_v1, get_f64) - 64usize];
    [
        "Offset of field: guild_model_v1::get_str",
    ][::core::mem::offset_of!(guild_model_v1, get_str) - 72usize];
    [
        "Offset of field: guild_model_v1::tensor",
    ][::core::mem::offset_of!(guild_model_v1, tensor) - 80usize];
    [
        "Offset of field: guild_model_v1::tensor_at",
    ][::core::mem::offset_of!(guild_model_v1, tensor_at) - 88usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_value_desc {
    pub size: u32,
    pub format: u32,
    pub rank: u32,
    pub reserved: u32,
    pub shape: [u64; 6usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_value_desc"][::core::mem::size_of::<guild_value_desc>() - 64usize];
    [
        "Alignment of guild_value_desc",
    ][::core::mem::align_of::<guild_value_desc>() - 8usize];
    [
        "Offset of field: guild_value_desc::size",
    ][::core::mem::offset_of!(guild_value_desc, size) - 0usize];
    [
        "Offset of field: guild_value_desc::format",
    ][::core::mem::offset_of!(guild_value_desc, format) - 4usize];
    [
        "Offset of field: guild_value_desc::rank",
    ][::core::mem::offset_of!(guild_value_desc, rank) - 8usize];
    [
        "Offset of field: guild_value_desc::reserved",
    ][::core::mem::offset_of!(guild_value_desc, reserved) - 12usize];
    [
        "Offset of field: guild_value_desc::shape",
    ][::core::mem::offset_of!(guild_value_desc, shape) - 16usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_section_desc {
    pub h: guild_hdr,
    pub kind: u32,
    pub reserved0: u32,
    pub name: guild_str,
    pub reserved: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of guild_section_desc",
    ][::core::mem::size_of::<guild_section_desc>() - 48usize];
    [
        "Alignment of guild_section_desc",
    ][::core::mem::align_of::<guild_section_desc>() - 8usize];
    [
        "Offset of field: guild_section_desc::h",
    ][::core::mem::offset_of!(guild_section_desc, h) - 0usize];
    [
        "Offset of field: guild_section_desc::kind",
    ][::core::mem::offset_of!(guild_section_desc, kind) - 16usize];
    [
        "Offset of field: guild_section_desc::reserved0",
    ][::core::mem::offset_of!(guild_section_desc, reserved0) - 20usize];
    [
        "Offset of field: guild_section_desc::name",
    ][::core::mem::offset_of!(guild_section_desc, name) - 24usize];
    [
        "Offset of field: guild_section_desc::reserved",
    ][::core::mem::offset_of!(guild_section_desc, reserved) - 40usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_state_desc {
    pub h: guild_hdr,
    pub kind: u32,
    pub format: u32,
    pub rank: u32,
    pub reserved: u32,
    pub shape: [u64; 4usize],
    pub name: guild_str,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_state_desc"][::core::mem::size_of::<guild_state_desc>() - 80usize];
    [
        "Alignment of guild_state_desc",
    ][::core::mem::align_of::<guild_state_desc>() - 8usize];
    [
        "Offset of field: guild_state_desc::h",
    ][::core::mem::offset_of!(guild_state_desc, h) - 0usize];
    [
        "Offset of field: guild_state_desc::kind",
    ][::core::mem::offset_of!(guild_state_desc, kind) - 16usize];
    [
        "Offset of field: guild_state_desc::format",
    ][::core::mem::offset_of!(guild_state_desc, format) - 20usize];
    [
        "Offset of field: guild_state_desc::rank",
    ][::core::mem::offset_of!(guild_state_desc, rank) - 24usize];
    [
        "Offset of field: guild_state_desc::reserved",
    ][::core::mem::offset_of!(guild_state_desc, reserved) - 28usize];
    [
        "Offset of field: guild_state_desc::shape",
    ][::core::mem::offset_of!(guild_state_desc, shape) - 32usize];
    [
        "Offset of field: guild_state_desc::name",
    ][::core::mem::offset_of!(guild_state_desc, name) - 64usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_view_desc {
    pub h: guild_hdr,
    pub source: u32,
    pub rank: u32,
    pub offset: u64,
    pub shape: [u64; 6usize],
    pub stride: [u64; 6usize],
    pub reserved: [u64; 4usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_view_desc"][::core::mem::size_of::<guild_view_desc>() - 160usize];
    [
        "Alignment of guild_view_desc",
    ][::core::mem::align_of::<guild_view_desc>() - 8usize];
    [
        "Offset of field: guild_view_desc::h",
    ][::core::mem::offset_of!(guild_view_desc, h) - 0usize];
    [
        "Offset of field: guild_view_desc::source",
    ][::core::mem::offset_of!(guild_view_desc, source) - 16usize];
    [
        "Offset of field: guild_view_desc::rank",
    ][::core::mem::offset_of!(guild_view_desc, rank) - 20usize];
    [
        "Offset of field: guild_view_desc::offset",
    ][::core::mem::offset_of!(guild_view_desc, offset) - 24usize];
    [
        "Offset of field: guild_view_desc::shape",
    ][::core::mem::offset_of!(guild_view_desc, shape) - 32usize];
    [
        "Offset of field: guild_view_desc::stride",
    ][::core::mem::offset_of!(guild_view_desc, stride) - 80usize];
    [
        "Offset of field: guild_view_desc::reserved",
    ][::core::mem::offset_of!(guild_view_desc, reserved) - 128usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_node_desc {
    pub h: guild_hdr,
    pub op: guild_str,
    pub name: guild_str,
    pub params: *const ::core::ffi::c_void,
    pub params_size: u64,
    pub inputs: *const u32,
    pub states: *const u32,
    pub outputs: *const guild_value_desc,
    pub n_in: u32,
    pub n_state: u32,
    pub n_out: u32,
    pub layer: u32,
    pub output_stride: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_node_desc"][::core::mem::size_of::<guild_node_desc>() - 112usize];
    [
        "Alignment of guild_node_desc",
    ][::core::mem::align_of::<guild_node_desc>() - 8usize];
    [
        "Offset of field: guild_node_desc::h",
    ][::core::mem::offset_of!(guild_node_desc, h) - 0usize];
    [
        "Offset of field: guild_node_desc::op",
    ][::core::mem::offset_of!(guild_node_desc, op) - 16usize];
    [
        "Offset of field: guild_node_desc::name",
    ][::core::mem::offset_of!(guild_node_desc, name) - 32usize];
    [
        "Offset of field: guild_node_desc::params",
    ][::core::mem::offset_of!(guild_node_desc, params) - 48usize];
    [
        "Offset of field: guild_node_desc::params_size",
    ][::core::mem::offset_of!(guild_node_desc, params_size) - 56usize];
    [
        "Offset of field: guild_node_desc::inputs",
    ][::core::mem::offset_of!(guild_node_desc, inputs) - 64usize];
    [
        "Offset of field: guild_node_desc::states",
    ][::core::mem::offset_of!(guild_node_desc, states) - 72usize];
    [
        "Offset of field: guild_node_desc::outputs",
    ][::core::mem::offset_of!(guild_node_desc, outputs) - 80usize];
    [
        "Offset of field: guild_node_desc::n_in",
    ][::core::mem::offset_of!(guild_node_desc, n_in) - 88usize];
    [
        "Offset of field: guild_node_desc::n_state",
    ][::core::mem::offset_of!(guild_node_desc, n_state) - 92usize];
    [
        "Offset of field: guild_node_desc::n_out",
    ][::core::mem::offset_of!(guild_node_desc, n_out) - 96usize];
    [
        "Offset of field: guild_node_desc::layer",
    ][::core::mem::offset_of!(guild_node_desc, layer) - 100usize];
    [
        "Offset of field: guild_node_desc::output_stride",
    ][::core::mem::offset_of!(guild_node_desc, output_stride) - 104usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_builder_v1 {
    pub h: guild_hdr,
    pub ctx: *mut ::core::ffi::c_void,
    pub section: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            desc: *const guild_section_desc,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub weight: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            name: guild_str,
            value: *mut u32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub input: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            kind: u32,
            hidden: u64,
            value: *mut u32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub state: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            desc: *const guild_state_desc,
            state: *mut u32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub view: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            desc: *const guild_view_desc,
            value: *mut u32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub op: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            desc: *const guild_node_desc,
            values: *mut u32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub output: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            kind: u32,
            value: u32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub reserved: [u64; 2usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_builder_v1"][::core::mem::size_of::<guild_builder_v1>() - 96usize];
    [
        "Alignment of guild_builder_v1",
    ][::core::mem::align_of::<guild_builder_v1>() - 8usize];
    [
        "Offset of field: guild_builder_v1::h",
    ][::core::mem::offset_of!(guild_builder_v1, h) - 0usize];
    [
        "Offset of field: guild_builder_v1::ctx",
    ][::core::mem::offset_of!(guild_builder_v1, ctx) - 16usize];
    [
        "Offset of field: guild_builder_v1::section",
    ][::core::mem::offset_of!(guild_builder_v1, section) - 24usize];
    [
        "Offset of field: guild_builder_v1::weight",
    ][::core::mem::offset_of!(guild_builder_v1, weight) - 32usize];
    [
        "Offset of field: guild_builder_v1::input",
    ][::core::mem::offset_of!(guild_builder_v1, input) - 40usize];
    [
        "Offset of field: guild_builder_v1::state",
    ][::core::mem::offset_of!(guild_builder_v1, state) - 48usize];
    [
        "Offset of field: guild_builder_v1::view",
    ][::core::mem::offset_of!(guild_builder_v1, view) - 56usize];
    [
        "Offset of field: guild_builder_v1::op",
    ][::core::mem::offset_of!(guild_builder_v1, op) - 64usize];
    [
        "Offset of field: guild_builder_v1::output",
    ][::core::mem::offset_of!(guild_builder_v1, output) - 72usize];
    [
        "Offset of field: guild_builder_v1::reserved",
    ][::core::mem::offset_of!(guild_builder_v1, reserved) - 80usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_runner_desc {
    pub h: guild_hdr,
    pub id: guild_str,
    pub architectures: guild_str,
    pub reserved: [u64; 3usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_runner_desc"][::core::mem::size_of::<guild_runner_desc>() - 72usize];
    [
        "Alignment of guild_runner_desc",
    ][::core::mem::align_of::<guild_runner_desc>() - 8usize];
    [
        "Offset of field: guild_runner_desc::h",
    ][::core::mem::offset_of!(guild_runner_desc, h) - 0usize];
    [
        "Offset of field: guild_runner_desc::id",
    ][::core::mem::offset_of!(guild_runner_desc, id) - 16usize];
    [
        "Offset of field: guild_runner_desc::architectures",
    ][::core::mem::offset_of!(guild_runner_desc, architectures) - 32usize];
    [
        "Offset of field: guild_runner_desc::reserved",
    ][::core::mem::offset_of!(guild_runner_desc, reserved) - 48usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_describe_params {
    pub h: guild_hdr,
    pub context: u64,
    pub reserved: [u64; 3usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of guild_describe_params",
    ][::core::mem::size_of::<guild_describe_params>() - 48usize];
    [
        "Alignment of guild_describe_params",
    ][::core::mem::align_of::<guild_describe_params>() - 8usize];
    [
        "Offset of field: guild_describe_params::h",
    ][::core::mem::offset_of!(guild_describe_params, h) - 0usize];
    [
        "Offset of field: guild_describe_params::context",
    ][::core::mem::offset_of!(guild_describe_params, context) - 16usize];
    [
        "Offset of field: guild_describe_params::reserved",
    ][::core::mem::offset_of!(guild_describe_params, reserved) - 24usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_runner_v1 {
    pub h: guild_hdr,
    pub runner_count: u32,
    pub reserved0: u32,
    pub info: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            index: u32,
            out: *mut guild_runner_desc,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub matches: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            index: u32,
            model: *const guild_model_v1,
            score: *mut i32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub describe: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            index: u32,
            model: *const guild_model_v1,
            params: *const guild_describe_params,
            builder: *const guild_builder_v1,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub reserved: [u64; 3usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_runner_v1"][::core::mem::size_of::<guild_runner_v1>() - 72usize];
    [
        "Alignment of guild_runner_v1",
    ][::core::mem::align_of::<guild_runner_v1>() - 8usize];
    [
        "Offset of field: guild_runner_v1::h",
    ][::core::mem::offset_of!(guild_runner_v1, h) - 0usize];
    [
        "Offset of field: guild_runner_v1::runner_count",
    ][::core::mem::offset_of!(guild_runner_v1, runner_count) - 16usize];
    [
        "Offset of field: guild_runner_v1::reserved0",
    ][::core::mem::offset_of!(guild_runner_v1, reserved0) - 20usize];
    [
        "Offset of field: guild_runner_v1::info",
    ][::core::mem::offset_of!(guild_runner_v1, info) - 24usize];
    [
        "Offset of field: guild_runner_v1::matches",
    ][::core::mem::offset_of!(guild_runner_v1, matches) - 32usize];
    [
        "Offset of field: guild_runner_v1::describe",
    ][::core::mem::offset_of!(guild_runner_v1, describe) - 40usize];
    [
        "Offset of field: guild_runner_v1::reserved",
    ][::core::mem::offset_of!(guild_runner_v1, reserved) - 48usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_binding {
    pub size: u32,
    pub flags: u32,
    pub execute: guild_execute_fn,
    pub inst: *mut ::core::ffi::c_void,
    pub lease: u64,
    pub op_version: u32,
    pub reserved: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_binding"][::core::mem::size_of::<guild_binding>() - 40usize];
    ["Alignment of guild_binding"][::core::mem::align_of::<guild_binding>() - 8usize];
    [
        "Offset of field: guild_binding::size",
    ][::core::mem::offset_of!(guild_binding, size) - 0usize];
    [
        "Offset of field: guild_binding::flags",
    ][::core::mem::offset_of!(guild_binding, flags) - 4usize];
    [
        "Offset of field: guild_binding::execute",
    ][::core::mem::offset_of!(guild_binding, execute) - 8usize];
    [
        "Offset of field: guild_binding::inst",
    ][::core::mem::offset_of!(guild_binding, inst) - 16usize];
    [
        "Offset of field: guild_binding::lease",
    ][::core::mem::offset_of!(guild_binding, lease) - 24usize];
    [
        "Offset of field: guild_binding::op_version",
    ][::core::mem::offset_of!(guild_binding, op_version) - 32usize];
    [
        "Offset of field: guild_binding::reserved",
    ][::core::mem::offset_of!(guild_binding, reserved) - 36usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_ops_v1 {
    pub h: guild_hdr,
    pub ctx: *mut ::core::ffi::c_void,
    pub resolve: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            op: guild_str,
            request: *const guild_op_req,
            out: *mut guild_binding,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub scratch: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            binding: *const guild_binding,
            bounds: *const guild_bounds,
            slots: *mut guild_scratch_slot,
            cap: u32,
            count: *mut u32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub execute: ::core::option::Option<
        unsafe extern "C" fn(
            ctx: *mut ::core::ffi::c_void,
            binding: *const guild_binding,
            x: *const guild_exec,
        ) -> guild_status,
    >,
    pub release: ::core::option::Option<
        unsafe extern "C" fn(ctx: *mut ::core::ffi::c_void, binding: *mut guild_binding),
    >,
    pub reserved: [u64; 4usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_ops_v1"][::core::mem::size_of::<guild_ops_v1>() - 88usize];
    ["Alignment of guild_ops_v1"][::core::mem::align_of::<guild_ops_v1>() - 8usize];
    [
        "Offset of field: guild_ops_v1::h",
    ][::core::mem::offset_of!(guild_ops_v1, h) - 0usize];
    [
        "Offset of field: guild_ops_v1::ctx",
    ][::core::mem::offset_of!(guild_ops_v1, ctx) - 16usize];
    [
        "Offset of field: guild_ops_v1::resolve",
    ][::core::mem::offset_of!(guild_ops_v1, resolve) - 24usize];
    [
        "Offset of field: guild_ops_v1::scratch",
    ][::core::mem::offset_of!(guild_ops_v1, scratch) - 32usize];
    [
        "Offset of field: guild_ops_v1::execute",
    ][::core::mem::offset_of!(guild_ops_v1, execute) - 40usize];
    [
        "Offset of field: guild_ops_v1::release",
    ][::core::mem::offset_of!(guild_ops_v1, release) - 48usize];
    [
        "Offset of field: guild_ops_v1::reserved",
    ][::core::mem::offset_of!(guild_ops_v1, reserved) - 56usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_device_desc {
    pub h: guild_hdr,
    pub name: guild_str,
    pub arch_major: u32,
    pub arch_minor: u32,
    pub units: u32,
    pub bus_bits: u32,
    pub memory_bytes: u64,
    pub free_bytes: u64,
    pub l2_bytes: u64,
    pub driver_version: u32,
    pub runtime_version: u32,
    pub reserved: [u64; 4usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of guild_device_desc",
    ][::core::mem::size_of::<guild_device_desc>() - 112usize];
    [
        "Alignment of guild_device_desc",
    ][::core::mem::align_of::<guild_device_desc>() - 8usize];
    [
        "Offset of field: guild_device_desc::h",
    ][::core::mem::offset_of!(guild_device_desc, h) - 0usize];
    [
        "Offset of field: guild_device_desc::name",
    ][::core::mem::offset_of!(guild_device_desc, name) - 16usize];
    [
        "Offset of field: guild_device_desc::arch_major",
    ][::core::mem::offset_of!(guild_device_desc, arch_major) - 32usize];
    [
        "Offset of field: guild_device_desc::arch_minor",
    ][::core::mem::offset_of!(guild_device_desc, arch_minor) - 36usize];
    [
        "Offset of field: guild_device_desc::units",
    ][::core::mem::offset_of!(guild_device_desc, units) - 40usize];
    [
        "Offset of field: guild_device_desc::bus_bits",
    ][::core::mem::offset_of!(guild_device_desc, bus_bits) - 44usize];
    [
        "Offset of field: guild_device_desc::memory_bytes",
    ][::core::mem::offset_of!(guild_device_desc, memory_bytes) - 48usize];
    [
        "Offset of field: guild_device_desc::free_bytes",
    ][::core::mem::offset_of!(guild_device_desc, free_bytes) - 56usize];
    [
        "Offset of field: guild_device_desc::l2_bytes",
    ][::core::mem::offset_of!(guild_device_desc, l2_bytes) - 64usize];
    [
        "Offset of field: guild_device_desc::driver_version",
    ][::core::mem::offset_of!(guild_device_desc, driver_version) - 72usize];
    [
        "Offset of field: guild_device_desc::runtime_version",
    ][::core::mem::offset_of!(guild_device_desc, runtime_version) - 76usize];
    [
        "Offset of field: guild_device_desc::reserved",
    ][::core::mem::offset_of!(guild_device_desc, reserved) - 80usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_launch {
    pub size: u32,
    pub shared_bytes: u32,
    pub grid: [u32; 3usize],
    pub block: [u32; 3usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_launch"][::core::mem::size_of::<guild_launch>() - 32usize];
    ["Alignment of guild_launch"][::core::mem::align_of::<guild_launch>() - 4usize];
    [
        "Offset of field: guild_launch::size",
    ][::core::mem::offset_of!(guild_launch, size) - 0usize];
    [
        "Offset of field: guild_launch::shared_bytes",
    ][::core::mem::offset_of!(guild_launch, shared_bytes) - 4usize];
    [
        "Offset of field: guild_launch::grid",
    ][::core::mem::offset_of!(guild_launch, grid) - 8usize];
    [
        "Offset of field: guild_launch::block",
    ][::core::mem::offset_of!(guild_launch, block) - 20usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_device_v1 {
    pub h: guild_hdr,
    pub count: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            out: *mut u32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub info: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            device: u32,
            out: *mut guild_device_desc,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub alloc: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            device: u32,
            space: u32,
            bytes: u64,
            out: *mut *mut ::core::ffi::c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub free: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            device: u32,
            space: u32,
            ptr: *mut ::core::ffi::c_void,
        ),
    >,
    pub stream_create: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            device: u32,
            out: *mut guild_stream,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub stream_destroy: ::core::option::Option<
        unsafe extern "C" fn(self_: *mut ::core::ffi::c_void, stream: *mut guild_stream),
    >,
    pub stream_wait: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *const guild_stream,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub copy: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *const guild_stream,
            direction: u32,
            to: *mut ::core::ffi::c_void,
            from: *const ::core::ffi::c_void,
            bytes: u64,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub event_create: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            device: u32,
            out: *mut *mut ::core::ffi::c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub event_record: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *const guild_stream,
            event: *mut ::core::ffi::c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub event_wait: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *const guild_stream,
            event: *mut ::core::ffi::c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub event_destroy: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            event: *mut ::core::ffi::c_void,
        ),
    >,
    pub capture_begin: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut guild_stream,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub capture_end: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut guild_stream,
            graph: *mut *mut ::core::ffi::c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub graph_launch: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *const guild_stream,
            graph: *mut ::core::ffi::c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub graph_destroy: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            graph: *mut ::core::ffi::c_void,
        ),
    >,
    pub module_load: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            device: u32,
            image: *const ::core::ffi::c_void,
            bytes: u64,
            module: *mut *mut ::core::ffi::c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub module_function: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            module: *mut ::core::ffi::c_void,
            name: guild_str,
            function: *mut *mut ::core::ffi::c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub launch: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *const guild_stream,
            function: *mut ::core::ffi::c_void,
            grid: *const guild_launch,
            args: *const *mut ::core::ffi::c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    pub module_unload: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            device: u32,
            module: *mut ::core::ffi::c_void,
        ),
    >,
    pub reserved: [u64; 3usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_device_v1"][::core::mem::size_of::<guild_device_v1>() - 200usize];
    [
        "Alignment of guild_device_v1",
    ][::core::mem::align_of::<guild_device_v1>() - 8usize];
    [
        "Offset of field: guild_device_v1::h",
    ][::core::mem::offset_of!(guild_device_v1, h) - 0usize];
    [
        "Offset of field: guild_device_v1::count",
    ][::core::mem::offset_of!(guild_device_v1, count) - 16usize];
    [
        "Offset of field: guild_device_v1::info",
    ][::core::mem::offset_of!(guild_device_v1, info) - 24usize];
    [
        "Offset of field: guild_device_v1::alloc",
    ][::core::mem::offset_of!(guild_device_v1, alloc) - 32usize];
    [
        "Offset of field: guild_device_v1::free",
    ][::core::mem::offset_of!(guild_device_v1, free) - 40usize];
    [
        "Offset of field: guild_device_v1::stream_create",
    ][::core::mem::offset_of!(guild_device_v1, stream_create) - 48usize];
    [
        "Offset of field: guild_device_v1::stream_destroy",
    ][::core::mem::offset_of!(guild_device_v1, stream_destroy) - 56usize];
    [
        "Offset of field: guild_device_v1::stream_wait",
    ][::core::mem::offset_of!(guild_device_v1, stream_wait) - 64usize];
    [
        "Offset of field: guild_device_v1::copy",
    ][::core::mem::offset_of!(guild_device_v1, copy) - 72usize];
    [
        "Offset of field: guild_device_v1::event_create",
    ][::core::mem::offset_of!(guild_device_v1, event_create) - 80usize];
    [
        "Offset of field: guild_device_v1::event_record",
    ][::core::mem::offset_of!(guild_device_v1, event_record) - 88usize];
    [
        "Offset of field: guild_device_v1::event_wait",
    ][::core::mem::offset_of!(guild_device_v1, event_wait) - 96usize];
    [
        "Offset of field: guild_device_v1::event_destroy",
    ][::core::mem::offset_of!(guild_device_v1, event_destroy) - 104usize];
    [
        "Offset of field: guild_device_v1::capture_begin",
    ][::core::mem::offset_of!(guild_device_v1, capture_begin) - 112usize];
    [
        "Offset of field: guild_device_v1::capture_end",
    ][::core::mem::offset_of!(guild_device_v1, capture_end) - 120usize];
    [
        "Offset of field: guild_device_v1::graph_launch",
    ][::core::mem::offset_of!(guild_device_v1, graph_launch) - 128usize];
    [
        "Offset of field: guild_device_v1::graph_destroy",
    ][::core::mem::offset_of!(guild_device_v1, graph_destroy) - 136usize];
    [
        "Offset of field: guild_device_v1::module_load",
    ][::core::mem::offset_of!(guild_device_v1, module_load) - 144usize];
    [
        "Offset of field: guild_device_v1::module_function",
    ][::core::mem::offset_of!(guild_device_v1, module_function) - 152usize];
    [
        "Offset of field: guild_device_v1::launch",
    ][::core::mem::offset_of!(guild_device_v1, launch) - 160usize];
    [
        "Offset of field: guild_device_v1::module_unload",
    ][::core::mem::offset_of!(guild_device_v1, module_unload) - 168usize];
    [
        "Offset of field: guild_device_v1::reserved",
    ][::core::mem::offset_of!(guild_device_v1, reserved) - 176usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_counter {
    pub size: u32,
    pub reserved: u32,
    pub calls: u64,
    pub rows: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_counter"][::core::mem::size_of::<guild_counter>() - 24usize];
    ["Alignment of guild_counter"][::core::mem::align_of::<guild_counter>() - 8usize];
    [
        "Offset of field: guild_counter::size",
    ][::core::mem::offset_of!(guild_counter, size) - 0usize];
    [
        "Offset of field: guild_counter::reserved",
    ][::core::mem::offset_of!(guild_counter, reserved) - 4usize];
    [
        "Offset of field: guild_counter::calls",
    ][::core::mem::offset_of!(guild_counter, calls) - 8usize];
    [
        "Offset of field: guild_counter::rows",
    ][::core::mem::offset_of!(guild_counter, rows) - 16usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct guild_counters_v1 {
    pub h: guild_hdr,
    pub operation: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            index: u32,
            out: *mut guild_counter,
        ) -> guild_status,
    >,
    pub runner: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            index: u32,
            out: *mut guild_counter,
        ) -> guild_status,
    >,
    pub reserved: [u64; 2usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of guild_counters_v1"][::core::mem::size_of::<guild_counters_v1>() - 48usize];
    [
        "Alignment of guild_counters_v1",
    ][::core::mem::align_of::<guild_counters_v1>() - 8usize];
    [
        "Offset of field: guild_counters_v1::h",
    ][::core::mem::offset_of!(guild_counters_v1, h) - 0usize];
    [
        "Offset of field: guild_counters_v1::operation",
    ][::core::mem::offset_of!(guild_counters_v1, operation) - 16usize];
    [
        "Offset of field: guild_counters_v1::runner",
    ][::core::mem::offset_of!(guild_counters_v1, runner) - 24usize];
    [
        "Offset of field: guild_counters_v1::reserved",
    ][::core::mem::offset_of!(guild_counters_v1, reserved) - 32usize];
};
