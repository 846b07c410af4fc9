//! Which instruction sets this process may use: what CPUID reports *and* the operating system saves.
//!
//! A processor's feature bit isn't enough: unless the system saves the wide registers on a task
//! switch (XCR0), using them faults or loses data. [`decide`] is a pure function of the raw register
//! values, so that it is tested without the hardware.

#[cfg(target_arch = "x86_64")]
use crate::isa::{Avx2, Avx512};

/// The environment variable that forces one set: `portable`, `avx2`, `avxvnni`, `avx512`, `avx512vnni`
/// or `amx`.
pub const FORCE_VARIABLE: &str = "GUILD_CPU_ISA";

/// An instruction set that kernels are built for, in ascending order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IsaName {
    /// Plain Rust.
    Portable,
    /// AVX2, FMA, F16C.
    Avx2,
    /// AVX2 as above, and AVX-VNNI.
    AvxVnni,
    /// AVX-512 F, BW, DQ, VL.
    Avx512,
    /// AVX-512 as above, and VNNI.
    Avx512Vnni,
    /// That and AMX with tiles of bytes.
    Amx,
}

impl IsaName {
    /// Every set, in ascending order of preference.
    pub const ALL: [IsaName; 6] = [
        IsaName::Portable,
        IsaName::Avx2,
        IsaName::AvxVnni,
        IsaName::Avx512,
        IsaName::Avx512Vnni,
        IsaName::Amx,
    ];

    /// The name in implementation ids and in [`FORCE_VARIABLE`].
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            IsaName::Portable => "portable",
            IsaName::Avx2 => "avx2",
            IsaName::AvxVnni => "avxvnni",
            IsaName::Avx512 => "avx512",
            IsaName::Avx512Vnni => "avx512vnni",
            IsaName::Amx => "amx",
        }
    }

    /// The set with this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<IsaName> {
        IsaName::ALL.into_iter().find(|name| name.text() == text)
    }
}

/// The raw values that a decision rests on.
#[derive(Clone, Copy, Debug, Default)]
struct Registers {
    /// CPUID leaf 1, ECX.
    leaf_1_ecx: u32,
    /// CPUID leaf 7, sub-leaf 0, EBX.
    leaf_7_ebx: u32,
    /// CPUID leaf 7, sub-leaf 0, ECX.
    leaf_7_ecx: u32,
    /// CPUID leaf 7, sub-leaf 0, EDX.
    leaf_7_edx: u32,
    /// CPUID leaf 7, sub-leaf 1, EAX.
    leaf_7_1_eax: u32,
    /// Extended control register 0; 0 where the system doesn't use XSAVE.
    xcr0: u64,
}

const FMA: u32 = 1 << 12;
const OSXSAVE: u32 = 1 << 27;
const F16C: u32 = 1 << 29;
const AVX2: u32 = 1 << 5;
/// F, DQ, BW, VL.
const AVX512: u32 = 1 << 16 | 1 << 17 | 1 << 30 | 1 << 31;
const VNNI: u32 = 1 << 11;
/// VNNI in the encoding of AVX.
const AVX_VNNI: u32 = 1 << 4;
/// Tiles, and their products of bytes.
const AMX: u32 = 1 << 24 | 1 << 25;
/// The tiles' products of BF16 numbers.
const AMX_BF16: u32 = 1 << 22;
/// XMM and YMM state.
const XCR0_AVX: u64 = 0b110;
/// Besides: mask registers, upper halves of ZMM 0 to 15, ZMM 16 to 31.
const XCR0_AVX512: u64 = XCR0_AVX | 0b1110_0000;
/// Besides: the tiles' configuration and data.
const XCR0_AMX: u64 = XCR0_AVX512 | 1 << 17 | 1 << 18;

/// Some instruction sets. A set isn't always usable where a better one is: many processors with AVX-512
/// have no AVX-VNNI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sets([bool; IsaName::ALL.len()]);

