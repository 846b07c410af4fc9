//! AMX: tiles of 16 rows of 64 bytes, and their products of bytes.
//!
//! The compiler has no stable intrinsics for them, so the instructions stand here as text. It never uses the
//! tile registers itself, so they are not in the lists of what is overwritten.

use super::{TILE_OUT_ROWS, TileDots, TileSums};
use core::arch::asm;

/// Rows of one tile.
const ROWS: usize = 16;
/// Bytes of a row of a tile, at most.
const ROW_BYTES: usize = 64;
/// Words of the shared axis in one tile.
const TILE_WORDS: usize = ROW_BYTES / 4;

/// This thread's tile registers in use. They are given back when it is dropped, so that the system doesn't save
/// them on every switch from then on.
#[derive(Debug)]
pub struct TileRegisters {
    words: usize,
    /// Registers belong to the thread that opened them.
    _thread: core::marker::PhantomData<*const ()>,
}

/// What `ldtilecfg` reads.
#[repr(C, align(64))]
struct Config {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

/// One instruction on tiles. Called where the registers are open, with operands that it may read or write.
macro_rules! tile {
    ($text:expr $(, $operand:expr)*) => {
        // SAFETY: the caller's promise; tile registers are no registers of the compiler's.
        unsafe { asm!($text, $(in(reg) $operand,)* options(nostack, preserves_flags)) }
    };
}

impl TileRegisters {
    /// Opens the registers: 0 to 3 for sums, 4 and 5 for activations, 6 and 7 for weights of `words` words.
    ///
    /// # Safety
    /// The processor has AMX-TILE and AMX-INT8, and the system has let this process use the registers.
    pub(super) unsafe fn open(words: usize) -> TileRegisters {
        let words = words.min(TILE_WORDS);
        let mut config = Config {
            palette: 1,
            start_row: 0,
            reserved: [0; 14],
            row_bytes: [0; 16],
            rows: [0; 16],
        };
        config.row_bytes[..8].fill(ROW_BYTES as u16);
        config.rows[..8].fill(ROWS as u8);
        config.row_bytes[4..6].fill(4 * words as u16);
        config.rows[6..8].fill(words as u8);
        // SAFETY: the caller's promise; the configuration is 64 bytes and valid for palette 1.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const config, options(nostack, readonly)) };
        TileRegisters {
            words,
            _thread: core::marker::PhantomData,
        }
    }

    /// As [`super::Isa::tile_dots`] says.
    ///
    /// # Panics
    /// When an operand is shorter than what is read.
    pub(super) fn dots<V>(&self, job: &TileDots<'_, V>, out: &mut TileSums) {
        let TileDots {
            rows,
            stride,
            words,
            planes,
            ..
        } = *job;
        let tiles = rows.div_ceil(ROWS);
        assert!(size_of::<V>() == ROW_BYTES && tiles <= TILE_OUT_ROWS / ROWS && rows > 0);
        assert!(words.is_multiple_of(self.words) && words.min(TILE_WORDS) == self.words);
        assert!((ROWS * tiles - 1) * stride + 4 * words <= job.activations.len());
        assert!(planes.iter().flatten().all(|plane| plane.len() >= words));
        // SAFETY: the registers are open with this number of words; the assertions hold every tile that is read
        // inside its slice, and `out` has room for two planes of two tiles.
        unsafe {
            match (planes[1].is_some(), tiles > 1, job.signed) {
                (false, false, _) => self.run::<V, false, false, false>(job, out),
                (false, true, _) => self.run::<V, false, true, false>(job, out),
                (true, false, false) => self.run::<V, true, false, false>(job, out),
                (true, true, false) => self.run::<V, true, true, false>(job, out),
                (true, false, true) => self.run::<V, true, false, true>(job, out),
                (true, true, true) => self.run::<V, true, true, true>(job, out),
            }
        }
    }

    /// # Safety
    /// As in [`TileRegisters::dots`].
    #[inline(always)]
    unsafe fn run<V, const SECOND: bool, const MORE: bool, const SIGNED: bool>(
        &self,
        job: &TileDots<'_, V>,
        out: &mut TileSums,
    ) {
        macro_rules! multiply {
            ($operands:literal) => {
                if SIGNED {
                    tile!(concat!("tdpbssd ", $operands))
                } else {
                    tile!(concat!("tdpbsud ", $operands))
                }
            };
        }
        tile!("tilezero tmm0");
        tile!("tilezero tmm1");
        tile!("tilezero tmm2");
        tile!("tilezero tmm3");
        let first = job.planes[0].map_or(core::ptr::null(), <[V]>::as_ptr);
        let second = job.planes[1].map_or(core::ptr::null(), <[V]>::as_ptr);
        for word in (0..job.words).step_by(self.words) {
            let activations = job.activations.as_ptr().wrapping_add(4 * word);
            tile!("tileloadd tmm4, [{} + {}*1]", activations, job.stride);
            tile!(
                "tileloadd tmm6, [{} + {}*1]",
                first.wrapping_add(word),
                ROW_BYTES
            );
            multiply!("tmm0, tmm4, tmm6");
            if SECOND {
                tile!(
                    "tileloadd tmm7, [{} + {}*1]",
                    second.wrapping_add(word),
                    ROW_BYTES
                );
                multiply!("tmm1, tmm4, tmm7");
            }
            if MORE {
                let more = activations.wrapping_add(ROWS * job.stride);
                tile!("tileloadd tmm5, [{} + {}*1]", more, job.stride);
                multiply!("tmm2, tmm5, tmm6");
                if SECOND {
                    multiply!("tmm3, tmm5, tmm7");
                }
            }
        }
        // SAFETY: as above.
        unsafe { Self::store::<SECOND, MORE>(out) }
    }

    /// # Safety
    /// As in [`TileRegisters::dots`].
    #[inline(always)]
    unsafe fn store<const SECOND: bool, const MORE: bool>(out: &mut TileSums) {
        let [plane_0, plane_1] = &mut out.0;
        tile!(
            "tilestored [{} + {}*1], tmm0",
            plane_0[0].as_mut_ptr(),
            ROW_BYTES
        );
        if SECOND {
            tile!(
                "tilestored [{} + {}*1], tmm1",
                plane_1[0].as_mut_ptr(),
                ROW_BYTES
            );
        }
        if MORE {
            tile!(
                "tilestored [{} + {}*1], tmm2",
                plane_0[ROWS].as_mut_ptr(),
                ROW_BYTES
            );
            if SECOND {
                tile!(
                    "tilestored [{} + {}*1], tmm3",
                    plane_1[ROWS].as_mut_ptr(),
                    ROW_BYTES
                );
            }
        }
    }
}

impl Drop for TileRegisters {
    fn drop(&mut self) {
        // SAFETY: the registers were opened on this thread, so the processor has them.
        unsafe { asm!("tilerelease", options(nomem, nostack, preserves_flags)) };
    }
}
