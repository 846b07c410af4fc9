//! The processors that a library may be for, and which relocations of each only store an address.

use object::elf::{EM_AARCH64, EM_X86_64};

/// A processor architecture.
pub(super) struct Machine {
    /// Its name in a signed target.
    pub arch: &'static str,
    /// `e_machine`.
    pub number: u16,
    /// Its relocations.
    pub kinds: RelocationKinds,
}

/// `r_type` of one architecture's relocations.
pub(super) struct RelocationKinds {
    /// Does nothing.
    pub none: u32,
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
        kinds: RelocationKinds {
            none: 0,
            irelative: 37,
            descriptor: 36,
            // 64, GLOB_DAT, JUMP_SLOT, RELATIVE, DTPMOD64, DTPOFF64, TPOFF64, TLSDESC.
            accepted: &[1, 6, 7, 8, 16, 17, 18, 36],
        },
    },
    Machine {
        arch: "aarch64",
        number: EM_AARCH64.0,
        kinds: RelocationKinds {
            none: 0,
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
