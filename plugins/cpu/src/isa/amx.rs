//! AMX: tiles of 16 rows of 64 bytes, and their products of bytes.
//!
//! The compiler has no stable intrinsics for them, so the instructions stand here as text. It never uses the
//! tile registers itself, so they are not in the lists of what is overwritten.

use super::{PlaneLayout, REGISTER_ROWS, TILE_OUT_ROWS, TileDots, TileLine};
use core::arch::asm;

/// Bytes of a row of a tile, at most.
const ROW_BYTES: usize = 64;
/// Words of the shared axis in one tile.
const TILE_WORDS: usize = ROW_BYTES / 4;

/// This thread's tile registers in use. They are given back when it is dropped, so that the system doesn't save
/// them on every switch from then on.
#[derive(Debug)]
pub struct TileRegisters {
    words: usize,
    rows: usize,
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

/// One instruction on tile registers.
macro_rules! tile {
    ($text:expr $(, $operand:expr)*) => {
        // SAFETY: who calls this has opened the registers, which are none of the compiler's, and holds every tile
        // that is read or written inside its slice.
        unsafe { asm!($text, $(in(reg) $operand,)* options(nostack, preserves_flags)) }
    };
}

impl TileRegisters {
    /// Opens the registers: 0 to 3 for sums, 4 and 5 for up to 16 rows of activations, 6 and 7 for weights of
    /// `words` words.
    ///
    /// # Safety
    /// The processor has AMX-TILE and AMX-INT8, and the system has let this process use the registers.
    pub(super) unsafe fn open(words: usize, rows: usize) -> TileRegisters {
        let (words, rows) = (words.min(TILE_WORDS), rows.clamp(1, REGISTER_ROWS));
        let mut config = Config {
            palette: 1,
            start_row: 0,
            reserved: [0; 14],
            row_bytes: [0; 16],
            rows: [0; 16],
        };
        config.row_bytes[..8].fill(ROW_BYTES as u16);
        config.rows[..6].fill(rows as u8);
        config.row_bytes[4..6].fill(4 * words as u16);
        config.rows[6..8].fill(words as u8);
        // SAFETY: the caller's promise; the configuration is 64 bytes and valid for palette 1.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const config, options(nostack, readonly)) };
        TileRegisters {
            words,
            rows,
            _thread: core::marker::PhantomData,
        }
    }

    /// As [`super::Isa::tile_dots`] says.
    ///
    /// # Panics
    /// When an operand is shorter than what is read or written.
    #[inline(always)]
    pub(super) fn dots<V>(&self, job: &TileDots<'_, V>, out: &mut [TileLine]) {
        let tiles = job.rows.div_ceil(REGISTER_ROWS);
        assert!(
            size_of::<V>() == ROW_BYTES && tiles <= TILE_OUT_ROWS / REGISTER_ROWS && job.rows > 0
        );
        assert!(self.rows == REGISTER_ROWS || job.rows == self.rows);
        assert!(job.words.is_multiple_of(self.words) && job.words.min(TILE_WORDS) == self.words);
        let read = (REGISTER_ROWS * (tiles - 1) + self.rows - 1) * job.stride + 4 * job.words;
        assert!(read <= job.activations.len());
        let planes = job.layout.planes();
        assert!(
            job.planes[..planes]
                .iter()
                .all(|plane| plane.len() >= job.words)
        );
        assert!(out.len() >= planes * tiles * REGISTER_ROWS);
        match (job.layout, tiles > 1) {
            (PlaneLayout::Values, false) => self.run::<V, false, false, true>(job, out),
            (PlaneLayout::Values, true) => self.run::<V, false, true, true>(job, out),
            (PlaneLayout::Scales, false) => self.run::<V, true, false, false>(job, out),
            (PlaneLayout::Scales, true) => self.run::<V, true, true, false>(job, out),
            (PlaneLayout::Products, false) => self.run::<V, true, false, true>(job, out),
            (PlaneLayout::Products, true) => self.run::<V, true, true, true>(job, out),
        }
    }

    /// Runs a job that [`TileRegisters::dots`] has checked: with a `SECOND` plane, with `MORE` than one tile of
    /// rows, the last plane `SIGNED`.
    #[inline(always)]
    fn run<V, const SECOND: bool, const MORE: bool, const SIGNED: bool>(
        &self,
        job: &TileDots<'_, V>,
        out: &mut [TileLine],
    ) {
        macro_rules! multiply {
            ($operands:literal, $signed:expr) => {
                if $signed {
                    tile!(concat!("tdpbssd ", $operands))
                } else {
                    tile!(concat!("tdpbsud ", $operands))
                }
            };
        }
        tile!("tilezero tmm0");
        tile!("tilezero tmm1");
        if MORE {
            tile!("tilezero tmm2");
            tile!("tilezero tmm3");
        }
        let [first, second] = job.planes.map(<[V]>::as_ptr);
        for word in (0..job.words).step_by(self.words) {
            let activations = job.activations.as_ptr().wrapping_add(4 * word);
            let (first, second) = (first.wrapping_add(word), second.wrapping_add(word));
            tile!("tileloadd tmm6, [{} + {}*1]", first, ROW_BYTES);
            tile!("tileloadd tmm4, [{} + {}*1]", activations, job.stride);
            multiply!("tmm0, tmm4, tmm6", SIGNED && !SECOND);
            if SECOND {
                tile!("tileloadd tmm7, [{} + {}*1]", second, ROW_BYTES);
                multiply!("tmm1, tmm4, tmm7", SIGNED);
            }
            if MORE {
                let more = activations.wrapping_add(REGISTER_ROWS * job.stride);
                tile!("tileloadd tmm5, [{} + {}*1]", more, job.stride);
                multiply!("tmm2, tmm5, tmm6", SIGNED && !SECOND);
                if SECOND {
                    multiply!("tmm3, tmm5, tmm7", SIGNED);
                }
            }
        }
        store_sums::<SECOND, MORE>(out);
    }
}

/// Writes the sums of up to two planes and two tiles of rows, plane by plane.
#[inline(always)]
fn store_sums<const SECOND: bool, const MORE: bool>(out: &mut [TileLine]) {
    let first = out.as_mut_ptr();
    let at = |tile: usize| first.wrapping_add(tile * REGISTER_ROWS);
    tile!("tilestored [{} + {}*1], tmm0", at(0), ROW_BYTES);
    if MORE {
        tile!("tilestored [{} + {}*1], tmm2", at(1), ROW_BYTES);
    }
    let second = if MORE { 2 } else { 1 };
    if SECOND {
        tile!("tilestored [{} + {}*1], tmm1", at(second), ROW_BYTES);
    }
    if SECOND && MORE {
        tile!("tilestored [{} + {}*1], tmm3", at(second + 1), ROW_BYTES);
    }
}

impl Drop for TileRegisters {
    fn drop(&mut self) {
        // SAFETY: the registers were opened on this thread, so the processor has them.
        unsafe { asm!("tilerelease", options(nomem, nostack, preserves_flags)) };
    }
}
