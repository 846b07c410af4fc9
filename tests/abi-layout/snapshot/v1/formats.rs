//! Extension `guild.formats/1`, numbers of element formats: becomes `guild/formats.h`.

use super::abi::{guild_hdr, guild_quant, guild_status, guild_str};
use core::ffi::c_void;

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
