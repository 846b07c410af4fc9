//! What the formats share whose activations are rounded by 32. A step is up to eight blocks of 32
//! elements, or up to sixteen parts of 16.

use super::dot::Dot;
use super::record::{Record, small_half_sum, small_scale, small_sum, word};
use super::{Planes, Tile};
use crate::isa::{Isa, LANES};

/// The F16 scale at the start of a block, for sixteen rows.
#[inline(always)]
pub(super) fn unpack_scale<S: Isa>(isa: S, bytes: &[u8], stride: usize, offset: usize) -> S::F {
    let words: [u32; LANES] = core::array::from_fn(|row| {
        let at = row * stride + offset;
        u32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
    });
    isa.float_f16(isa.load_i32(&words))
}

/// The scale that the byte at `offset` names in `scales`, for sixteen rows.
#[inline(always)]
pub(super) fn unpack_byte_scale<S: Isa>(
    isa: S,
    bytes: &[u8],
    stride: usize,
    offset: usize,
    scales: &[f32; 256],
) -> S::F {
    let values: [f32; LANES] =
        core::array::from_fn(|row| scales[usize::from(bytes[row * stride + offset])]);
    isa.load(&values)
}

/// 32 elements of 4 bits: the low halves of sixteen bytes, then the high ones.
#[inline(always)]
pub(super) fn unpack_nibbles<S: Isa>(isa: S, columns: [S::V; 4]) -> [S::V; 8] {
    let low = isa.splat_i32(0x0f0f_0f0f);
    let mut words = [low; 8];
    for (c, column) in columns.into_iter().enumerate() {
        words[c] = isa.and(column, low);
        words[4 + c] = isa.and(isa.shr::<4>(column), low);
    }
    words
}

/// 32 elements of 5 bits: nibbles as [`unpack_nibbles`] takes them, and the fifth bit of element `i` at
/// bit `i` of `fifth`.
#[inline(always)]
pub(super) fn unpack_five_bits<S: Isa>(isa: S, fifth: S::V, columns: [S::V; 4]) -> [S::V; 8] {
    let mut words = unpack_nibbles(isa, columns);
    let mut bits = fifth;
    for word in &mut words {
        *word = isa.or(*word, spread_bits::<S, 4>(isa, bits));
        bits = isa.shr::<4>(bits);
    }
    words
}

/// The lowest four bits, each as bit `AT` of a byte of its own.
#[inline(always)]
pub(super) fn spread_bits<S: Isa, const AT: u32>(isa: S, bits: S::V) -> S::V {
    // A product with this brings bit `k` to bit `8 k + AT`; no two terms meet in a bit.
    let spread = isa.splat_i32(0x0020_4081 << AT);
    let place = isa.splat_i32(0x0101_0101 << AT);
    let four = isa.and(bits, isa.splat_i32(0x0f));
    isa.and(isa.mul_i32(four, spread), place)
}

/// The integer dots of one part of `4 * WORDS` elements, 16 or 32.
#[inline(always)]
pub(super) fn dots<S: Isa, D: Dot, const WORDS: usize, const R: usize>(
    isa: S,
    tile: &Tile<S>,
    part: usize,
    records: [&Record; R],
) -> [S::V; R] {
    let mut integers = [isa.splat_i32(0); R];
    for t in 0..WORDS {
        for r in 0..R {
            let activations = isa.splat_i32(word(records[r], 4 * (WORDS * part + t)));
            integers[r] = D::dot(isa, integers[r], tile.words[WORDS * part + t], activations);
        }
    }
    integers
}

/// A part's words as the only plane.
#[inline(always)]
pub(super) fn plane<S: Isa, const WORDS: usize>(
    tile: &Tile<S>,
    part: usize,
    planes: &mut Planes<S>,
) {
    let words = &tile.words[WORDS * part..][..WORDS];
    planes[0][..WORDS].copy_from_slice(words);
}

/// Adds a part. A stored element is `bias` above its value.
#[inline(always)]
pub(super) fn add<S: Isa, const WORDS: usize, const R: usize>(
    isa: S,
    tile: &Tile<S>,
    part: usize,
    records: [&Record; R],
    integers: [S::V; R],
    sums: &mut [S::F; R],
    bias: i32,
) {
    for r in 0..R {
        let sum = if WORDS == 4 {
            small_half_sum(records[r], part)
        } else {
            small_sum(records[r], part)
        };
        let integer = isa.float(isa.add_i32(integers[r], isa.splat_i32(-bias * sum)));
        let da = isa.splat(small_scale(records[r], part * WORDS / 8));
        sums[r] = isa.fma(integer, isa.mul(tile.d[part], da), sums[r]);
    }
}

/// Adds a block of elements above a minimum: the minimum's factor is the sum of the activations.
#[inline(always)]
pub(super) fn add_with_minimums<S: Isa, const R: usize>(
    isa: S,
    tile: &Tile<S>,
    block: usize,
    records: [&Record; R],
    integers: [S::V; R],
    sums: &mut [S::F; R],
) {
    for r in 0..R {
        let da = isa.splat(small_scale(records[r], block));
        let sum = isa.fma(isa.float(integers[r]), isa.mul(tile.d[block], da), sums[r]);
        let of_activations = isa.splat(small_sum(records[r], block) as f32);
        sums[r] = isa.fma(of_activations, isa.mul(tile.minimums[block], da), sum);
    }
}