impl Sets {
    fn has(self, name: IsaName) -> bool {
        self.0[name as usize]
    }

    fn best(self) -> IsaName {
        let best = IsaName::ALL.into_iter().rfind(|&name| self.has(name));
        best.unwrap_or(IsaName::Portable)
    }

    /// The sets up to `name`.
    fn limited(self, name: IsaName) -> Sets {
        Sets(IsaName::ALL.map(|set| self.has(set) && set <= name))
    }
}

/// The sets that these registers allow.
fn decide(registers: Registers) -> Sets {
    let has = |value: u32, bits: u32| value & bits == bits;
    let saves = |bits: u64| registers.xcr0 & bits == bits;
    let avx2 = has(registers.leaf_1_ecx, FMA | OSXSAVE | F16C)
        && has(registers.leaf_7_ebx, AVX2)
        && saves(XCR0_AVX);
    let avx_vnni = avx2 && has(registers.leaf_7_1_eax, AVX_VNNI);
    let avx512 = avx2 && has(registers.leaf_7_ebx, AVX512) && saves(XCR0_AVX512);
    let avx512_vnni = avx512 && has(registers.leaf_7_ecx, VNNI);
    let amx = avx512_vnni && has(registers.leaf_7_edx, AMX) && saves(XCR0_AMX);
    Sets(IsaName::ALL.map(|name| match name {
        IsaName::Portable => true,
        IsaName::Avx2 => avx2,
        IsaName::AvxVnni => avx_vnni,
        IsaName::Avx512 => avx512,
        IsaName::Avx512Vnni => avx512_vnni,
        IsaName::Amx => amx,
    }))
}

/// Whether tile registers, where `sets` has them, also multiply BF16 numbers.
fn decide_bf16_tiles(registers: Registers, sets: Sets) -> bool {
    sets.has(IsaName::Amx) && registers.leaf_7_edx & AMX_BF16 != 0
}

/// What this machine offers.
#[derive(Clone, Copy, Debug)]
pub struct Detected {
    sets: Sets,
    /// A property beside the sets: no exact kernel uses it.
    bf16_tiles: bool,
}

impl Detected {
    /// Asks the processor, and the system for the tile registers where the processor has them: the system
    /// gives them to a process that asks, and to threads that are there already too.
    #[must_use]
    pub fn new() -> Detected {
        let registers = registers();
        let mut sets = decide(registers);
        if sets.has(IsaName::Amx) && !tiles_granted() {
            sets = sets.limited(IsaName::Avx512Vnni);
        }
        Detected {
            sets,
            bf16_tiles: decide_bf16_tiles(registers, sets),
        }
    }

    /// The same machine without the sets above `name`.
    #[must_use]
    pub fn limited(self, name: IsaName) -> Detected {
        let sets = self.sets.limited(name);
        Detected {
            sets,
            bf16_tiles: self.bf16_tiles && sets.has(IsaName::Amx),
        }
    }

    /// The best set of this machine.
    #[must_use]
    pub fn best(self) -> IsaName {
        self.sets.best()
    }

    /// Whether this machine has the set.
    #[must_use]
    pub fn has(self, name: IsaName) -> bool {
        self.sets.has(name)
    }

    /// The token of AVX2.
    #[cfg(target_arch = "x86_64")]
    #[must_use]
    pub fn avx2(self) -> Option<Avx2<false>> {
        // SAFETY: `decide` saw the features and the system's support for their registers.
        self.has(IsaName::Avx2).then(|| unsafe { Avx2::new() })
    }

    /// The token of AVX2 with AVX-VNNI.
    #[cfg(target_arch = "x86_64")]
    #[must_use]
    pub fn avx_vnni(self) -> Option<Avx2<true>> {
        // SAFETY: as above.
        self.has(IsaName::AvxVnni).then(|| unsafe { Avx2::new() })
    }

    /// The token of AVX-512.
    #[cfg(target_arch = "x86_64")]
    #[must_use]
    pub fn avx512(self) -> Option<Avx512<false, false>> {
        // SAFETY: as above.
        self.has(IsaName::Avx512).then(|| unsafe { Avx512::new() })
    }

