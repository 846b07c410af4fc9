//! `ggml.q3_K`: 256 elements of 3 bits around 4, sixteen sub-blocks of 16 with a 6-bit scale each.
//!
//! Elements are multiplied as 0..=7; `4 * scale * sum of activations` is taken off the block's sum.

use super::dot::Unsigned;
use super::k_quants::{across, pair_scales, unpack_pairs};
use super::record::Rounding;
use super::{Block, Tile, k_quants};
use crate::isa::Isa;

/// The format.
pub(super) struct Q3K;

const PAIRS_AT: usize = 32;
/// The last 16 bytes of a block: two that are read elsewhere, twelve of packed scales, `d`.
const TAIL_AT: usize = 94;

impl Block for Q3K {
    type Parts = k_quants::Scaled<Unsigned<4>, 4>;

    const ROUNDING: Rounding = Rounding::Q8_256;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 110;

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
        unpack_pairs(isa, bytes, stride, offset + PAIRS_AT, tile);
        let third = isa.splat_i32(0x0404_0404);
        for part in 0..2 {
            // Bit `k` of byte `i` belongs to element `i` of eighth `k`; each eighth shifts its bits
            // to the bottom.
            let mut bits = isa.columns_ahead(bytes, stride, offset + 16 * part);
            for words in tile.words.as_chunks_mut::<8>().0 {
                for (c, bits) in bits.iter_mut().enumerate() {
                    let word = &mut words[4 * part + c];
                    *word = isa.or(*word, isa.and(isa.shl::<2>(*bits), third));
                    *bits = isa.shr::<1>(*bits);
                }
            }
        }
    }
}

#[inline(always)]
fn unpack_scales<S: Isa>(isa: S, bytes: &[u8], stride: usize, offset: usize, tile: &mut Tile<S>) {
    let [a, b, c, d] = isa.columns_ahead(bytes, stride, offset + TAIL_AT);
    tile.d[0] = isa.float_f16(isa.shr::<16>(d));
    // The packed words lie across those of the columns.
    let (first, second) = (across(isa, a, b), across(isa, b, c));
    let upper = across(isa, c, d);
    let (four, two) = (isa.splat_i32(0x0f0f_0f0f), isa.splat_i32(0x3030_3030));
    // Four scales a word, one a byte.
    let words = [
        isa.or(isa.and(first, four), isa.and(isa.shl::<4>(upper), two)),
        isa.or(isa.and(second, four), isa.and(isa.shl::<2>(upper), two)),
        isa.or(isa.and(isa.shr::<4>(first), four), isa.and(upper, two)),
        isa.or(
            isa.and(isa.shr::<4>(second), four),
            isa.and(isa.shr::<2>(upper), two),
        ),
    ];
    let (byte, middle) = (isa.splat_i32(0xff), isa.splat_i32(32));
    for (scales, word) in tile.scales.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        scales[0] = isa.sub_i32(isa.and(word, byte), middle);
        scales[1] = isa.sub_i32(isa.and(isa.shr::<8>(word), byte), middle);
        scales[2] = isa.sub_i32(isa.and(isa.shr::<16>(word), byte), middle);
        scales[3] = isa.sub_i32(isa.shr::<24>(word), middle);
    }
    pair_scales::<S, 16>(isa, tile);
}
