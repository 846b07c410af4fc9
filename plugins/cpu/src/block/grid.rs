//! What the formats on lattices share: points looked up in tables, signs, odd scales.
//!
//! A table holds words of four elements, so a point of eight takes two tables. Elements with signs
//! are multiplied as [`SIGN_BIAS`] plus or minus their magnitude, those of the `iq1` formats as
//! [`IQ1_BIAS`] above eight times the point's elements and the move up or down, so that no byte is
//! negative.

use super::Tile;
use super::k_quants::pair_scales;
use super::small::spread_bits;
use crate::isa::Isa;
use guild_quant::format::grid::{Grid, IQ1};

/// What an element that went through [`signed`] is above its value.
pub(super) const SIGN_BIAS: i32 = 64;
/// What an element that went through [`moved`] is above its value.
pub(super) const IQ1_BIAS: i32 = 9;

/// Tables of points with eight elements.
pub(super) type Eights<const POINTS: usize> = [[u32; POINTS]; 2];

/// The points of `ggml.iq1_s` and `ggml.iq1_m`: eight times an element, plus eight.
static IQ1_POINTS: Eights<2048> = [words(&IQ1, 0, 8, 8), words(&IQ1, 4, 8, 8)];

/// The magnitudes of a lattice's points with eight elements.
pub(super) const fn eights<const POINTS: usize>(grid: &Grid<POINTS>) -> Eights<POINTS> {
    [words(grid, 0, 1, 0), words(grid, 4, 1, 0)]
}

/// The magnitudes of a lattice's points with four elements.
pub(super) const fn fours<const POINTS: usize>(grid: &Grid<POINTS>) -> [u32; POINTS] {
    words(grid, 0, 1, 0)
}

/// Elements `first` to `first + 3` of each point, times `factor`, plus `bias`.
const fn words<const POINTS: usize>(
    grid: &Grid<POINTS>,
    first: usize,
    factor: i32,
    bias: i32,
) -> [u32; POINTS] {
    let mut words = [0; POINTS];
    let mut point = 0;
    while point < POINTS {
        let mut elem = 0;
        while elem < 4 {
            let byte = factor * grid.value(point, first + elem) as i32 + bias;
            assert!(byte.cast_unsigned() < 128, "a byte without a sign");
            words[point] |= byte.cast_unsigned() << (8 * elem);
            elem += 1;
        }
        point += 1;
    }
    words
}

/// The four bytes of a word as indices of eight bits: what stands above is for the table to ignore.
#[inline(always)]
pub(super) fn bytes_of<S: Isa>(isa: S, word: S::V) -> [S::V; 4] {
    [
        word,
        isa.shr::<8>(word),
        isa.shr::<16>(word),
        isa.shr::<24>(word),
    ]
}

/// Four indices: a byte of `low` each, below the low `BITS` bits of `upper`, which loses `STEP`
/// bits with each.
#[inline(always)]
pub(super) fn indices<S: Isa, const BITS: u32, const STEP: u32>(
    isa: S,
    low: S::V,
    upper: &mut S::V,
) -> [S::V; 4] {
    let byte = isa.splat_i32(0xff);
    let above = isa.splat_i32(((1 << BITS) - 1) << 8);
    let mut indices = bytes_of(isa, low);
    for index in &mut indices {
        let high = isa.and(isa.shl::<8>(*upper), above);
        *index = isa.or(isa.and(*index, byte), high);
        *upper = isa.shr::<STEP>(*upper);
    }
    indices
}

/// 32 elements of four points.
#[inline(always)]
pub(super) fn gather_eights<S: Isa, const POINTS: usize>(
    isa: S,
    tables: &Eights<POINTS>,
    indices: [S::V; 4],
) -> [S::V; 8] {
    let mut words = [indices[0]; 8];
    for (words, index) in words.as_chunks_mut::<2>().0.iter_mut().zip(indices) {
        words[0] = isa.gather(&tables[0], index);
        words[1] = isa.gather(&tables[1], index);
    }
    words
}

/// 32 elements of eight points, two times four indices.
#[inline(always)]
pub(super) fn gather_fours<S: Isa, const POINTS: usize>(
    isa: S,
    table: &[u32; POINTS],
    indices: [[S::V; 4]; 2],
) -> [S::V; 8] {
    let mut words = [indices[0][0]; 8];
    for (word, index) in words.iter_mut().zip(indices.as_flattened()) {
        *word = isa.gather(table, *index);
    }
    words
}

