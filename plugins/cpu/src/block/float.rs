//! F32, F16 and BF16 weights: widened, then the dot of rule 2 (`docs/numerics.md`).
//!
//! Sixteen dots run side by side, each in its own vector, so that one transposition sums them all.

use super::product::{Line, TILE_ROWS, TileRows};
use super::record::{Activations, FloatRecord, RECORD_ELEMS};
use crate::isa::{Isa, LANES};

/// A format whose elements stand alone.
pub(crate) trait Float {
    /// Bytes of an element.
    const BYTES: usize;
    /// Sixteen elements, widened.
    fn widen<S: Isa>(isa: S, bytes: &[u8]) -> S::F;
    /// The bytes of -0.
    const MINUS_ZERO: &'static [u8];
}

/// IEEE binary32.
pub(crate) struct F32;
/// IEEE binary16.
pub(crate) struct F16;
/// bfloat16.
pub(crate) struct Bf16;

impl Float for F32 {
    const BYTES: usize = 4;
    const MINUS_ZERO: &'static [u8] = &[0, 0, 0, 0x80];
    #[inline(always)]
    fn widen<S: Isa>(isa: S, bytes: &[u8]) -> S::F {
        load_f32(isa, bytes)
    }
}

impl Float for F16 {
    const BYTES: usize = 2;
    const MINUS_ZERO: &'static [u8] = &[0, 0x80];
    #[inline(always)]
    fn widen<S: Isa>(isa: S, bytes: &[u8]) -> S::F {
        isa.widen_f16_bytes(bytes.first_chunk().expect("32 bytes"))
    }
}

impl Float for Bf16 {
    const BYTES: usize = 2;
    const MINUS_ZERO: &'static [u8] = &[0, 0x80];
    #[inline(always)]
    fn widen<S: Isa>(isa: S, bytes: &[u8]) -> S::F {
        isa.widen_bf16(bytes.first_chunk().expect("32 bytes"))
    }
}

#[inline(always)]
fn load_f32<S: Isa>(isa: S, bytes: &[u8]) -> S::F {
    isa.load_bytes(bytes.first_chunk().expect("64 bytes"))
}

/// What [`float_product`] takes: as [`super::Gemm`], without the tile.
pub(super) type FloatArguments<'a> = (&'a TileRows<'a>, &'a Activations<'a>, usize, &'a mut [Line]);

/// As [`super::Gemm`] says, for one format.
#[inline(always)]
pub(super) fn float_product<S: Isa, W: Float>(
    isa: S,
    (weight, activations, row, out): FloatArguments<'_>,
) {
    let (fours, rest) = out.as_chunks_mut::<4>();
    let alone = row + 4 * fours.len();
    for (i, out) in fours.iter_mut().enumerate() {
        for first in (0..TILE_ROWS).step_by(4) {
            let sums = dots::<S, W, 4, 4>(isa, weight, first, activations, row + 4 * i);
            for (out, sums) in out.iter_mut().zip(sums.as_chunks::<4>().0) {
                out.0[first..first + 4].copy_from_slice(sums);
            }
        }
    }
    for (i, out) in rest.iter_mut().enumerate() {
        out.0 = dots::<S, W, 16, 1>(isa, weight, 0, activations, alone + i);
    }
}

/// Dots of `M` weight rows from `first` on with `X` rows of activations, `M * X == 16`: dot
/// `x * M + m` is that of weight row `first + m` and row `row + x`.
#[inline(always)]
fn dots<S: Isa, W: Float, const M: usize, const X: usize>(
    isa: S,
    weight: &TileRows<'_>,
    first: usize,
    activations: &Activations<'_>,
    row: usize,
) -> [f32; 16] {
    let last = weight.count() - 1;
    let mut sums = [isa.splat(0.0); 16];
    for step in 0..weight.elems.div_ceil(RECORD_ELEMS) {
        let elems = (weight.elems - step * RECORD_ELEMS).min(RECORD_ELEMS);
        let x: [&FloatRecord; X] = core::array::from_fn(|x| activations.plain(step, row + x));
        let w: [&[u8]; M] = core::array::from_fn(|m| {
            let at = (first + m).min(last) * weight.row_bytes + step * RECORD_ELEMS * W::BYTES;
            &weight.bytes[at..][..elems * W::BYTES]
        });
        for c in 0..elems / LANES {
            let mut xs = [isa.splat(0.0); X];
            for (value, x) in xs.iter_mut().zip(&x) {
                *value = load_f32(isa, &x[4 * LANES * c..]);
            }
            for (m, w) in w.iter().enumerate() {
                let w = W::widen(isa, &w[LANES * W::BYTES * c..]);
                for (x, value) in xs.iter().enumerate() {
                    sums[x * M + m] = isa.fma(w, *value, sums[x * M + m]);
                }
            }
        }
        if !elems.is_multiple_of(LANES) {
            for (m, w) in w.iter().enumerate() {
                for (x, record) in x.iter().enumerate() {
                    let sum = &mut sums[x * M + m];
                    *sum = add_tail::<S, W>(isa, w, record, elems, *sum);
                }
            }
        }
    }
    isa.array(isa.tree_16(&sums))
}

/// Adds the last `elems % 16` products. Absent weights are -0 and absent activations +0: their
/// product, -0, leaves every lane as it is.
#[inline(always)]
fn add_tail<S: Isa, W: Float>(
    isa: S,
    weight: &[u8],
    record: &FloatRecord,
    elems: usize,
    sum: S::F,
) -> S::F {
    let whole = elems / LANES * LANES;
    let mut w = [0; 4 * LANES];
    for bytes in w.chunks_exact_mut(W::BYTES) {
        bytes.copy_from_slice(W::MINUS_ZERO);
    }
    let tail = &weight[whole * W::BYTES..];
    w[..tail.len()].copy_from_slice(tail);
    let mut x = [0; 4 * LANES];
    let tail = &record[4 * whole..4 * elems];
    x[..tail.len()].copy_from_slice(tail);
    isa.fma(W::widen(isa, &w), load_f32(isa, &x), sum)
}
