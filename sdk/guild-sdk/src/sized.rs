//! Reading and writing the sized structs of the C contract (cold calls only).
#![allow(unsafe_code)]

use crate::kernel::Failure;
use guild_abi::abi::{
    GUILD_FLAGS_MUST_UNDERSTAND, GUILD_KIND_BOUNDS, GUILD_KIND_HOST, GUILD_KIND_OP_DESC,
    GUILD_KIND_OP_REQ, GUILD_KIND_PLUGIN, GUILD_KIND_REFUSAL, GUILD_STATUS_ERR_ABI, guild_bounds,
    guild_hdr, guild_host_v1, guild_op_desc, guild_op_req, guild_plugin_v1, guild_refusal,
};
use guild_abi::counters::guild_counter;

/// A struct that starts with a `guild_hdr`.
///
/// # Safety
/// `repr(C)`, first field a `guild_hdr`, and all bytes zero is a value.
pub(crate) unsafe trait Headed: Copy {
    /// The struct's `GUILD_KIND_*`.
    const KIND: u16;
}

// SAFETY: `repr(C)`, header first, integers, pointers and optional functions only.
unsafe impl Headed for guild_host_v1 {
    const KIND: u16 = GUILD_KIND_HOST;
}
// SAFETY: as above.
unsafe impl Headed for guild_plugin_v1 {
    const KIND: u16 = GUILD_KIND_PLUGIN;
}
// SAFETY: as above.
unsafe impl Headed for guild_op_req {
    const KIND: u16 = GUILD_KIND_OP_REQ;
}
// SAFETY: as above.
unsafe impl Headed for guild_op_desc {
    const KIND: u16 = GUILD_KIND_OP_DESC;
}
// SAFETY: as above.
unsafe impl Headed for guild_bounds {
    const KIND: u16 = GUILD_KIND_BOUNDS;
}

/// Copies a struct that the host wrote: `min(its size, ours)` bytes, the rest zero.
///
/// # Safety
/// `from` is null, or points to a struct as long as its header's `size` says, not written meanwhile.
pub(crate) unsafe fn read<T: Headed>(from: *const T, what: &'static str) -> Result<T, Failure> {
    // SAFETY: the caller's promise covers the header; `header` checks null and alignment.
    let size = unsafe { header::<T>(from, what) }?;
    // SAFETY: all bytes zero is a `T` (`Headed`).
    let mut value: T = unsafe { core::mem::zeroed() };
    let bytes = size.min(size_of::<T>());
    // SAFETY: `from` has `size` readable bytes and `value` has `size_of::<T>()`; both hold `bytes`.
    unsafe {
        core::ptr::copy_nonoverlapping(
            from.cast::<u8>(),
            core::ptr::from_mut(&mut value).cast::<u8>(),
            bytes,
        );
    }
    Ok(value)
}

/// Copies `value` into a struct of the host, at most as long as its header says; its header's
/// `size`, `kind` and `next` stay.
///
/// # Safety
/// `to` is null, or points to a struct as long as its header's `size` says that this thread may
/// write.
pub(crate) unsafe fn write<T: Headed>(
    to: *mut T,
    value: &T,
    what: &'static str,
) -> Result<(), Failure> {
    // SAFETY: the caller's promise covers the header.
    let size = unsafe { header::<T>(to, what) }?;
    let bytes = size.min(size_of::<T>()) - size_of::<guild_hdr>();
    // SAFETY: both structs have `size_of::<guild_hdr>() + bytes` bytes; the plugin's own value and
    // the host's memory don't overlap.
    unsafe {
        core::ptr::copy_nonoverlapping(
            core::ptr::from_ref(value)
                .cast::<u8>()
                .add(size_of::<guild_hdr>()),
            to.cast::<u8>().add(size_of::<guild_hdr>()),
            bytes,
        );
    }
    Ok(())
}

/// Checks a header and gives the struct's size.
///
/// # Safety
/// As [`read`].
unsafe fn header<T: Headed>(at: *const T, what: &'static str) -> Result<usize, Failure> {
    if at.is_null() || !at.is_aligned() {
        return Err(Failure::invalid(format!("{what} is null or misaligned")));
    }
    // SAFETY: not null, aligned, and a `T` starts with a header (`Headed`).
    let header = unsafe { &*at.cast::<guild_hdr>() };
    if header.kind != T::KIND {
        let kind = header.kind;
        return Err(Failure::invalid(format!("{what} has kind {kind}")));
    }
    if header.flags & GUILD_FLAGS_MUST_UNDERSTAND != 0 {
        return Err(Failure::new(
            GUILD_STATUS_ERR_ABI,
            format!(
                "{what} has flags {:#x} that must be understood",
                header.flags
            ),
        ));
    }
    if (header.size as usize) < size_of::<guild_hdr>() {
        return Err(Failure::invalid(format!("{what} is shorter than a header")));
    }
    Ok(header.size as usize)
}

/// Writes why a request was declined; does nothing when `to` is null.
///
/// # Safety
/// `to` is null, or points to a whole `guild_refusal` that this thread may write and whose `buf` has
/// `cap` writable bytes.
pub(crate) unsafe fn write_refusal(to: *mut guild_refusal, refusal: &crate::kernel::Refusal) {
    if to.is_null() {
        return;
    }
    // SAFETY: not null; the caller promises exclusive access.
    let to = unsafe { &mut *to };
    if to.h.kind != GUILD_KIND_REFUSAL || (to.h.size as usize) < size_of::<guild_refusal>() {
        return;
    }
    to.reason = refusal.reason;
    to.index = refusal.index;
    to.wanted = refusal.wanted;
    to.offered = refusal.offered;
    to.len = refusal.text.len().min(u32::MAX as usize) as u32;
    if to.buf.is_null() {
        return;
    }
    let fits = refusal
        .text
        .floor_char_boundary(refusal.text.len().min(to.cap as usize));
    // SAFETY: `buf` has `cap >= fits` writable bytes; the plugin's text doesn't overlap them.
    unsafe { core::ptr::copy_nonoverlapping(refusal.text.as_ptr(), to.buf, fits) };
}

/// Writes a counter into the host's struct.
///
/// # Safety
/// `to` is null, or points to a whole `guild_counter` that this thread may write.
pub(crate) unsafe fn write_counter(
    to: *mut guild_counter,
    calls: u64,
    rows: u64,
) -> Result<(), Failure> {
    if to.is_null() {
        return Err(Failure::invalid("the counter is null"));
    }
    // SAFETY: not null; the caller promises exclusive access.
    let to = unsafe { &mut *to };
    if (to.size as usize) < size_of::<guild_counter>() {
        return Err(Failure::invalid("the counter's size isn't set"));
    }
    to.calls = calls;
    to.rows = rows;
    Ok(())
}