/// 32 magnitudes below 64 with their signs, bit `i` that of element `i`: [`SIGN_BIAS`] plus or
/// minus.
#[inline(always)]
pub(super) fn signed<S: Isa>(isa: S, magnitudes: [S::V; 8], signs: S::V) -> [S::V; 8] {
    let bias = isa.splat_i32(SIGN_BIAS * 0x0101_0101);
    let (mut words, mut bits) = (magnitudes, signs);
    for word in &mut words {
        // All bits of the bytes whose sign is set. What is taken off stays below what is there,
        // byte for byte, so that nothing is borrowed.
        let minus = spread_bits::<S, 0>(isa, bits);
        let mask = isa.sub_i32(isa.shl::<8>(minus), minus);
        let twice = isa.shl::<1>(isa.and(*word, mask));
        *word = isa.sub_i32(isa.add_i32(*word, bias), twice);
        bits = isa.shr::<4>(bits);
    }
    words
}

/// The signs and the scale that `ggml.iq2_xxs` and `ggml.iq3_xxs` keep in one word: four fields of
/// seven signs, and four bits above.
#[inline(always)]
pub(super) fn signs_and_scale<S: Isa>(isa: S, word: S::V) -> (S::V, S::V) {
    let low = isa.or(
        isa.and(word, isa.splat_i32(0x7f)),
        isa.and(isa.shl::<1>(word), isa.splat_i32(0x7f00)),
    );
    let high = isa.or(
        isa.and(isa.shl::<2>(word), isa.splat_i32(0x7f_0000)),
        isa.and(isa.shl::<3>(word), isa.splat_i32(0x7f00_0000)),
    );
    let signs = eighth_signs(isa, isa.or(low, high));
    (signs, odd(isa, isa.shr::<28>(word)))
}

/// Four bytes of seven signs each, with the eighth: it makes the number of minus signs even.
#[inline(always)]
pub(super) fn eighth_signs<S: Isa>(isa: S, sevens: S::V) -> S::V {
    // Each step folds the upper half of the bits that count onto the lower half.
    let upper = isa.and(isa.shr::<4>(sevens), isa.splat_i32(0x0707_0707));
    let four = isa.xor(sevens, upper);
    let upper = isa.and(isa.shr::<2>(four), isa.splat_i32(0x0303_0303));
    let two = isa.xor(four, upper);
    let one = isa.xor(two, isa.shr::<1>(two));
    let parity = isa.and(one, isa.splat_i32(0x0101_0101));
    isa.or(sevens, isa.shl::<7>(parity))
}

/// Unpacks scales of four bits, eight to a word, lowest first: `COUNT` sub-blocks in all.
#[inline(always)]
pub(super) fn unpack_odd_scales<S: Isa, const COUNT: usize>(
    isa: S,
    words: &[S::V],
    tile: &mut Tile<S>,
) {
    let scales = tile.scales[..COUNT].as_chunks_mut::<8>().0;
    for (scales, word) in scales.iter_mut().zip(words) {
        let mut rest = *word;
        for scale in scales {
            *scale = odd(isa, isa.and(rest, isa.splat_i32(0x0f)));
            rest = isa.shr::<4>(rest);
        }
    }
    pair_scales::<S, COUNT>(isa, tile);
}

/// `2 n + 1`.
#[inline(always)]
pub(super) fn odd<S: Isa>(isa: S, n: S::V) -> S::V {
    isa.or(isa.shl::<1>(n), isa.splat_i32(1))
}

/// 32 elements of four points of the `iq1` formats, each moved down where the sign bit of its word
/// in `downs` is set, else up.
#[inline(always)]
pub(super) fn moved<S: Isa>(isa: S, indices: [S::V; 4], downs: [S::V; 4]) -> [S::V; 8] {
    let mut words = gather_eights(isa, &IQ1_POINTS, indices);
    let (all, two) = (isa.splat_i32(-1), isa.splat_i32(0x0202_0202));
    for (words, down) in words.as_chunks_mut::<2>().0.iter_mut().zip(downs) {
        let up = isa.and(isa.xor(isa.sar::<31>(down), all), two);
        for word in words {
            *word = isa.or(*word, up);
        }
    }
    words
}
