//! What the formats with 256 elements share: packed scales and minimums, and their product.

use super::dot::{self, Dot, Unsigned};
use super::gemv::{InOrder, StepDots, Steps, sixteen_dots};
use super::record::Source;
use super::{Parts, Planes, Sums, Tile};
use crate::isa::{Isa, PlaneLayout};
use core::marker::PhantomData;

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
    let scales = unpack_minimums(isa, bytes, stride, offset, tile);
    let byte = isa.splat_i32(0xff);
    for (scale, scales) in scales.into_iter().zip(tile.scales.as_chunks_mut::<4>().0) {
        scales[0] = isa.and(scale, byte);
        scales[1] = isa.and(isa.shr::<8>(scale), byte);
        scales[2] = isa.and(isa.shr::<16>(scale), byte);
        scales[3] = isa.shr::<24>(scale);
    }
}

/// Unpacks all of it but the sub-blocks' scales, which stay bytes: four in a word of the first vector, four in the
/// second.
#[inline(always)]
fn unpack_minimums<S: Isa>(
    isa: S,
    bytes: &[u8],
    stride: usize,
    offset: usize,
    tile: &mut Tile<S>,
) -> [S::V; 2] {
    let [d, first, second, third] = isa.columns_ahead(bytes, stride, offset);
    tile.d[0] = isa.float_f16(d);
    tile.minimums[0] = isa.float_f16(isa.shr::<16>(d));
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
    let even = isa.splat_i32(0x00ff_00ff);
    for (minimum, pairs) in minimums.into_iter().zip(tile.pairs.as_chunks_mut::<2>().0) {
        pairs[0] = isa.and(minimum, even);
        pairs[1] = isa.and(isa.shr::<8>(minimum), even);
    }
    scales
}

/// Order of the sub-blocks where 64 bytes hold four: 0 and 2 in their lower halves, 1 and 3 in the upper.
pub(super) const PAIRED_ORDER: [u8; 8] = [0, 2, 1, 3, 4, 6, 5, 7];

/// Adds the dots of two vectors in [`PAIRED_ORDER`], times the scales, which are the bytes of a word.
#[inline(always)]
pub(super) fn paired_dots<S: Isa>(
    isa: S,
    mut sum: S::V,
    values: [S::V; 2],
    scales: i32,
    words: &[S::V; 2],
) -> S::V {
    let scales = isa.splat_i32(scales);
    for (i, places) in PAIRED_PLACES.iter().enumerate() {
        let pairs = isa.dot_pairs(values[i], words[i]);
        let scale = isa.look_up(scales, isa.bytes(places));
        sum = isa.dot_i16(sum, pairs, scale);
    }
    sum
}

/// Of which byte of the scales each i16 of a vector is.
const PAIRED_PLACES: [[u8; 64]; 2] = [places([0, 0, 2, 2], 0), places([1, 1, 3, 3], 0)];

/// Look-up indices that bring a byte to each i16 of a quarter: to its lower half, 0, or its upper one, 1. The other
/// gets nothing.
pub(super) const fn places(bytes: [u8; 4], half: usize) -> [u8; 64] {
    let mut places = [128; 64];
    let mut i = half;
    while i < 64 {
        places[i] = bytes[i / 16];
        i += 2;
    }
    places
}

/// The integers of sixteen steps of `ggml.q4_K` or `ggml.q5_K`, and into `tile` what their terms need besides. The
/// headers come last: the dots have brought them into a near cache.
#[inline(always)]
pub(super) fn sixteen_dots_above_minimums<S: Isa, D: StepDots>(
    isa: S,
    steps: &Steps<'_>,
    records: &InOrder<S>,
    tile: &mut Tile<S>,
) -> S::V {
    let dots = sixteen_dots::<S, D>(isa, steps, records);
    unpack_minimums(isa, steps.bytes, steps.stride, 0, tile);
    dots
}

/// The eight scales of one block, as the words of [`unpack_minimums`].
#[inline(always)]
pub(super) fn packed_scales(block: &[u8]) -> [i32; 2] {
    let header: &[u8; 16] = block.first_chunk().expect("a block has a header");
    let word = |at: usize| {
        i32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let (first, third) = (word(4), word(12));
    let upper = (first >> 2) & 0x3030_3030;
    [first & 0x3f3f_3f3f, (third & 0x0f0f_0f0f) | upper]
}

/// Unpacks 64 bytes of bit pairs, four elements a byte: 32 bytes for each half of the block, quarter `k`
/// of the half at bits `2k, 2k + 1`.
#[inline(always)]
pub(super) fn unpack_pairs<S: Isa>(
    isa: S,
    bytes: &[u8],
    stride: usize,
    offset: usize,
    tile: &mut Tile<S>,
) {
    let two = isa.splat_i32(0x0303_0303);
    for (half, words) in tile.words.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        for part in 0..2 {
            let columns = isa.columns_ahead(bytes, stride, offset + 32 * half + 16 * part);
            for (c, column) in columns.into_iter().enumerate() {
                let t = 4 * part + c;
                words[t] = isa.and(column, two);
                words[8 + t] = isa.and(isa.shr::<2>(column), two);
                words[16 + t] = isa.and(isa.shr::<4>(column), two);
                words[24 + t] = isa.and(isa.shr::<6>(column), two);
            }
        }
    }
}

