//! Reading the cold structs that a plugin writes: the layout law of the ABI in one place.
//!
//! A struct begins with its size, its kind and its flags. The host reads what both sides know; a missing
//! tail reads as zero, whatever bytes lie there; a flag in the high byte must be understood.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::mem::offset_of;

use guild_abi::abi::{
    GUILD_FLAGS_MUST_UNDERSTAND, GUILD_KIND_EXTENSION, GUILD_KIND_OP_DESC, GUILD_KIND_PLUGIN,
    GUILD_KIND_RECORD, guild_hdr, guild_op_desc, guild_plugin_v1,
};
use guild_abi::counters::guild_counters_v1;
use guild_abi::runner::{guild_runner_desc, guild_runner_v1};

use crate::error::Fault;

/// A cold struct of the ABI.
///
/// # Safety
/// The type is `repr(C)`, begins with a `guild_hdr`, has no implicit padding, is 8-aligned at most, and
/// all-zero bytes are a value of it.
pub unsafe trait Record: Copy {
    /// The C name, for messages.
    const NAME: &'static str;
    /// The `kind` of its header.
    const KIND: u16;
    /// Bytes that the host can't do without; what follows may be missing.
    const LEAST_BYTES: usize;
}

// SAFETY: `guild_abi`'s layout law, held by its layout lock: explicit padding, integers, pointers and
// optional functions only.
unsafe impl Record for guild_plugin_v1 {
    const NAME: &'static str = "guild_plugin_v1";
    const KIND: u16 = GUILD_KIND_PLUGIN;
    const LEAST_BYTES: usize = offset_of!(guild_plugin_v1, init);
}

// SAFETY: as above.
unsafe impl Record for guild_op_desc {
    const NAME: &'static str = "guild_op_desc";
    const KIND: u16 = GUILD_KIND_OP_DESC;
    const LEAST_BYTES: usize = offset_of!(guild_op_desc, rank);
}

// SAFETY: as above.
unsafe impl Record for guild_runner_desc {
    const NAME: &'static str = "guild_runner_desc";
    const KIND: u16 = GUILD_KIND_RECORD;
    const LEAST_BYTES: usize = offset_of!(guild_runner_desc, reserved);
}

// SAFETY: as above.
unsafe impl Record for guild_runner_v1 {
    const NAME: &'static str = "guild_runner_v1";
    const KIND: u16 = GUILD_KIND_EXTENSION;
    const LEAST_BYTES: usize = offset_of!(guild_runner_v1, reserved);
}

// SAFETY: as above.
unsafe impl Record for guild_counters_v1 {
    const NAME: &'static str = "guild_counters_v1";
    const KIND: u16 = GUILD_KIND_EXTENSION;
    const LEAST_BYTES: usize = offset_of!(guild_counters_v1, runner);
}

/// A zeroed struct with the host's header.
pub(crate) fn blank<T: Record>() -> T {
    // SAFETY: `Record` promises that zeros are a value and that it begins with a header.
    unsafe {
        let mut value = std::mem::zeroed::<T>();
        (&raw mut value).cast::<guild_hdr>().write(header::<T>());
        value
    }
}

/// Host memory for a plugin to write a struct into, with known bytes behind it.
#[repr(C)]
pub(crate) struct OutBuffer<T> {
    value: T,
    canary: [u8; CANARY_BYTES],
}

const CANARY_BYTES: usize = 256;
const CANARY: u8 = 0xa5;

impl<T: Record> OutBuffer<T> {
    /// Zeroed, with the host's header.
    pub(crate) fn new() -> Self {
        Self {
            value: blank(),
            canary: [CANARY; CANARY_BYTES],
        }
    }

    /// What a plugin function gets; its provenance covers the canary too.
    pub(crate) fn as_out(&mut self) -> *mut T {
        (&raw mut *self).cast()
    }

    /// The struct that the plugin wrote, cut to what it says it wrote, with the host's header.
    ///
    /// # Errors
    /// `INCOMPATIBLE` for a flag that must be understood; `PREFLIGHT_REFUSED` for bytes written past
    /// the end or a header that can't be.
    pub(crate) fn finish(self) -> Result<T, Fault> {
        if self.canary != [CANARY; CANARY_BYTES] {
            return Err(Fault::malformed(
                T::NAME,
                format!(
                    "it was written past its end, {} bytes as the caller's header said",
                    size_of::<T>()
                ),
            ));
        }
        // SAFETY: `Record` promises that the value begins with a header.
        let written = unsafe { (&raw const self.value).cast::<guild_hdr>().read() };
        let bytes = known_bytes::<T>(written)?;
        // SAFETY: `known_bytes` is at most the size of `T`, all bytes of which are initialised.
        Ok(unsafe { cut(&self.value, bytes) })
    }
}

/// Copies an extension table that lies in the plugin's memory; `None` where the plugin has none.
///
/// # Errors
/// As [`OutBuffer::finish`]; also a pointer that isn't aligned.
///
/// # Safety
/// `table` is null or what the plugin's `get_extension` gave for an id whose type is `T`: readable for
/// the size that its header names.
pub(crate) unsafe fn read_extension<T: Record>(table: *const c_void) -> Result<Option<T>, Fault> {
    if table.is_null() {
        return Ok(None);
    }
    if !table.cast::<T>().is_aligned() {
        return Err(Fault::malformed(T::NAME, "its address isn't aligned"));
    }
    // SAFETY: aligned and not null; the caller promises that a header is readable.
    let written = unsafe { table.cast::<guild_hdr>().read() };
    let bytes = known_bytes::<T>(written)?;
    // SAFETY: the caller promises `written.size` readable bytes, and `bytes` is at most that.
    Ok(Some(unsafe { cut(table.cast::<T>(), bytes) }))
}

