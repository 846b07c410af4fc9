//! A shared library that does nothing, as small as one can be: a package needs one to be installed.

use guild_package::Digest;

/// Where the parts lie.
const DYNAMIC: u64 = 0x200;
const STRINGS: u64 = 0x300;
const SYMBOLS: u64 = 0x340;
const HASH: u64 = 0x380;
const NOTE: u64 = 0x400;

const ENTRY: &str = "guild_plugin_entry_v1";

/// An ELF file from the specification: a dynamic table, the entry as its one symbol, and a note that says which package
/// it belongs to. Tests of the store use this file too.
pub(crate) fn library(id: &str, version: &str, soname: &str, needed: &[&str]) -> Vec<u8> {
    let note = note_text(id, version);
    // The text table, and where each name in it begins.
    let mut texts = vec![0];
    let mut add = |name: &str| {
        let at = texts.len() as u64;
        texts.extend(name.as_bytes());
        texts.push(0);
        at
    };
    let own_name = add(soname);
    let needed: Vec<(u64, u64)> = needed.iter().map(|name| (1, add(name))).collect();
    let entry = add(ENTRY);
    let mut table = needed;
    table.extend([
        (14, own_name),           // its own name
        (5, STRINGS),             // text table
        (10, texts.len() as u64), // its length
        (12, 0x1000),             // init
        (27, 16),                 // length of the init array
        (6, SYMBOLS),             // symbol table
        (4, HASH),                // symbol hash table
        (0, 0),
    ]);
    let mut bytes = header(&note, table.len());
    bytes.resize(DYNAMIC as usize, 0);
    for field in table.iter().flat_map(|(tag, value)| [tag, value]) {
        bytes.extend(field.to_le_bytes());
    }
    bytes.resize(STRINGS as usize, 0);
    bytes.extend(texts);
    symbol(&mut bytes, entry as u32);
    bytes.resize(NOTE as usize, 0);
    for field in [6_u32, note.len() as u32, 1] {
        bytes.extend(field.to_le_bytes());
    }
    bytes.extend(b"GUILD\0\0\0");
    bytes.extend(note.as_bytes());
    bytes
}

/// Text of the GUILD note of this package.
pub(crate) fn note_text(id: &str, version: &str) -> String {
    let abi = Digest::of(b"abi");
    format!("id={id}\nversion={version}\nabi={abi}\n\0")
}

/// The file header and four segments: all of it to run, the dynamic table, the note, and a stack that isn't run.
fn header(note: &str, entries: usize) -> Vec<u8> {
    let machine = if cfg!(target_arch = "aarch64") {
        183_u16
    } else {
        62
    };
    let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    bytes.extend(3_u16.to_le_bytes());
    bytes.extend(machine.to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    for field in [0_u64, 64, 0] {
        bytes.extend(field.to_le_bytes());
    }
    bytes.extend(0_u32.to_le_bytes());
    for field in [64_u16, 56, 4, 64, 0, 0] {
        bytes.extend(field.to_le_bytes());
    }
    let note_bytes = 12 + 8 + note.len() as u64;
    let segments = [
        (1_u32, 5_u32, 0, NOTE + note_bytes),
        (2, 6, DYNAMIC, entries as u64 * 16),
        (4, 4, NOTE, note_bytes),
        (0x6474_e551, 6, 0, 0),
    ];
    for (kind, flags, offset, size) in segments {
        bytes.extend(kind.to_le_bytes());
        bytes.extend(flags.to_le_bytes());
        for field in [offset, offset, offset, size, size, 4] {
            bytes.extend(field.to_le_bytes());
        }
    }
    bytes
}

/// Two symbols, of which the first is none, and a hash table of one bucket over them.
fn symbol(bytes: &mut Vec<u8>, name: u32) {
    bytes.resize(SYMBOLS as usize + 24, 0);
    bytes.extend(name.to_le_bytes());
    bytes.extend([0x12, 0, 1, 0]); // a global function of section 1
    for field in [DYNAMIC, 4] {
        bytes.extend(field.to_le_bytes());
    }
    bytes.resize(HASH as usize, 0);
    for field in [1_u32, 2, 1, 0, 0] {
        bytes.extend(field.to_le_bytes());
    }
}
