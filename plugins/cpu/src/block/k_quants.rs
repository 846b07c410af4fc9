//! What the formats with 256 elements share: packed scales and minimums, and their product.

use super::Tile;
use super::record::{Record, pair_of_32, scale, word};
use crate::isa::Isa;

/// Unpacks the first 16 bytes of `ggml.q4_K` and `ggml.q5_K`: two F16 scales, then eight 6-bit scales
/// and minimums in 12 bytes (the layout stands in `guild-quant`, `format/k_scales.rs`).
#[inline(always)]
pub(super) fn unpack_header<S: Isa>(
    isa: S,
    bytes: &[u8],
    stride: usize,
    offset: usize,
    tile: &mut Tile<S>,
) {
    let [d, first, second, third] = isa.columns(bytes, stride, offset);
    tile.d[0] = isa.float_f16(d);
    tile.dmin = isa.float_f16(isa.shr::<16>(d));
    let six = isa.splat_i32(0x3f3f_3f3f);
    let four = isa.splat_i32(0x0f0f_0f0f);
    let top = isa.splat_i32(0x3030_3030);
    let upper = |word| isa.and(isa.shr::<2>(word), top);
    let scales = [
        isa.and(first, six),
        isa.or(isa.and(third, four), upper(first)),
    ];
    let minimums = [
        isa.and(second, six),
        isa.or(isa.and(isa.shr::<4>(third), four), upper(second)),
    ];
    let byte = isa.splat_i32(0xff);
    let even = isa.splat_i32(0x00ff_00ff);
    for half in 0..2 {
        let (scale, minimum) = (scales[half], minimums[half]);
        tile.scales[4 * half] = isa.and(scale, byte);
        tile.scales[4 * half + 1] = isa.and(isa.shr::<8>(scale), byte);
        tile.scales[4 * half + 2] = isa.and(isa.shr::<16>(scale), byte);
        tile.scales[4 * half + 3] = isa.shr::<24>(scale);
        tile.pairs[2 * half] = isa.and(minimum, even);
        tile.pairs[2 * half + 1] = isa.and(isa.shr::<8>(minimum), even);
    }
}

/// Adds one block whose eight sub-blocks have a scale and a minimum each.
#[inline(always)]
pub(super) fn multiply_with_minimums<S: Isa, const R: usize>(
    isa: S,
    tile: &Tile<S>,
    records: [&Record; R],
    sums: &mut [S::F; R],
) {
    let integers = sub_blocks::<S, 8, R>(isa, tile, records);
    let mut minimums = [isa.splat_i32(0); R];
    for (pair, factors) in tile.pairs[..4].iter().enumerate() {
        for r in 0..R {
            let of_activations = isa.splat_i32(pair_of_32(records[r], pair));
            minimums[r] = isa.dot_i16(minimums[r], *factors, of_activations);
        }
    }
    for r in 0..R {
        let da = isa.splat(scale(records[r]));
        let sum = isa.fma(isa.float(integers[r]), isa.mul(tile.d[0], da), sums[r]);
        let minimum = isa.neg(isa.float(minimums[r]));
        sums[r] = isa.fma(minimum, isa.mul(tile.dmin, da), sum);
    }
}

/// `sum of scale * (u . activations)` over all sub-blocks of `4 * WORDS` unsigned elements.
#[inline(always)]
pub(super) fn sub_blocks<S: Isa, const WORDS: usize, const R: usize>(
    isa: S,
    tile: &Tile<S>,
    records: [&Record; R],
) -> [S::V; R] {
    let zero = isa.splat_i32(0);
    let mut integers = [zero; R];
    for (s, words) in tile.words.as_chunks::<WORDS>().0.iter().enumerate() {
        let mut dots = [zero; R];
        for (t, words) in words.iter().enumerate() {
            for r in 0..R {
                let activations = isa.splat_i32(word(records[r], 4 * (WORDS * s + t)));
                dots[r] = isa.dot_unsigned(dots[r], *words, activations);
            }
        }
        for r in 0..R {
            integers[r] = isa.add_i32(integers[r], isa.mul_i32(dots[r], tile.scales[s]));
        }
    }
    integers
}
