//! Extension `guild.runner/1`, model architectures: becomes `guild/runner.h`.
//!
//! A runner describes, the host executes. `describe` reads a model's metadata and calls the host's
//! builder; it never sees weights or activations. Every call here is cold.

use super::abi::{guild_err, guild_hdr, guild_status, guild_str};
use core::ffi::c_void;

/// A dimension that stands for the rows of a call.
pub const GUILD_DIM_ROWS: u64 = u64::MAX;
/// A dimension that stands for the output rows of a call.
pub const GUILD_DIM_OUTPUTS: u64 = u64::MAX - 1;

/// Input kind: token ids, i32 `[rows]`.
pub const GUILD_INPUT_TOKENS: u32 = 1;
/// Input kind: numbers of the rows whose logits are wanted, i32 `[outputs]`.
pub const GUILD_INPUT_OUTPUT_ROWS: u32 = 2;
/// Input kind of a draft section: the main model's last hidden states, f32 `[rows, hidden]`.
pub const GUILD_INPUT_HIDDEN: u32 = 3;

/// Output kind: logits, f32 `[outputs, vocabulary]`.
pub const GUILD_OUTPUT_LOGITS: u32 = 1;
/// Output kind: hidden states before the head, f32 `[rows, hidden]`, for draft sections.
pub const GUILD_OUTPUT_HIDDEN: u32 = 2;

/// Section kind: the model itself; exactly one, and first.
pub const GUILD_SECTION_MAIN: u32 = 1;
/// Section kind: a draft head (multi-token prediction).
pub const GUILD_SECTION_DRAFT: u32 = 2;

/// A tensor of the model file, without its bytes. 88 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_tensor_info {
    /// Bytes of this struct.
    pub size: u32,
    /// Element format.
    pub format: u32,
    /// Axes in use.
    pub rank: u32,
    /// Zero.
    pub reserved: u32,
    /// Elements along each axis, outermost first.
    pub shape: [u64; 6],
    /// Bytes in the file.
    pub byte_len: u64,
    /// Name; valid while the model is.
    pub name: guild_str,
}

/// The model file as a runner sees it. 96 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_model_v1 {
    /// Header, `GUILD_KIND_EXTENSION`.
    pub h: guild_hdr,
    /// First argument of the functions below.
    pub ctx: *mut c_void,
    /// The file's architecture name.
    pub architecture: guild_str,
    /// Tensors in the file.
    pub tensor_count: u64,
    /// Elements of a metadata value: 1 for a scalar, its length for an array; `NOT_FOUND`. `[serial]`
    pub length: Option<
        unsafe extern "C" fn(ctx: *mut c_void, key: guild_str, out: *mut u64) -> guild_status,
    >,
    /// An integer or boolean, element `index`; `NOT_FOUND`, or `INVALID` for another type. `[serial]`
    pub get_u64: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            key: guild_str,
            index: u64,
            out: *mut u64,
        ) -> guild_status,
    >,
    /// A number, element `index`. `[serial]`
    pub get_f64: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            key: guild_str,
            index: u64,
            out: *mut f64,
        ) -> guild_status,
    >,
    /// A string, element `index`; valid while the model is. `[serial]`
    pub get_str: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            key: guild_str,
            index: u64,
            out: *mut guild_str,
        ) -> guild_status,
    >,
    /// A tensor by name, or `NOT_FOUND`. `[serial]`
    pub tensor: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            name: guild_str,
            out: *mut guild_tensor_info,
        ) -> guild_status,
    >,
    /// A tensor by number. `[serial]`
    pub tensor_at: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            index: u64,
            out: *mut guild_tensor_info,
        ) -> guild_status,
    >,
}

/// Format and shape of a value that an operation makes. 64 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_value_desc {
    /// Bytes of this struct.
    pub size: u32,
    /// Element format.
    pub format: u32,
    /// Axes in use.
    pub rank: u32,
    /// Zero.
    pub reserved: u32,
    /// Elements along each axis, outermost first; axis 0 may be `GUILD_DIM_ROWS` or
    /// `GUILD_DIM_OUTPUTS`.
    pub shape: [u64; 6],
}

/// A part of a described model. 48 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_section_desc {
    /// Header, `GUILD_KIND_RECORD`.
    pub h: guild_hdr,
    /// One of `GUILD_SECTION_*`.
    pub kind: u32,
    /// Zero.
    pub reserved0: u32,
    /// Name for reports.
    pub name: guild_str,
    /// Zero.
    pub reserved: u64,
}

