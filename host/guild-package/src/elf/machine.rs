//! The processors that a library may be for, and which relocations of each only store an address.

use object::elf::{EM_AARCH64, EM_X86_64};

/// A processor architecture.
pub(super) struct Machine {
    /// Its name in a signed target.
    pub arch: &'static str,
    /// `e_machine`.
    pub number: u16,
    /// The largest unit in which its systems map memory.
    pub page_bytes: u64,
    /// Its relocations.
    pub kinds: RelocationKinds,
}

/// `r_type` of one architecture's relocations.
pub(super) struct RelocationKinds {
    /// Does nothing.
    pub none: u32,
    /// Adds the library's own address.
    pub relative: u32,
    /// Calls a resolver.
    pub irelative: u32,
    /// Fills a descriptor of two words.
    pub descriptor: u32,
    /// Those that store an address or an offset.
    pub accepted: &'static [u32],
}

static MACHINES: [Machine; 2] = [
    Machine {
        arch: "x86_64",
        number: EM_X86_64.0,
        page_bytes: 4096,
        kinds: RelocationKinds {
            none: 0,
            relative: 8,
            irelative: 37,
            descriptor: 36,
            // 64, GLOB_DAT, JUMP_SLOT, RELATIVE, DTPMOD64, DTPOFF64, TPOFF64, TLSDESC.
            accepted: &[1, 6, 7, 8, 16, 17, 18, 36],
        },
    },
    Machine {
        arch: "aarch64",
        number: EM_AARCH64.0,
        page_bytes: 65_536,
        kinds: RelocationKinds {
            none: 0,
            relative: 1027,
            irelative: 1032,
            descriptor: 1031,
            // ABS64, GLOB_DAT, JUMP_SLOT, RELATIVE, TLS_DTPMOD, TLS_DTPREL, TLS_TPREL, TLSDESC.
            accepted: &[257, 1025, 1026, 1027, 1028, 1029, 1030, 1031],
        },
    },
];

/// The architecture of this name.
pub(super) fn of(arch: &str) -> Option<&'static Machine> {
    MACHINES.iter().find(|machine| machine.arch == arch)
}

/// The architecture of this `e_machine`.
pub(super) fn by_number(number: u16) -> Option<&'static Machine> {
    MACHINES.iter().find(|machine| machine.number == number)
}
