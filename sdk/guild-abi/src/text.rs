//! The two text types for Rust code on both sides of the wall; has no header of its own.
#![allow(unsafe_code)]

use crate::abi::{GUILD_KIND_ERR, guild_err, guild_hdr, guild_status, guild_str};
use core::fmt::{self, Write};

/// Bytes of text that an [`ErrorText`] keeps; longer text is cut at a character.
pub const ERROR_TEXT_BYTES: usize = 1024;

impl guild_str {
    /// Empty text.
    pub const EMPTY: guild_str = guild_str {
        ptr: core::ptr::null(),
        len: 0,
    };

    /// Borrows `text`; the caller keeps it alive while the value is in use.
    pub const fn new(text: &str) -> guild_str {
        guild_str {
            ptr: text.as_ptr(),
            len: text.len() as u64,
        }
    }

    /// The text, or `None` where it isn't UTF-8 or is longer than 16 MiB.
    ///
    /// # Safety
    /// `ptr` must point to `len` readable bytes that live and don't change for `'a`, unless `len`
    /// is 0.
    pub unsafe fn as_str<'a>(&self) -> Option<&'a str> {
        const LIMIT: u64 = 16 << 20;
        if self.len == 0 {
            return Some("");
        }
        if self.ptr.is_null() || self.len > LIMIT {
            return None;
        }
        // SAFETY: not null, and the caller promises `len` readable, unchanging bytes for `'a`.
        let bytes = unsafe { core::slice::from_raw_parts(self.ptr, self.len as usize) };
        core::str::from_utf8(bytes).ok()
    }
}

impl guild_hdr {
    /// A header for a struct of `size` bytes.
    pub const fn new(size: usize, kind: u16) -> guild_hdr {
        guild_hdr {
            size: size as u32,
            kind,
            flags: 0,
            next: core::ptr::null(),
        }
    }
}

/// A caller's error buffer: hand [`ErrorText::as_raw`] to the call, read [`ErrorText::text`] after.
pub struct ErrorText {
    raw: guild_err,
    buffer: [u8; ERROR_TEXT_BYTES],
}

impl ErrorText {
    /// An empty buffer.
    pub const fn new() -> ErrorText {
        ErrorText {
            raw: guild_err {
                h: guild_hdr::new(size_of::<guild_err>(), GUILD_KIND_ERR),
                code: 0,
                vendor_code: 0,
                vendor_domain: 0,
                cap: ERROR_TEXT_BYTES as u32,
                len: 0,
                reserved: 0,
                buf: core::ptr::null_mut(),
            },
            buffer: [0; ERROR_TEXT_BYTES],
        }
    }

    /// The struct to pass to a call; valid until `self` moves or is dropped.
    pub fn as_raw(&mut self) -> *mut guild_err {
        self.raw.buf = self.buffer.as_mut_ptr();
        &mut self.raw
    }

    /// The text that the callee left, up to the last whole character that fits.
    pub fn text(&self) -> &str {
        let len = (self.raw.len as usize).min(ERROR_TEXT_BYTES);
        let bytes = &self.buffer[..len];
        let text = match core::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(cut) => core::str::from_utf8(&bytes[..cut.valid_up_to()]).unwrap_or(""),
        };
        // A callee that cut at a character may have left zero bytes before the end.
        text.trim_end_matches('\0')
    }
}

impl Default for ErrorText {
    fn default() -> Self {
        ErrorText::new()
    }
}

/// Writes `code` and `text` into a caller's error buffer; does nothing when `err` is null.
///
/// # Safety
/// `err` is null, or points to a `guild_err` that this thread may write and whose `buf` has `cap`
/// writable bytes.
pub unsafe fn write_error(err: *mut guild_err, code: guild_status, text: fmt::Arguments<'_>) {
    if err.is_null() {
        return;
    }
    // SAFETY: not null, and the caller promises exclusive access to the struct.
    let err = unsafe { &mut *err };
    err.code = code;
    let cap = if err.buf.is_null() {
        0
    } else {
        err.cap as usize
    };
    let buffer = if cap == 0 {
        &mut [][..]
    } else {
        // SAFETY: `buf` isn't null and has `cap` writable bytes, as the caller promises.
        unsafe { core::slice::from_raw_parts_mut(err.buf, cap) }
    };
    let mut sink = Cut {
        buffer,
        used: 0,
        total: 0,
    };
    // A `Cut` never fails; only the `Display` of an argument could, and then the text ends there.
    let _ = sink.write_fmt(text);
    err.len = sink.total.min(u32::MAX as usize) as u32;
}

/// Writes what fits and counts the rest.
struct Cut<'a> {
    buffer: &'a mut [u8],
    used: usize,
    total: usize,
}

impl Write for Cut<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.buffer.len() - self.used;
        let fits = text.floor_char_boundary(room.min(text.len()));
        if self.total == self.used {
            self.buffer[self.used..self.used + fits].copy_from_slice(&text.as_bytes()[..fits]);
            self.used += fits;
        }
        self.total += text.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_at_a_character_and_its_full_length_reported() {
        let mut error = ErrorText::new();
        let long = core::str::from_utf8(&[b'x'; ERROR_TEXT_BYTES - 1]).unwrap();
        // SAFETY: `as_raw` gives a live, exclusive buffer.
        unsafe { write_error(error.as_raw(), -1, format_args!("{long}é")) };
        assert_eq!(error.text(), long);
        assert_eq!(error.raw.len as usize, ERROR_TEXT_BYTES + 1);
        assert_eq!(error.raw.code, -1);
    }

    #[test]
    fn null_buffers_are_ignored() {
        // SAFETY: null is allowed.
        unsafe { write_error(core::ptr::null_mut(), -1, format_args!("lost")) };
        let mut error = ErrorText::new();
        error.as_raw();
        error.raw.buf = core::ptr::null_mut();
        // SAFETY: a null `buf` is allowed; the struct is exclusive.
        unsafe { write_error(&mut error.raw, -2, format_args!("lost")) };
        assert_eq!(error.raw.len, 4);
    }
}
