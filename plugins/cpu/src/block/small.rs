//! What the formats share whose activations are rounded by 32. A step is up to eight blocks of 32
//! elements, or up to sixteen parts of 16.

use super::dot::{Dot, Unsigned, dots};
use super::record::Source;
use super::{Parts, Planes, Sums, Tile};
use crate::isa::{Isa, LANES, PlaneLayout};
use core::marker::PhantomData;

/// The F16 scale at `offset`, for sixteen rows. Sixteen bytes of each row are read.
#[inline(always)]
pub(super) fn unpack_scale<S: Isa>(isa: S, bytes: &[u8], stride: usize, offset: usize) -> S::F {
    let [scale, ..] = isa.columns_ahead(bytes, stride, offset);
    isa.float_f16(scale)
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
    let mut values = [0.0; LANES];
    for (row, value) in values.iter_mut().enumerate() {
        *value = scales[usize::from(bytes[row * stride + offset])];
    }
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

/// Parts of `4 * WORDS` elements, 16 or 32, with a scale each.
pub(super) struct Scaled<D, const WORDS: usize>(PhantomData<D>);

impl<D: Dot, const WORDS: usize> Parts for Scaled<D, WORDS> {
    const LAYOUT: PlaneLayout = PlaneLayout::Values;
    const TERMS: usize = 1;

    /// What the words are above their values, times the sum of the activations is taken off again.
    #[inline(always)]
    fn dots<S: Isa, A: Source<S>, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        part: usize,
        records: [A; R],
    ) -> [S::V; R] {
        let mut integers = dots::<S, D, A, WORDS, R>(isa, tile, part, records);
        if D::bias::<S>() != 0 {
            for r in 0..R {
                let sum = if WORDS == 4 {
                    records[r].small_half_sum(isa, part)
                } else {
                    records[r].small_sum(isa, part)
                };
                let offset = isa.mul_i32(sum, isa.splat_i32(D::bias::<S>()));
                integers[r] = isa.sub_i32(integers[r], offset);
            }
        }
        integers
    }

    #[inline(always)]
    fn planes<S: Isa>(isa: S, tile: &Tile<S>, planes: &mut Planes<S>) {
        for (plane, words) in planes[0].iter_mut().zip(&tile.words) {
            *plane = D::values(isa, *words);
        }
    }

    #[inline(always)]
    fn terms<S: Isa, A: Source<S>, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        part: usize,
        records: [A; R],
        integers: [S::V; R],
        sums: &mut impl Sums<S>,
    ) {
        for r in 0..R {
            let da = records[r].small_scale(isa, part * WORDS / 8);
            sums.add(isa, r, isa.float(integers[r]), isa.mul(tile.d[part], da));
        }
    }
}

/// Blocks of 32 elements above a minimum.
pub(super) struct WithMinimums;

impl Parts for WithMinimums {
    const LAYOUT: PlaneLayout = PlaneLayout::Values;
    const TERMS: usize = 2;

    #[inline(always)]
    fn dots<S: Isa, A: Source<S>, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        part: usize,
        records: [A; R],
    ) -> [S::V; R] {
        dots::<S, Unsigned<0>, A, 8, R>(isa, tile, part, records)
    }

    #[inline(always)]
    fn planes<S: Isa>(_isa: S, tile: &Tile<S>, planes: &mut Planes<S>) {
        planes[0] = tile.words;
    }

    /// The minimum's factor is the sum of the activations.
    #[inline(always)]
    fn terms<S: Isa, A: Source<S>, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        part: usize,
        records: [A; R],
        integers: [S::V; R],
        sums: &mut impl Sums<S>,
    ) {
        for r in 0..R {
            let da = records[r].small_scale(isa, part);
            sums.add(isa, r, isa.float(integers[r]), isa.mul(tile.d[part], da));
            let of_activations = isa.float(records[r].small_sum(isa, part));
            sums.add(isa, r, of_activations, isa.mul(tile.minimums[part], da));
        }
    }
}
