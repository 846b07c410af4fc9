//! What the formats with 32 elements share. A step is up to eight blocks.

use super::dot::Dot;
use super::record::{Record, small_scale, small_sum, word};
use super::{Planes, Tile};
use crate::isa::{Isa, LANES};

/// Words of a block of 32 elements.
const BLOCK_WORDS: usize = 8;

/// The F16 scale at the start of a block, for sixteen rows.
#[inline(always)]
pub(super) fn unpack_scale<S: Isa>(isa: S, bytes: &[u8], stride: usize, offset: usize) -> S::F {
    let words: [u32; LANES] = core::array::from_fn(|row| {
        let at = row * stride + offset;
        u32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
    });
    isa.float_f16(isa.load_i32(&words))
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
    let four = isa.splat_i32(0x0f);
    // A product with this brings bit `k` of four to bit `8 k + 4`; no two terms meet in a bit.
    let spread = isa.splat_i32(0x0204_0810);
    let place = isa.splat_i32(0x1010_1010);
    let mut words = unpack_nibbles(isa, columns);
    let mut bits = fifth;
    for word in &mut words {
        let fifths = isa.and(isa.mul_i32(isa.and(bits, four), spread), place);
        *word = isa.or(*word, fifths);
        bits = isa.shr::<4>(bits);
    }
    words
}

/// The integer dots of one block.
#[inline(always)]
pub(super) fn dots<S: Isa, D: Dot, const R: usize>(
    isa: S,
    tile: &Tile<S>,
    block: usize,
    records: [&Record; R],
) -> [S::V; R] {
    let mut integers = [isa.splat_i32(0); R];
    for t in 0..BLOCK_WORDS {
        for r in 0..R {
            let activations = isa.splat_i32(word(records[r], 4 * (BLOCK_WORDS * block + t)));
            let words = tile.words[BLOCK_WORDS * block + t];
            integers[r] = D::dot(isa, integers[r], words, activations);
        }
    }
    integers
}

/// A block's words as the only plane.
#[inline(always)]
pub(super) fn plane<S: Isa>(tile: &Tile<S>, block: usize, planes: &mut Planes<S>) {
    let words = &tile.words[BLOCK_WORDS * block..][..BLOCK_WORDS];
    planes[0][..BLOCK_WORDS].copy_from_slice(words);
}

/// Adds a block. A stored element is `bias` above its value.
#[inline(always)]
pub(super) fn add<S: Isa, const R: usize>(
    isa: S,
    tile: &Tile<S>,
    block: usize,
    records: [&Record; R],
    integers: [S::V; R],
    sums: &mut [S::F; R],
    bias: i32,
) {
    for r in 0..R {
        let offset = isa.splat_i32(-bias * small_sum(records[r], block));
        let integer = isa.float(isa.add_i32(integers[r], offset));
        let d = isa.mul(tile.d[block], isa.splat(small_scale(records[r], block)));
        sums[r] = isa.fma(integer, d, sums[r]);
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