    /// The token of AVX-512 with VNNI.
    #[cfg(target_arch = "x86_64")]
    #[must_use]
    pub fn avx512_vnni(self) -> Option<Avx512<true, false>> {
        // SAFETY: as above.
        self.has(IsaName::Avx512Vnni)
            .then(|| unsafe { Avx512::new() })
    }

    /// The token of AVX-512 with VNNI and AMX whose tiles multiply BF16 numbers too.
    #[cfg(target_arch = "x86_64")]
    #[must_use]
    pub fn amx_bf16(self) -> Option<Avx512<true, true, true>> {
        // SAFETY: as above; `new` was granted the tile registers.
        self.bf16_tiles.then(|| unsafe { Avx512::new() })
    }

    /// The token of AVX-512 with VNNI and AMX.
    #[cfg(target_arch = "x86_64")]
    #[must_use]
    pub fn amx(self) -> Option<Avx512<true, true>> {
        // SAFETY: as above; `new` was granted the tile registers.
        self.has(IsaName::Amx).then(|| unsafe { Avx512::new() })
    }
}

impl Default for Detected {
    fn default() -> Self {
        Detected::new()
    }
}

#[cfg(target_arch = "x86_64")]
fn registers() -> Registers {
    use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};

    #[target_feature(enable = "xsave")]
    fn xcr0() -> u64 {
        // SAFETY: register 0 exists wherever the instruction does.
        unsafe { _xgetbv(0) }
    }

    if __cpuid(0).eax < 7 {
        return Registers::default();
    }
    let (leaf_1, leaf_7) = (__cpuid(1), __cpuid_count(7, 0));
    let leaf_7_1_eax = match leaf_7.eax {
        0 => 0,
        _ => __cpuid_count(7, 1).eax,
    };
    let xcr0 = if leaf_1.ecx & OSXSAVE == 0 {
        0
    } else {
        // SAFETY: OSXSAVE says that the instruction exists and that the system has enabled it.
        unsafe { xcr0() }
    };
    Registers {
        leaf_1_ecx: leaf_1.ecx,
        leaf_7_ebx: leaf_7.ebx,
        leaf_7_ecx: leaf_7.ecx,
        leaf_7_edx: leaf_7.edx,
        leaf_7_1_eax,
        xcr0,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn registers() -> Registers {
    Registers::default()
}

/// Asks Linux to let this process use the tile registers (`arch_prctl`, `ARCH_REQ_XCOMP_PERM`). Without that
/// their first use is a fault. Asking again is harmless.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[must_use]
pub fn tiles_granted() -> bool {
    const ARCH_PRCTL: i64 = 158;
    const REQUEST_PERMISSION: i64 = 0x1023;
    const TILE_DATA: i64 = 18;
    let mut result = ARCH_PRCTL;
    // SAFETY: the call takes two numbers, reads and writes no memory of ours, and overwrites RCX and R11.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") result,
            in("rdi") REQUEST_PERMISSION,
            in("rsi") TILE_DATA,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result == 0
}

/// Only on Linux and x86-64 is there somebody to ask for tile registers.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
#[must_use]
pub fn tiles_granted() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Registers = Registers {
        leaf_1_ecx: FMA | OSXSAVE | F16C,
        leaf_7_ebx: AVX2 | AVX512,
        leaf_7_ecx: VNNI,
        leaf_7_edx: AMX | AMX_BF16,
        leaf_7_1_eax: AVX_VNNI,
        xcr0: XCR0_AMX,
    };

    fn best(registers: Registers) -> IsaName {
        decide(registers).best()
    }

    #[test]
    fn a_set_needs_every_feature_bit() {
        assert_eq!(decide(FULL), Sets([true; 6]));
        for bit in [24, 25] {
            let leaf_7_edx = FULL.leaf_7_edx & !(1 << bit);
            let less = Registers { leaf_7_edx, ..FULL };
            assert_eq!(best(less), IsaName::Avx512Vnni);
        }
        assert_eq!(
            best(Registers {
                leaf_7_ecx: 0,
                ..FULL
            }),
            IsaName::Avx512
        );
        for bit in [16, 17, 30, 31] {
            let leaf_7_ebx = FULL.leaf_7_ebx & !(1 << bit);
            let less = Registers { leaf_7_ebx, ..FULL };
            assert_eq!(best(less), IsaName::AvxVnni);
            let leaf_7_1_eax = 0;
            let less = Registers {
                leaf_7_1_eax,
                ..less
            };
            assert_eq!(best(less), IsaName::Avx2);
        }
        for bit in [12, 27, 29] {
            let leaf_1_ecx = FULL.leaf_1_ecx & !(1 << bit);
            assert_eq!(best(Registers { leaf_1_ecx, ..FULL }), IsaName::Portable);
        }
        let leaf_7_ebx = AVX512;
        assert_eq!(best(Registers { leaf_7_ebx, ..FULL }), IsaName::Portable);
    }

    #[test]
    fn a_better_set_may_be_there_without_a_lesser_one() {
        let leaf_7_1_eax = 0;
        let sets = decide(Registers {
            leaf_7_1_eax,
            ..FULL
        });
        assert_eq!(sets.best(), IsaName::Amx);
        assert!(!sets.has(IsaName::AvxVnni) && sets.has(IsaName::Avx2));
    }

    #[test]
    fn a_set_needs_its_registers_saved() {
        for bit in [17, 18] {
            let xcr0 = XCR0_AMX & !(1 << bit);
            assert_eq!(best(Registers { xcr0, ..FULL }), IsaName::Avx512Vnni);
        }
        for bit in [5, 6, 7] {
            let xcr0 = XCR0_AMX & !(1 << bit);
            assert_eq!(best(Registers { xcr0, ..FULL }), IsaName::AvxVnni);
        }
        for bit in [1, 2] {
            let xcr0 = XCR0_AMX & !(1 << bit);
            assert_eq!(best(Registers { xcr0, ..FULL }), IsaName::Portable);
        }
        assert_eq!(best(Registers { xcr0: 0, ..FULL }), IsaName::Portable);
    }

    #[test]
    fn bf16_tiles_need_their_bit_and_tiles() {
        let bf16 = |registers| decide_bf16_tiles(registers, decide(registers));
        assert!(bf16(FULL));
        for bit in [22, 24, 25] {
            let leaf_7_edx = FULL.leaf_7_edx & !(1 << bit);
            let less = Registers { leaf_7_edx, ..FULL };
            assert!(!bf16(less), "bit {bit}");
            assert_eq!(decide(less).has(IsaName::Amx), bit == 22);
        }
        let xcr0 = XCR0_AVX512;
        assert!(!bf16(Registers { xcr0, ..FULL }));
        let full = Detected {
            sets: decide(FULL),
            bf16_tiles: true,
        };
        assert!(full.limited(IsaName::Amx).bf16_tiles);
        assert!(!full.limited(IsaName::Avx512Vnni).bf16_tiles);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_decision_agrees_with_the_standard_library() {
        let detected = Detected::new();
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c");
        let avx512 = avx2
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        assert_eq!(detected.avx2().is_some(), avx2);
        let avx_vnni = avx2 && is_x86_feature_detected!("avxvnni");
        assert_eq!(detected.avx_vnni().is_some(), avx_vnni);
        assert_eq!(detected.avx512().is_some(), avx512);
        let vnni = avx512 && is_x86_feature_detected!("avx512vnni");
        assert_eq!(detected.avx512_vnni().is_some(), vnni);
    }

    #[test]
    fn names_parse_back() {
        for name in IsaName::ALL {
            assert_eq!(IsaName::parse(name.text()), Some(name));
        }
        assert_eq!(IsaName::parse("sse2"), None);
    }
}
