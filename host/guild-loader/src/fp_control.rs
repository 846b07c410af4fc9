//! The floating-point control register of this thread: rounding, denormals, exception masks.
//!
//! A library that was linked with `-ffast-math` turns denormals off for every thread that maps it, and
//! results change. The loader compares the register around everything that runs plugin code.
#![allow(unsafe_code)]

use crate::error::{Fault, Stage};

/// The control bits at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FpControl(u64);

impl FpControl {
    /// Reads this thread's control bits.
    pub(crate) fn read() -> Self {
        Self(read_register() & CONTROL_BITS)
    }

    /// Restores this thread's control bits if `stage` has changed them.
    ///
    /// # Errors
    /// They were changed.
    pub(crate) fn check_after(self, stage: Stage) -> Result<(), Fault> {
        let now = Self::read();
        if now == self {
            return Ok(());
        }
        write_register(self.0);
        Err(Fault::FloatingPointControl {
            stage,
            before: self.0,
            after: now.0,
        })
    }
}

/// MXCSR without the six sticky exception flags, which any arithmetic may set.
#[cfg(target_arch = "x86_64")]
const CONTROL_BITS: u64 = 0xffc0;
/// FPCR has no status bits.
#[cfg(target_arch = "aarch64")]
const CONTROL_BITS: u64 = u64::MAX;

#[cfg(target_arch = "x86_64")]
fn read_register() -> u64 {
    let mut mxcsr = 0_u32;
    // SAFETY: STMXCSR stores 4 bytes at the given address, which is a live local; every x86-64
    // processor has it.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack, preserves_flags));
    }
    u64::from(mxcsr)
}

#[cfg(target_arch = "x86_64")]
fn write_register(control: u64) {
    let mxcsr = control as u32;
    // SAFETY: LDMXCSR loads 4 bytes from a live local. The value was read from the register before,
    // so no reserved bit is set; it is the state in which Rust code of this thread ran until now.
    unsafe {
        std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const mxcsr, options(nostack, preserves_flags));
    }
}

#[cfg(target_arch = "aarch64")]
fn read_register() -> u64 {
    let fpcr: u64;
    // SAFETY: reading FPCR has no side effect and is allowed in user mode.
    unsafe {
        std::arch::asm!("mrs {}, fpcr", out(reg) fpcr, options(nomem, nostack, preserves_flags));
    }
    fpcr
}

#[cfg(target_arch = "aarch64")]
fn write_register(control: u64) {
    // SAFETY: the value was read from FPCR before; it is the state in which Rust code of this thread
    // ran until now.
    unsafe {
        std::arch::asm!("msr fpcr, {}", in(reg) control, options(nomem, nostack, preserves_flags));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_change_is_reported_and_undone() {
        const FLUSH_TO_ZERO: u64 = 0x8000;
        let before = FpControl::read();
        assert!(before.check_after(Stage::Init).is_ok());
        write_register(before.0 | FLUSH_TO_ZERO);
        let fault = before.check_after(Stage::Constructors).unwrap_err();
        assert!(
            matches!(fault, Fault::FloatingPointControl { after, .. } if after == before.0 | FLUSH_TO_ZERO)
        );
        assert_eq!(FpControl::read(), before);
    }

    #[test]
    fn arithmetic_is_not_a_change() {
        let before = FpControl::read();
        let third = std::hint::black_box(1.0_f32) / std::hint::black_box(3.0_f32);
        assert!(third > 0.3);
        assert!(before.check_after(Stage::Entry).is_ok());
    }
}
