//! Extension `guild.ops/1`, operations for plugins and tools: becomes `guild/ops.h`.

use super::abi::{
    guild_bounds, guild_err, guild_exec, guild_execute_fn, guild_hdr, guild_op_req,
    guild_scratch_slot, guild_status, guild_str,
};
use core::ffi::c_void;

/// A resolved operation; holds a lease on its package. 40 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_binding {
    /// Bytes of this struct.
    pub size: u32,
    /// Zero.
    pub flags: u32,
    /// Runs the operation; call it with `inst`.
    pub execute: guild_execute_fn,
    /// First argument of `execute`.
    pub inst: *mut c_void,
    /// Lease: slot and generation. A stale release is an error.
    pub lease: u64,
    /// Version that was bound.
    pub op_version: u32,
    /// Zero.
    pub reserved: u32,
}

/// Host extension `guild.ops/1`. 88 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_ops_v1 {
    /// Header, `GUILD_KIND_EXTENSION`.
    pub h: guild_hdr,
    /// First argument of the functions below.
    pub ctx: *mut c_void,
    /// Finds a provider and makes an instance. Refused with `BUSY` inside `execute`. `[any]`
    pub resolve: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            op: guild_str,
            request: *const guild_op_req,
            out: *mut guild_binding,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Scratch that the binding needs. `[inst]`
    pub scratch: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            binding: *const guild_binding,
            bounds: *const guild_bounds,
            slots: *mut guild_scratch_slot,
            cap: u32,
            count: *mut u32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Runs a binding with every argument checked, for tests and tools. `[inst]`
    pub execute: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            binding: *const guild_binding,
            x: *const guild_exec,
        ) -> guild_status,
    >,
    /// Ends the binding and its lease. `[inst]`
    pub release: Option<unsafe extern "C" fn(ctx: *mut c_void, binding: *mut guild_binding)>,
    /// Zero.
    pub reserved: [u64; 4],
}
