//! Extension `guild.device/1`, memory and queues of one kind of hardware: becomes
//! `guild/device.h`.
//!
//! Host memory is the host's own device, number 0, and needs no provider.

use super::abi::{guild_err, guild_hdr, guild_status, guild_str, guild_stream};
use core::ffi::c_void;

/// Copy direction: host to device.
pub const GUILD_COPY_HOST_TO_DEVICE: u32 = 1;
/// Copy direction: device to host.
pub const GUILD_COPY_DEVICE_TO_HOST: u32 = 2;
/// Copy direction: within one device.
pub const GUILD_COPY_DEVICE_TO_DEVICE: u32 = 3;

/// What a device is. 112 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_device_desc {
    /// Header, `GUILD_KIND_RECORD`.
    pub h: guild_hdr,
    /// Name as the driver gives it; valid until `shutdown`.
    pub name: guild_str,
    /// Compute capability or architecture number, major.
    pub arch_major: u32,
    /// Compute capability or architecture number, minor.
    pub arch_minor: u32,
    /// Multiprocessors.
    pub units: u32,
    /// Memory bus in bits.
    pub bus_bits: u32,
    /// Device memory in bytes.
    pub memory_bytes: u64,
    /// Free device memory in bytes at the time of the call.
    pub free_bytes: u64,
    /// Level-2 cache in bytes.
    pub l2_bytes: u64,
    /// Driver version.
    pub driver_version: u32,
    /// Runtime version.
    pub runtime_version: u32,
    /// Zero.
    pub reserved: [u64; 4],
}

/// Shape of a launch. 32 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_launch {
    /// Bytes of this struct.
    pub size: u32,
    /// Dynamic shared memory in bytes.
    pub shared_bytes: u32,
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
}

/// Plugin extension `guild.device/1`. 200 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_device_v1 {
    /// Header, `GUILD_KIND_EXTENSION`.
    pub h: guild_hdr,
    /// Number of devices; `DECLINED` with a plain sentence where there is no driver. `[any]`
    pub count: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            out: *mut u32,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Describes a device. `[any]`
    pub info: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            device: u32,
            out: *mut guild_device_desc,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Allocates device or pinned memory (`space`). `[any]`
    pub alloc: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            device: u32,
            space: u32,
            bytes: u64,
            out: *mut *mut c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Frees what `alloc` gave. `[any]`
    pub free:
        Option<unsafe extern "C" fn(self_: *mut c_void, device: u32, space: u32, ptr: *mut c_void)>,
    /// Makes a stream. `[any]`
    pub stream_create: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            device: u32,
            out: *mut guild_stream,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Ends a stream. `[inst]`
    pub stream_destroy: Option<unsafe extern "C" fn(self_: *mut c_void, stream: *mut guild_stream)>,
    /// Waits until the stream is idle. `[inst]`
    pub stream_wait: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            stream: *const guild_stream,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Enqueues a copy. `[inst]`
    pub copy: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            stream: *const guild_stream,
            direction: u32,
            to: *mut c_void,
            from: *const c_void,
            bytes: u64,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Makes an event. `[any]`
    pub event_create: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            device: u32,
            out: *mut *mut c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Records an event on a stream. `[inst]`
    pub event_record: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            stream: *const guild_stream,
            event: *mut c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Makes a stream wait for an event. `[inst]`
    pub event_wait: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            stream: *const guild_stream,
            event: *mut c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Ends an event. `[any]`
    pub event_destroy: Option<unsafe extern "C" fn(self_: *mut c_void, event: *mut c_void)>,
    /// Starts capturing a stream into a graph. `[inst]`
    pub capture_begin: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            stream: *mut guild_stream,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Ends capturing and hands out an executable graph. `[inst]`
    pub capture_end: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            stream: *mut guild_stream,
            graph: *mut *mut c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Launches a graph on a stream. `[inst]`
    pub graph_launch: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            stream: *const guild_stream,
            graph: *mut c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Ends a graph. `[any]`
    pub graph_destroy: Option<unsafe extern "C" fn(self_: *mut c_void, graph: *mut c_void)>,
    /// Loads a module from verified bytes. `[any]`
    pub module_load: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            device: u32,
            image: *const c_void,
            bytes: u64,
            module: *mut *mut c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Finds a function in a module. `[any]`
    pub module_function: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            module: *mut c_void,
            name: guild_str,
            function: *mut *mut c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Enqueues a launch of a function. `[inst]`
    pub launch: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            stream: *const guild_stream,
            function: *mut c_void,
            grid: *const guild_launch,
            args: *const *mut c_void,
            err: *mut guild_err,
        ) -> guild_status,
    >,
    /// Unloads a module. `[any]`
    pub module_unload:
        Option<unsafe extern "C" fn(self_: *mut c_void, device: u32, module: *mut c_void)>,
    /// Zero.
    pub reserved: [u64; 3],
}