/// The word that starts in the middle of `low` and ends in the middle of `high`.
#[inline(always)]
pub(super) fn across<S: Isa>(isa: S, low: S::V, high: S::V) -> S::V {
    isa.or(isa.shr::<16>(low), isa.shl::<16>(high))
}

/// Makes the factors of the activations' sums from `COUNT` scales that are there.
#[inline(always)]
pub(super) fn pair_scales<S: Isa, const COUNT: usize>(isa: S, tile: &mut Tile<S>) {
    let low = isa.splat_i32(0xffff);
    let scales = tile.scales[..COUNT].as_chunks::<4>().0;
    for (pairs, scales) in tile.pairs.as_chunks_mut::<2>().0.iter_mut().zip(scales) {
        pairs[0] = isa.or(isa.and(scales[0], low), isa.shl::<16>(scales[2]));
        pairs[1] = isa.or(isa.and(scales[1], low), isa.shl::<16>(scales[3]));
    }
}

/// Scales of 1 for eight sub-blocks, for formats with one scale a block.
#[inline(always)]
pub(super) fn unit_scales<S: Isa>(isa: S, tile: &mut Tile<S>) {
    tile.scales[..8].fill(isa.splat_i32(1));
    pair_scales::<S, 8>(isa, tile);
}

/// Blocks of 256 elements whose sub-blocks of `4 * WORDS` have a scale and a minimum each.
pub(super) struct WithMinimums<const WORDS: usize>;

impl<const WORDS: usize> Parts for WithMinimums<WORDS> {
    const LAYOUT: PlaneLayout = PlaneLayout::Scales;
    const TERMS: usize = 2;

    #[inline(always)]
    fn dots<S: Isa, A: Source<S>, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        _part: usize,
        records: [A; R],
    ) -> [S::V; R] {
        dots::<S, Unsigned<0>, A, WORDS, R>(isa, tile, records)
    }

    /// The words times the lower three bits of their scale, and times the rest. Words are at most 31 and scales at
    /// most 63, so that every product is a byte, and two bytes can be multiplied as one i16 without a carry.
    #[inline(always)]
    fn planes<S: Isa>(isa: S, tile: &Tile<S>, planes: &mut Planes<S>) {
        let three = isa.splat_i32(7);
        let [low_plane, high_plane] = planes;
        let words = tile.words.as_chunks::<WORDS>().0.iter().zip(&tile.scales);
        let planes = low_plane.as_chunks_mut::<WORDS>().0.iter_mut();
        let planes = planes.zip(high_plane.as_chunks_mut::<WORDS>().0);
        for ((words, scale), (low_plane, high_plane)) in words.zip(planes) {
            let low = twice(isa, isa.and(*scale, three));
            let high = twice(isa, isa.shr::<3>(*scale));
            for t in 0..WORDS {
                low_plane[t] = isa.mul_i16(words[t], low);
                high_plane[t] = isa.mul_i16(words[t], high);
            }
        }
    }

    #[inline(always)]
    fn terms<S: Isa, A: Source<S>, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        _part: usize,
        records: [A; R],
        integers: [S::V; R],
        sums: &mut impl Sums<S>,
    ) {
        let minimums = weighted_sums::<S, A, WORDS, R>(isa, tile, records);
        for r in 0..R {
            let da = records[r].scale(isa);
            sums.add(isa, r, isa.float(integers[r]), isa.mul(tile.d[0], da));
            let minimum = isa.neg(isa.float(minimums[r]));
            sums.add(isa, r, minimum, isa.mul(tile.minimums[0], da));
        }
    }
}

/// Blocks of 256 elements whose sub-blocks of `4 * WORDS` have a scale each.
pub(super) struct Scaled<D, const WORDS: usize>(PhantomData<D>);

impl<D: Dot, const WORDS: usize> Parts for Scaled<D, WORDS> {
    const LAYOUT: PlaneLayout = PlaneLayout::Products;
    const TERMS: usize = 1;

