//! AMX: tiles of 16 rows of 64 bytes, and their products of bytes and of BF16 numbers.
//!
//! The compiler has no stable intrinsics for them, so the instructions stand here as text. It never uses the
//! tile registers itself, so they are not in the lists of what is overwritten.

use super::{
    Bf16Dots, Bf16Sums, PlaneLayout, REGISTER_ROWS, TILE_OUT_ROWS, TileBytes, TileDots, TileLine,
    rows_fit,
};
use core::arch::asm;
use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
use core::cell::Cell;

/// Bytes of a row of a tile, at most.
const ROW_BYTES: usize = 64;
/// Words of the shared axis in one tile.
const TILE_WORDS: usize = ROW_BYTES / 4;

thread_local! {
    /// Whether this thread has opened its tile registers.
    static OPEN: Cell<bool> = const { Cell::new(false) };
}

/// This thread's tile registers in use. They are given back when it is dropped, so that the system doesn't save
/// them on every switch from then on.
#[derive(Debug)]
struct Opened {
    /// Registers belong to the thread that opened them.
    _thread: core::marker::PhantomData<*const ()>,
}

/// This thread's tile registers, open for products of bytes.
#[derive(Debug)]
pub struct TileRegisters {
    words: usize,
    rows: usize,
    _opened: Opened,
}

/// This thread's tile registers, open for products of BF16 numbers.
#[derive(Debug)]
pub struct Bf16Registers {
    weight_rows: usize,
    _opened: Opened,
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

impl Config {
    /// Palette 1 with no register in use.
    const EMPTY: Config = Config {
        palette: 1,
        start_row: 0,
        reserved: [0; 14],
        row_bytes: [0; 16],
        rows: [0; 16],
    };

    /// Opens the registers like this.
    ///
    /// # Safety
    /// The processor has AMX-TILE, the system has let this process use the registers, and the numbers are valid.
    ///
    /// # Panics
    /// When this thread has opened them already: they can be open in one way at a time.
    unsafe fn open(&self) -> Opened {
        assert!(
            !OPEN.replace(true),
            "a thread opens its tile registers once"
        );
        // SAFETY: the caller's promise; the configuration is 64 bytes.
        unsafe {
            asm!("ldtilecfg [{}]", in(reg) core::ptr::from_ref(self), options(nostack, readonly))
        };
        Opened {
            _thread: core::marker::PhantomData,
        }
    }
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
        let (words, rows) = (words.clamp(1, TILE_WORDS), rows.clamp(1, REGISTER_ROWS));
        let mut config = Config::EMPTY;
        config.row_bytes[..8].fill(ROW_BYTES as u16);
        config.rows[..6].fill(rows as u8);
        config.row_bytes[4..6].fill(4 * words as u16);
        config.rows[6..8].fill(words as u8);
        TileRegisters {
            words,
            rows,
            // SAFETY: the caller's promise; the numbers are valid for palette 1.
            _opened: unsafe { config.open() },
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
        let rows = REGISTER_ROWS * (tiles - 1) + self.rows;
        assert!(rows_fit(job.activations, rows, job.stride, 4 * job.words));
        let planes = job.layout.planes();
        assert!(
            job.planes[..planes]
                .iter()
                .all(|plane| plane.len() >= job.words)
        );
        assert!(out.len() >= planes * tiles * REGISTER_ROWS);
        // SAFETY: `self` shows that the registers are open; the operands were checked above.
        unsafe {
            match (job.layout, tiles > 1) {
                (PlaneLayout::Values, false) => self.run::<V, false, false, true>(job, out),
                (PlaneLayout::Values, true) => self.run::<V, false, true, true>(job, out),
                (PlaneLayout::Scales, false) => self.run::<V, true, false, false>(job, out),
                (PlaneLayout::Scales, true) => self.run::<V, true, true, false>(job, out),
                (PlaneLayout::Products, false) => self.run::<V, true, false, true>(job, out),
                (PlaneLayout::Products, true) => self.run::<V, true, true, true>(job, out),
            }
        }
    }

