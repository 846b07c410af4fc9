//! Extension `guild.counters/1`, proof of execution: becomes `guild/counters.h`.

use super::abi::{guild_hdr, guild_status};
use core::ffi::c_void;

/// What one operation of a plugin has run since it was loaded. 24 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_counter {
    /// Bytes of this struct.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// Calls of `execute` that returned `OK`; for a runner, calls of `describe`.
    pub calls: u64,
    /// Rows that those calls worked on.
    pub rows: u64,
}

/// Plugin extension `guild.counters/1`. 48 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_counters_v1 {
    /// Header, `GUILD_KIND_EXTENSION`.
    pub h: guild_hdr,
    /// Reads the counter of operation `index` (the index of `describe`). `[any]`
    pub operation: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            index: u32,
            out: *mut guild_counter,
        ) -> guild_status,
    >,
    /// Reads the counter of runner `index`. `[any]`
    pub runner: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            index: u32,
            out: *mut guild_counter,
        ) -> guild_status,
    >,
    /// Zero.
    pub reserved: [u64; 2],
}