    /// What the words are above their values, times the scale, times the sum of the activations is taken off again.
    /// No format's integers reach 2^29 on the way.
    #[inline(always)]
    fn dots<S: Isa, A: Source<S>, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        _part: usize,
        records: [A; R],
    ) -> [S::V; R] {
        let integers = dots::<S, D, A, WORDS, R>(isa, tile, records);
        without_bias::<S, D, A, WORDS, R>(isa, tile, records, integers)
    }

    /// The lower bytes of values times scale, and the upper ones with their sign.
    #[inline(always)]
    fn planes<S: Isa>(isa: S, tile: &Tile<S>, planes: &mut Planes<S>) {
        let [low_plane, high_plane] = planes;
        let words = tile.words.as_chunks::<WORDS>().0.iter().zip(&tile.scales);
        let planes = low_plane.as_chunks_mut::<WORDS>().0.iter_mut();
        let planes = planes.zip(high_plane.as_chunks_mut::<WORDS>().0);
        for ((words, scale), (low_plane, high_plane)) in words.zip(planes) {
            let scale = twice(isa, isa.and(*scale, isa.splat_i32(0xffff)));
            for t in 0..WORDS {
                let values = D::values(isa, words[t]);
                (low_plane[t], high_plane[t]) = products(isa, values, scale);
            }
        }
    }

    #[inline(always)]
    fn terms<S: Isa, A: Source<S>, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        _part: usize,
        records: [A; R],
        integers: [S::V; R],
        sums: &mut impl Sums<S>,
    ) {
        for r in 0..R {
            let d = isa.mul(tile.d[0], records[r].scale(isa));
            sums.add(isa, r, isa.float(integers[r]), d);
        }
    }
}

/// The dots of words with their values' bias in, without it.
#[inline(always)]
pub(super) fn without_bias<S: Isa, D: Dot, A: Source<S>, const WORDS: usize, const R: usize>(
    isa: S,
    tile: &Tile<S>,
    records: [A; R],
    mut integers: [S::V; R],
) -> [S::V; R] {
    if D::bias::<S>() != 0 {
        let offsets = weighted_sums::<S, A, WORDS, R>(isa, tile, records);
        for r in 0..R {
            let offset = isa.mul_i32(offsets[r], isa.splat_i32(D::bias::<S>()));
            integers[r] = isa.sub_i32(integers[r], offset);
        }
    }
    integers
}

/// Signed bytes times a scale that stands in both halves of a word: the products' lower bytes and their upper ones,
/// rounded down.
#[inline(always)]
fn products<S: Isa>(isa: S, values: S::V, scale: S::V) -> (S::V, S::V) {
    let byte = isa.splat_i32(0x00ff_00ff);
    // Bytes as the upper halves of i16: products are 256 times as large, their upper halves right.
    let odd = isa.and(values, isa.splat_i32(0xff00_ff00_u32.cast_signed()));
    let even = isa.shl_i16::<8>(values);
    // What stands above an even byte changes only the upper byte of its product.
    let low = select(
        isa,
        byte,
        isa.mul_i16(values, scale),
        isa.mul_i16(odd, scale),
    );
    let odd_high = isa.shl_i16::<8>(isa.mul_high_i16(odd, scale));
    let high = select(isa, byte, isa.mul_high_i16(even, scale), odd_high);
    (low, high)
}

/// The bits of `yes` where `mask` is set, elsewhere those of `no`, which has none where it is set.
#[inline(always)]
fn select<S: Isa>(isa: S, mask: S::V, yes: S::V, no: S::V) -> S::V {
    isa.or(isa.and(yes, mask), no)
}

/// The low half of each word in both halves; the high half is zero.
#[inline(always)]
fn twice<S: Isa>(isa: S, scale: S::V) -> S::V {
    isa.or(scale, isa.shl::<16>(scale))
}

/// `sum of scale * (words . activations)` over all sub-blocks of `4 * WORDS` elements.
#[inline(always)]
fn dots<S: Isa, D: Dot, A: Source<S>, const WORDS: usize, const R: usize>(
    isa: S,
    tile: &Tile<S>,
    records: [A; R],
) -> [S::V; R] {
    let zero = isa.splat_i32(0);
    let mut integers = [zero; R];
    for s in 0..tile.words.len() / WORDS {
        let dots = dot::dots::<S, D, A, WORDS, R>(isa, tile, s, records);
        for r in 0..R {
            integers[r] = isa.add_i32(integers[r], isa.mul_i32(dots[r], tile.scales[s]));
        }
    }
    integers
}

/// `sum of factor * sum of activations` over all sub-blocks of `4 * WORDS` elements, 16 or 32, with
/// the tile's pairs of factors.
#[inline(always)]
fn weighted_sums<S: Isa, A: Source<S>, const WORDS: usize, const R: usize>(
    isa: S,
    tile: &Tile<S>,
    records: [A; R],
) -> [S::V; R] {
    let mut weighted = [isa.splat_i32(0); R];
    for (pair, factors) in tile.pairs[..32 / WORDS].iter().enumerate() {
        for r in 0..R {
            let of_activations = if WORDS == 4 {
                records[r].pair_of_16(isa, pair)
            } else {
                records[r].pair_of_32(isa, pair)
            };
            weighted[r] = isa.dot_i16(weighted[r], *factors, of_activations);
        }
    }
    weighted
}
