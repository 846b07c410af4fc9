//! `ggml.q6_K`: 256 elements of 6 bits around 32, sixteen sub-blocks of 16 with a signed scale each.
//!
//! Elements are multiplied as 0..=63; `32 * scale * sum of activations` is taken off the block's sum.

use super::dot::Unsigned;
use super::gemv::{InOrder, StepDots, Steps, sixteen_dots};
use super::record::Rounding;
use super::{Block, Tile, k_quants};
use crate::isa::Isa;

/// The format.
pub(super) struct Q6K;

const PAIRS_AT: usize = 128;
const SCALES_AT: usize = 192;
/// The last 16 bytes of a block; `d` is their upper end.
const TAIL_AT: usize = 194;

impl Block for Q6K {
    type Parts = k_quants::Scaled<Unsigned<32>, 4>;

    const ROUNDING: Rounding = Rounding::Q8_256;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 210;

    #[inline(always)]
    fn unpack<S: Isa>(
        isa: S,
        bytes: &[u8],
        stride: usize,
        offset: usize,
        _blocks: usize,
        tile: &mut Tile<S>,
    ) {
        unpack_scales(isa, bytes, stride, offset, tile);
        let low = isa.splat_i32(0x0f0f_0f0f);
        let upper = isa.splat_i32(0x3030_3030);
        // Two halves of 128 elements; a half is four quarters of 32.
        for (half, words) in tile.words.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            for part in 0..2 {
                let at = |start: usize, width: usize| offset + start + width * half + 16 * part;
                let first = isa.columns_ahead(bytes, stride, at(0, 64));
                let second = isa.columns_ahead(bytes, stride, at(32, 64));
                let pairs = isa.columns_ahead(bytes, stride, at(PAIRS_AT, 32));
                for c in 0..4 {
                    let (first, second, pair) = (first[c], second[c], pairs[c]);
                    let join = |nibble, bits| isa.or(isa.and(nibble, low), isa.and(bits, upper));
                    let t = 4 * part + c;
                    words[t] = join(first, isa.shl::<4>(pair));
                    words[8 + t] = join(second, isa.shl::<2>(pair));
                    words[16 + t] = join(isa.shr::<4>(first), pair);
                    words[24 + t] = join(isa.shr::<4>(second), isa.shr::<2>(pair));
                }
            }
        }
    }

    const STEP_BY_STEP: bool = true;
    const ORDER: [u8; 8] = HALVES_ORDER;

    #[inline(always)]
    fn dots_in_order<S: Isa>(
        isa: S,
        steps: &Steps<'_>,
        records: &InOrder<S>,
        tile: &mut Tile<S>,
    ) -> S::V {
        let dots = sixteen_dots::<S, Q6K>(isa, steps, records);
        unpack_scales(isa, steps.bytes, steps.stride, 0, tile);
        let record = [&records.side_by_side];
        let [integers] =
            k_quants::without_bias::<S, Unsigned<32>, _, 4, 1>(isa, tile, record, [dots]);
        integers
    }
}

/// Order of the sub-blocks of 32 for vectors that hold a quarter of each half.
const HALVES_ORDER: [u8; 8] = [0, 4, 1, 5, 2, 6, 3, 7];

/// Which scale each 16 bytes of a vector have, as the upper bytes of i16.
const PLACES: [[u8; 64]; 4] = [
    k_quants::places([0, 1, 8, 9], 1),
    k_quants::places([2, 3, 10, 11], 1),
    k_quants::places([4, 5, 12, 13], 1),
    k_quants::places([6, 7, 14, 15], 1),
];

impl StepDots for Q6K {
    #[inline(always)]
    fn dots<S: Isa>(isa: S, block: &[u8], words: &[S::V; 4]) -> S::V {
        let [first, second, third, fourth] = block[..PAIRS_AT].as_chunks::<32>().0 else {
            unreachable!("128 bytes")
        };
        let pairs = isa.bytes(block[PAIRS_AT..].first_chunk().expect("64 bytes"));
        let scales = isa.quarters(block[SCALES_AT..].first_chunk().expect("16 bytes"));
        let (even, odd) = (isa.halves(first, third), isa.halves(second, fourth));
        let low = isa.splat_i32(0x0f0f_0f0f);
        let upper = isa.splat_i32(0x3030_3030);
        let nibbles = [even, odd, isa.shr::<4>(even), isa.shr::<4>(odd)];
        let bits = [
            isa.shl::<4>(pairs),
            isa.shl::<2>(pairs),
            pairs,
            isa.shr::<2>(pairs),
        ];
        let mut dots = isa.splat_i32(0);
        for (i, places) in PLACES.iter().enumerate() {
            let values = isa.or(isa.and(nibbles[i], low), isa.and(bits[i], upper));
            let scale = isa.sar_i16::<8>(isa.look_up(scales, isa.bytes(places)));
            dots = isa.dot_i16(dots, isa.dot_pairs(values, words[i]), scale);
        }
        dots
    }
}

#[inline(always)]
fn unpack_scales<S: Isa>(isa: S, bytes: &[u8], stride: usize, offset: usize, tile: &mut Tile<S>) {
    let [.., tail] = isa.columns_ahead(bytes, stride, offset + TAIL_AT);
    tile.d[0] = isa.float_f16(isa.shr::<16>(tail));
    let columns = isa.columns_ahead(bytes, stride, offset + SCALES_AT);
    for (c, column) in columns.into_iter().enumerate() {
        tile.scales[4 * c] = isa.sar::<24>(isa.shl::<24>(column));
        tile.scales[4 * c + 1] = isa.sar::<24>(isa.shl::<16>(column));
        tile.scales[4 * c + 2] = isa.sar::<24>(isa.shl::<8>(column));
        tile.scales[4 * c + 3] = isa.sar::<24>(column);
        tile.pairs[2 * c] = isa.sar_i16::<8>(isa.shl_i16::<8>(column));
        tile.pairs[2 * c + 1] = isa.sar_i16::<8>(column);
    }
}