/// A state that operations of the section share. 80 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_state_desc {
    /// Header, `GUILD_KIND_RECORD`.
    pub h: guild_hdr,
    /// One of `GUILD_STATE_*`.
    pub kind: u32,
    /// Element format; 0 lets the host choose (the session's KV format).
    pub format: u32,
    /// Axes in use, at most 4; an append-only state names `[kv_heads, head_dim]`.
    pub rank: u32,
    /// Zero.
    pub reserved: u32,
    /// Elements along each axis, outermost first.
    pub shape: [u64; 4],
    /// Name for reports.
    pub name: guild_str,
}

/// A window on another value's memory. 160 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_view_desc {
    /// Header, `GUILD_KIND_RECORD`.
    pub h: guild_hdr,
    /// The value that the window is on; not a weight.
    pub source: u32,
    /// Axes in use.
    pub rank: u32,
    /// Elements from the start of each row of `source` to the window.
    pub offset: u64,
    /// Elements along each axis; axis 0 as in `source`.
    pub shape: [u64; 6],
    /// Elements from one entry to the next along each axis; axis 0 is taken from `source`.
    pub stride: [u64; 6],
    /// Zero.
    pub reserved: [u64; 4],
}

/// One operation of the described graph. 112 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_node_desc {
    /// Header, `GUILD_KIND_RECORD`.
    pub h: guild_hdr,
    /// Operation with its version: `guild.core.rms_norm@1`.
    pub op: guild_str,
    /// Name for reports: `attn_norm`.
    pub name: guild_str,
    /// The operation's parameter struct, or null.
    pub params: *const c_void,
    /// Bytes at `params`.
    pub params_size: u64,
    /// Input values in the contract's order.
    pub inputs: *const u32,
    /// State operands in the contract's order.
    pub states: *const u32,
    /// Output values in the contract's order.
    pub outputs: *const guild_value_desc,
    /// Entries of `inputs`.
    pub n_in: u32,
    /// Entries of `states`.
    pub n_state: u32,
    /// Entries of `outputs`.
    pub n_out: u32,
    /// Layer number, for reports and crash records.
    pub layer: u32,
    /// Bytes from one entry of `outputs` to the next.
    pub output_stride: u64,
}

/// The host's builder: what `describe` calls. Values and states are numbers within a section.
/// 96 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_builder_v1 {
    /// Header, `GUILD_KIND_EXTENSION`.
    pub h: guild_hdr,
    /// First argument of the functions below.
    pub ctx: *mut c_void,
    /// Starts a section; values and states made before it can't be used in it. `[serial]`
    pub section: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            desc: *const guild_section_desc,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// A tensor of the model as a value. `[serial]`
    pub weight: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            name: guild_str,
            value: *mut u32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// A call's input as a value; `hidden` is the row length where the kind needs one. `[serial]`
    pub input: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            kind: u32,
            hidden: u64,
            value: *mut u32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// A state. `[serial]`
    pub state: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            desc: *const guild_state_desc,
            state: *mut u32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// A window on a value. `[serial]`
    pub view: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            desc: *const guild_view_desc,
            value: *mut u32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// An operation; writes `desc.n_out` value numbers to `values`. `[serial]`
    pub op: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            desc: *const guild_node_desc,
            values: *mut u32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Names a value as a result of the section. `[serial]`
    pub output: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            kind: u32,
            value: u32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Zero.
    pub reserved: [u64; 2],
}

/// One architecture runner of a plugin. 72 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_runner_desc {
    /// Header, `GUILD_KIND_RECORD`.
    pub h: guild_hdr,
    /// Runner id: `guild.runner.qwen3_5_moe.v1`.
    pub id: guild_str,
    /// Architecture names that it may match, separated by spaces, for listings.
    pub architectures: guild_str,
    /// Zero.
    pub reserved: [u64; 3],
}

/// What the host fixes before `describe`. 48 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_describe_params {
    /// Header, `GUILD_KIND_RECORD`.
    pub h: guild_hdr,
    /// Positions of one sequence.
    pub context: u64,
    /// Zero.
    pub reserved: [u64; 3],
}

/// Plugin extension `guild.runner/1`. 72 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_runner_v1 {
    /// Header, `GUILD_KIND_EXTENSION`.
    pub h: guild_hdr,
    /// Runners in this plugin.
    pub runner_count: u32,
    /// Zero.
    pub reserved0: u32,
    /// Describes runner `index`; text stays valid until `shutdown`. `[any]`
    pub info: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            index: u32,
            out: *mut guild_runner_desc,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// How well runner `index` fits the model: a score above 0, or `DECLINED`. `[any]`
    pub matches: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            index: u32,
            model: *const guild_model_v1,
            score: *mut i32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Checks the model's invariants and describes it to the builder. `[serial]`
    pub describe: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            index: u32,
            model: *const guild_model_v1,
            params: *const guild_describe_params,
            builder: *const guild_builder_v1,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Zero.
    pub reserved: [u64; 3],
}
