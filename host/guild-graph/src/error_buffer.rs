//! Where `execute` writes the text of an error: one buffer for a plan, at a fixed address.

use guild_abi::abi::{GUILD_KIND_ERR, guild_err, guild_hdr};
use guild_abi::text::ERROR_TEXT_BYTES;

use crate::arena::FixedTable;

/// An error buffer that plugins hold a pointer to.
pub(crate) struct ErrorBuffer {
    raw: FixedTable<guild_err>,
    text: FixedTable<u8>,
}

impl ErrorBuffer {
    pub(crate) fn new() -> ErrorBuffer {
        let text = FixedTable::new(vec![0; ERROR_TEXT_BYTES]);
        let raw = guild_err {
            h: guild_hdr::new(size_of::<guild_err>(), GUILD_KIND_ERR),
            code: 0,
            vendor_code: 0,
            vendor_domain: 0,
            cap: ERROR_TEXT_BYTES as u32,
            len: 0,
            reserved: 0,
            buf: text.as_ptr(),
        };
        ErrorBuffer {
            raw: FixedTable::new(vec![raw]),
            text,
        }
    }

    /// The struct for `guild_exec.err`.
    pub(crate) fn raw(&self) -> *mut guild_err {
        self.raw.as_ptr()
    }

    /// Forgets an earlier call's text.
    pub(crate) fn clear(&mut self) {
        for raw in self.raw.as_mut_slice() {
            raw.len = 0;
        }
    }

    /// The text that the last call left, up to the last whole character.
    pub(crate) fn text(&self) -> String {
        let len = self
            .raw
            .as_slice()
            .first()
            .map_or(0, |raw| raw.len as usize);
        let bytes = self
            .text
            .as_slice()
            .get(..len.min(ERROR_TEXT_BYTES))
            .unwrap_or(&[]);
        let text = String::from_utf8_lossy(bytes);
        text.trim_end_matches(['\0', char::REPLACEMENT_CHARACTER])
            .to_owned()
    }
}