/// The first `bytes` bytes of a struct; the rest is zero and the header is the host's.
///
/// # Safety
/// `bytes` is at most the size of `T`, and `from` is readable for it.
unsafe fn cut<T: Record>(from: *const T, bytes: usize) -> T {
    let mut value = blank::<T>();
    // SAFETY: the caller promises `bytes` readable bytes, `value` has as many, they don't overlap. A
    // `Record` has no invalid bit patterns.
    unsafe {
        std::ptr::copy_nonoverlapping(from.cast::<u8>(), (&raw mut value).cast(), bytes);
        (&raw mut value).cast::<guild_hdr>().write(header::<T>());
    }
    value
}

/// Bytes that both sides know.
fn known_bytes<T: Record>(written: guild_hdr) -> Result<usize, Fault> {
    if written.kind != T::KIND {
        return Err(Fault::malformed(
            T::NAME,
            format!("its kind is {}, expected {}", written.kind, T::KIND),
        ));
    }
    if written.flags & GUILD_FLAGS_MUST_UNDERSTAND != 0 {
        return Err(Fault::UnknownFlag {
            record: T::NAME,
            flags: written.flags,
        });
    }
    let size = written.size as usize;
    if size < T::LEAST_BYTES || !size.is_multiple_of(align_of::<guild_hdr>()) {
        return Err(Fault::malformed(
            T::NAME,
            format!(
                "its size is {size}, expected a multiple of 8 from {}",
                T::LEAST_BYTES
            ),
        ));
    }
    Ok(size.min(size_of::<T>()))
}

fn header<T: Record>() -> guild_hdr {
    guild_hdr::new(size_of::<T>(), T::KIND)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(change: impl FnOnce(&mut guild_plugin_v1)) -> Result<guild_plugin_v1, Fault> {
        let mut out = OutBuffer::<guild_plugin_v1>::new();
        change(&mut out.value);
        out.finish()
    }

    #[test]
    fn garbage_after_the_named_size_reads_as_zero() {
        let table = written(|table| {
            table.h.size = offset_of!(guild_plugin_v1, quiesce) as u32;
            table.op_count = 3;
            table.reserved = [u64::MAX; 8];
        })
        .unwrap();
        assert_eq!(table.op_count, 3);
        assert_eq!(table.reserved, [0; 8]);
        assert_eq!(table.h.size as usize, size_of::<guild_plugin_v1>());
    }

    #[test]
    fn a_newer_longer_struct_is_read_as_far_as_the_host_knows() {
        let table = written(|table| {
            table.h.size = 4096;
            table.op_count = 3;
        })
        .unwrap();
        assert_eq!(table.op_count, 3);
        assert_eq!(table.h.size as usize, size_of::<guild_plugin_v1>());
    }

    #[test]
    fn impossible_headers_are_refused() {
        let changes: [fn(&mut guild_plugin_v1); 5] = [
            |table| table.h.size = 0,
            |table| table.h.size = 16,
            |table| table.h.size -= 4,
            |table| table.h.kind = GUILD_KIND_OP_DESC,
            |table| table.h.size = u32::MAX,
        ];
        for change in changes {
            let fault = written(change).map(|table| table.h.size).unwrap_err();
            assert_eq!(fault.code().name, "PREFLIGHT_REFUSED");
        }
    }

    #[test]
    fn high_flags_must_be_understood_and_low_flags_may_be_ignored() {
        let fault = written(|table| table.h.flags = 0x0100)
            .map(|table| table.h.size)
            .unwrap_err();
        assert_eq!(fault.code().name, "INCOMPATIBLE");
        assert!(fault.to_string().contains("0x0100"));
        assert_eq!(written(|table| table.h.flags = 0x00ff).unwrap().h.flags, 0);
    }

    #[test]
    fn writing_past_the_end_is_noticed() {
        let mut out = OutBuffer::<guild_plugin_v1>::new();
        // SAFETY: one byte past the struct is the canary's first byte, which the buffer owns.
        unsafe { out.as_out().add(1).cast::<u8>().write(0) };
        let fault = out.finish().map(|table| table.h.size).unwrap_err();
        assert!(fault.to_string().contains("past its end"), "{fault}");
    }

    #[test]
    fn extension_tables_are_copied_and_cut() {
        let mut table = blank::<guild_counters_v1>();
        table.reserved = [9; 2];
        table.h.size = offset_of!(guild_counters_v1, reserved) as u32;
        // SAFETY: a live table of the right type.
        let read = unsafe { read_extension::<guild_counters_v1>((&raw const table).cast()) };
        assert_eq!(read.unwrap().unwrap().reserved, [0; 2]);
        // SAFETY: null is allowed.
        let none = unsafe { read_extension::<guild_counters_v1>(std::ptr::null()) };
        assert!(none.unwrap().is_none());
        // SAFETY: an address that isn't aligned is refused before it is read.
        let odd = unsafe {
            read_extension::<guild_counters_v1>((&raw const table).cast::<u8>().add(1).cast())
        };
        assert!(odd.is_err());
    }
}
