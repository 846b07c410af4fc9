//! Numbers of element formats, and the extension `guild.formats/1` for more: becomes `guild/formats.h`.

use super::abi::{guild_hdr, guild_quant, guild_status, guild_str};
use core::ffi::c_void;

/// Format: IEEE binary32.
pub const GUILD_FORMAT_F32: u32 = 1;
/// Format: IEEE binary16.
pub const GUILD_FORMAT_F16: u32 = 2;
/// Format: bfloat16.
pub const GUILD_FORMAT_BF16: u32 = 3;
/// Format: 32-bit signed integer.
pub const GUILD_FORMAT_I32: u32 = 4;
/// Format: 64-bit signed integer.
pub const GUILD_FORMAT_I64: u32 = 5;
/// Format: `ggml.q4_0`, 32 elements in 18 bytes.
pub const GUILD_FORMAT_Q4_0: u32 = 16;
/// Format: `ggml.q8_0`, 32 elements in 34 bytes.
pub const GUILD_FORMAT_Q8_0: u32 = 17;
/// Format: `ggml.q4_K`, 256 elements in 144 bytes.
pub const GUILD_FORMAT_Q4_K: u32 = 18;
/// Format: `ggml.q5_K`, 256 elements in 176 bytes.
pub const GUILD_FORMAT_Q5_K: u32 = 19;
/// Format: `ggml.q6_K`, 256 elements in 210 bytes.
pub const GUILD_FORMAT_Q6_K: u32 = 20;
/// Format: `ggml.q4_1`, 32 elements in 20 bytes.
pub const GUILD_FORMAT_Q4_1: u32 = 21;
/// Format: `ggml.q5_0`, 32 elements in 22 bytes.
pub const GUILD_FORMAT_Q5_0: u32 = 22;
/// Format: `ggml.q5_1`, 32 elements in 24 bytes.
pub const GUILD_FORMAT_Q5_1: u32 = 23;
/// Format: `ggml.q2_K`, 256 elements in 84 bytes.
pub const GUILD_FORMAT_Q2_K: u32 = 24;
/// Format: `ggml.q3_K`, 256 elements in 110 bytes.
pub const GUILD_FORMAT_Q3_K: u32 = 25;
/// Format: `ggml.iq4_nl`, 32 elements in 18 bytes.
pub const GUILD_FORMAT_IQ4_NL: u32 = 26;
/// Format: `ggml.iq4_xs`, 256 elements in 136 bytes.
pub const GUILD_FORMAT_IQ4_XS: u32 = 27;
/// Format: `ggml.iq2_xxs`, 256 elements in 66 bytes.
pub const GUILD_FORMAT_IQ2_XXS: u32 = 28;
/// Format: `ggml.iq2_xs`, 256 elements in 74 bytes.
pub const GUILD_FORMAT_IQ2_XS: u32 = 29;
/// Format: `ggml.iq2_s`, 256 elements in 82 bytes.
pub const GUILD_FORMAT_IQ2_S: u32 = 30;
/// Format: `ggml.iq3_xxs`, 256 elements in 98 bytes.
pub const GUILD_FORMAT_IQ3_XXS: u32 = 31;
/// Format: `ggml.iq3_s`, 256 elements in 110 bytes.
pub const GUILD_FORMAT_IQ3_S: u32 = 32;
/// Format: `ggml.iq1_s`, 256 elements in 50 bytes.
pub const GUILD_FORMAT_IQ1_S: u32 = 33;
/// Format: `ggml.iq1_m`, 256 elements in 56 bytes.
pub const GUILD_FORMAT_IQ1_M: u32 = 34;
/// Format: `ggml.tq1_0`, 256 elements in 54 bytes.
pub const GUILD_FORMAT_TQ1_0: u32 = 35;
/// Format: `ggml.tq2_0`, 256 elements in 66 bytes.
pub const GUILD_FORMAT_TQ2_0: u32 = 36;
/// Format: `ggml.mxfp4`, 32 elements in 17 bytes.
pub const GUILD_FORMAT_MXFP4: u32 = 37;
/// Format: `ggml.nvfp4`, 64 elements in 36 bytes.
pub const GUILD_FORMAT_NVFP4: u32 = 38;
/// Format: `ggml.q1_0`, 128 elements in 18 bytes.
pub const GUILD_FORMAT_Q1_0: u32 = 39;
/// Formats from here on are numbered by the host from their names (`guild.formats/1`).
pub const GUILD_FORMAT_NAMED: u32 = 256;

/// Layout of a weight: the file's own; rows follow each other without gaps.
pub const GUILD_LAYOUT_FILE: u16 = 0;
/// Layout of the weights of `moe_experts`: an expert's gate and up rows alternate, its down rows follow.
/// Three tensors look into the same bytes; their strides say where rows and experts begin. Where gate and
/// up are one tensor, its rows alternate.
pub const GUILD_LAYOUT_GATE_UP_ROWS: u16 = 1;

/// Host extension `guild.formats/1`: numbers for formats beyond the fixed ones. 64 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_formats_v1 {
    /// Header, `GUILD_KIND_EXTENSION`.
    pub h: guild_hdr,
    /// First argument of the functions below.
    pub ctx: *mut c_void,
    /// Number of a named format (`ggml.q4_K`), or `NOT_FOUND`. `[any]`
    pub number: Option<
        unsafe extern "C" fn(ctx: *mut c_void, name: guild_str, number: *mut u32) -> guild_status,
    >,
    /// Description of a number: fills `format`, `block_elems`, `block_bytes`. `[any]`
    pub describe: Option<
        unsafe extern "C" fn(ctx: *mut c_void, number: u32, out: *mut guild_quant) -> guild_status,
    >,
    /// Zero.
    pub reserved: [u64; 3],
}
