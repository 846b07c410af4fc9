//! The GUILD note: a library's id, version and ABI, readable before the library is loaded.
//!
//! [`export_plugin!`](crate::export_plugin) puts one into a library; nobody else needs this module. The
//! host compares it with the signed manifest (`docs/package-format.md`, section 8.2).

use crate::Plugin;
use guild_abi::table_hash::GUILD_ABI_TABLE_HASH;

/// Owner of the note, padded to whole words.
const OWNER: [u8; 8] = *b"GUILD\0\0\0";
/// Bytes of the owner that count, with the zero that ends it.
const OWNER_BYTES: u32 = 6;
/// The note's type.
const TYPE: u32 = 1;
/// Bytes before the text: three numbers and the owner.
const HEADER_BYTES: usize = 20;

/// Bytes of a plugin's note.
#[must_use]
pub const fn bytes(plugin: &Plugin) -> usize {
    HEADER_BYTES + text_bytes(plugin).next_multiple_of(4)
}

/// Three lines and a zero byte.
const fn text_bytes(plugin: &Plugin) -> usize {
    let names = "id=\nversion=\nabi=\n\0".len();
    names + plugin.id.len() + plugin.version.len() + GUILD_ABI_TABLE_HASH.len()
}

/// A note as it stands in the library; `BYTES` is what [`bytes()`] says.
#[repr(C, align(4))]
pub struct Note<const BYTES: usize>([u8; BYTES]);

impl<const BYTES: usize> Note<BYTES> {
    /// The note of `plugin`.
    #[must_use]
    pub const fn of(plugin: &Plugin) -> Self {
        let text_bytes = text_bytes(plugin) as u32;
        let mut note = [0; BYTES];
        let mut at = put(&mut note, 0, &OWNER_BYTES.to_le_bytes());
        at = put(&mut note, at, &text_bytes.to_le_bytes());
        at = put(&mut note, at, &TYPE.to_le_bytes());
        at = put(&mut note, at, &OWNER);
        at = put(&mut note, at, b"id=");
        at = put(&mut note, at, plugin.id.as_bytes());
        at = put(&mut note, at, b"\nversion=");
        at = put(&mut note, at, plugin.version.as_bytes());
        at = put(&mut note, at, b"\nabi=");
        at = put(&mut note, at, GUILD_ABI_TABLE_HASH.as_bytes());
        put(&mut note, at, b"\n\0");
        Self(note)
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Copies `part` into `note` from `at` on; gives where it ends. Runs while the library is compiled.
const fn put(note: &mut [u8], at: usize, part: &[u8]) -> usize {
    let (_, rest) = note.split_at_mut(at);
    let (place, _) = rest.split_at_mut(part.len());
    place.copy_from_slice(part);
    at + part.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLUGIN: &Plugin = &Plugin {
        id: "org.a.b",
        version: "1.0.0",
        build_id: [0; 32],
        kernel_count: 0,
        kernels: |_| Ok(Vec::new()),
        runners: &[],
    };

    #[test]
    fn the_note_has_the_documented_bytes() {
        const NOTE: Note<{ bytes(PLUGIN) }> = Note::of(PLUGIN);
        let text = format!("id=org.a.b\nversion=1.0.0\nabi={GUILD_ABI_TABLE_HASH}\n\0");
        let mut expected = vec![6, 0, 0, 0, text.len() as u8, 0, 0, 0, 1, 0, 0, 0];
        expected.extend(b"GUILD\0\0\0");
        expected.extend(text.as_bytes());
        expected.resize(expected.len().next_multiple_of(4), 0);
        assert_eq!(NOTE.as_bytes(), expected);
    }
}