    /// Runs a job that [`TileRegisters::dots`] has checked: with a `SECOND` plane, with `MORE` than one tile of
    /// rows, the last plane `SIGNED`.
    ///
    /// # Safety
    /// The registers are open, and every operand is as long as [`TileRegisters::dots`] wants it.
    #[inline(always)]
    unsafe fn run<V, const SECOND: bool, const MORE: bool, const SIGNED: bool>(
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
        // SAFETY: the caller's promise.
        unsafe { store_sums::<SECOND, MORE>(out) };
    }
}

/// Writes the sums of up to two planes and two tiles of rows, plane by plane.
///
/// # Safety
/// The registers are open for products of bytes, and `out` has sixteen lines for each tile.
#[inline(always)]
unsafe fn store_sums<const SECOND: bool, const MORE: bool>(out: &mut [TileLine]) {
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

impl Bf16Registers {
    /// Opens the registers: 0 to 3 for sums, 4 and 5 for the weight rows, 6 and 7 for activations.
    ///
    /// # Safety
    /// The processor has AMX-TILE and AMX-BF16, and the system has let this process use the registers.
    ///
    /// # Panics
    /// When `weight_rows` isn't 1 to 32.
    pub(super) unsafe fn open(weight_rows: usize) -> Bf16Registers {
        assert!((1..=2 * REGISTER_ROWS).contains(&weight_rows));
        let first = weight_rows.min(REGISTER_ROWS);
        let second = (weight_rows - first).max(1);
        let mut config = Config::EMPTY;
        config.row_bytes[..8].fill(ROW_BYTES as u16);
        config.rows[..8].fill(REGISTER_ROWS as u8);
        for (registers, rows) in [(0..2, first), (2..4, second), (4..5, first), (5..6, second)] {
            config.rows[registers].fill(rows as u8);
        }
        Bf16Registers {
            weight_rows,
            // SAFETY: the caller's promise; the numbers are valid for palette 1.
            _opened: unsafe { config.open() },
        }
    }

    /// As [`super::Isa::bf16_tile_dots`] says.
    ///
    /// # Panics
    /// When an operand is shorter than what is read.
    #[inline(always)]
    pub(super) fn dots(&self, job: &Bf16Dots<'_>, out: &mut Bf16Sums) {
        let [first, second] = job.activations;
        let tiles = first.len();
        let behind = usize::from(job.tail.is_some());
        let whole = tiles.checked_sub(behind).expect("the tail is a tile");
        let rows = self.weight_rows;
        assert!(whole == 0 || rows_fit(job.weights, rows, job.stride, ROW_BYTES * whole));
        assert!(second.is_empty() || second.len() == tiles);
        // SAFETY: `self` shows that the registers are open; the operands were checked above.
        unsafe {
            match (self.weight_rows > REGISTER_ROWS, !second.is_empty()) {
                (false, false) => Self::run::<false, false>(job, whole, out),
                (false, true) => Self::run::<false, true>(job, whole, out),
                (true, false) => Self::run::<true, false>(job, whole, out),
                (true, true) => Self::run::<true, true>(job, whole, out),
            }
        }
    }

    /// Runs a job that [`Bf16Registers::dots`] has checked, whose first `whole` tiles of weights lie where they are:
    /// with `MORE` than one tile of weight rows, with a `SECOND` tile of activations.
    ///
    /// # Safety
    /// The registers are open, and every operand is as long as [`Bf16Registers::dots`] wants it.
    #[inline(always)]
    unsafe fn run<const MORE: bool, const SECOND: bool>(
        job: &Bf16Dots<'_>,
        whole: usize,
        out: &mut Bf16Sums,
    ) {
        tile!("tilezero tmm0");
        tile!("tilezero tmm1");
        tile!("tilezero tmm2");
        tile!("tilezero tmm3");
        let [first, second] = job.activations.map(<[TileBytes]>::as_ptr);
        for tile in 0..whole {
            let weights = job.weights.as_ptr().wrapping_add(ROW_BYTES * tile);
            let activations = [first, second].map(|tiles| tiles.wrapping_add(tile));
            for row in job.ahead.clone() {
                let line = weights.wrapping_add(row * job.stride);
                // SAFETY: every processor with AMX has the instruction, which never faults.
                unsafe { _mm_prefetch::<_MM_HINT_T1>(line.cast()) };
            }
            // SAFETY: `dots` has checked that the rows and the tiles of activations are there.
            unsafe { multiply_bf16::<MORE, SECOND>(weights, job.stride, activations) };
        }
        if let Some(tail) = job.tail {
            let activations = [first, second].map(|tiles| tiles.wrapping_add(whole));
            // SAFETY: the tail is two tiles; there is one of activations behind the whole ones.
            unsafe { multiply_bf16::<MORE, SECOND>(tail.as_ptr().cast(), ROW_BYTES, activations) };
        }
        let [[first, second], [third, fourth]] = out.each_mut().map(|tiles| {
            let [first, second] = tiles.each_mut();
            [first.as_mut_ptr(), second.as_mut_ptr()]
        });
        tile!("tilestored [{} + {}*1], tmm0", first, ROW_BYTES);
        tile!("tilestored [{} + {}*1], tmm1", second, ROW_BYTES);
        tile!("tilestored [{} + {}*1], tmm2", third, ROW_BYTES);
        tile!("tilestored [{} + {}*1], tmm3", fourth, ROW_BYTES);
    }
}

/// Adds the products of a tile of the shared axis: `weights` has rows `stride` apart.
///
/// # Safety
/// The registers are open; as many rows of weights as they were opened for and the tiles of activations are there.
#[inline(always)]
unsafe fn multiply_bf16<const MORE: bool, const SECOND: bool>(
    weights: *const u8,
    stride: usize,
    [first, second]: [*const TileBytes; 2],
) {
    tile!("tileloadd tmm4, [{} + {}*1]", weights, stride);
    tile!("tileloadd tmm6, [{} + {}*1]", first, ROW_BYTES);
    tile!("tdpbf16ps tmm0, tmm4, tmm6");
    if SECOND {
        tile!("tileloadd tmm7, [{} + {}*1]", second, ROW_BYTES);
        tile!("tdpbf16ps tmm1, tmm4, tmm7");
    }
    if MORE {
        let weights = weights.wrapping_add(REGISTER_ROWS * stride);
        tile!("tileloadd tmm5, [{} + {}*1]", weights, stride);
        tile!("tdpbf16ps tmm2, tmm5, tmm6");
    }
    if MORE && SECOND {
        tile!("tdpbf16ps tmm3, tmm5, tmm7");
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: the registers were opened on this thread, so the processor has them.
        unsafe { asm!("tilerelease", options(nomem, nostack, preserves_flags)) };
        OPEN.set(false);
    }
}
