//! `ggml.iq1_s`: 256 elements on a lattice of 2,048 points, eight sub-blocks of 32 with a 3-bit
//! scale each.

use super::dot::Unsigned;
use super::grid::{IQ1_BIAS, indices, moved, odd};
use super::k_quants::pair_scales;
use super::record::Rounding;
use super::{Block, Tile, k_quants, small};
use crate::isa::Isa;

/// The format.
pub(super) struct Iq1S;

const INDICES_AT: usize = 2;
const WORDS_AT: usize = 34;

impl Block for Iq1S {
    type Parts = k_quants::Scaled<Unsigned<IQ1_BIAS>, 8>;

    const ROUNDING: Rounding = Rounding::Q8_256;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 50;

    #[inline(always)]
    fn unpack<S: Isa>(
        isa: S,
        bytes: &[u8],
        stride: usize,
        offset: usize,
        _blocks: usize,
        tile: &mut Tile<S>,
    ) {
        let d = small::unpack_scale(isa, bytes, stride, offset);
        tile.d[0] = isa.mul(d, isa.splat(1.0 / 8.0));
        let pairs = isa.columns_ahead(bytes, stride, offset + WORDS_AT);
        for (half, words) in tile.words.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            let lows = isa.columns_ahead(bytes, stride, offset + INDICES_AT + 16 * half);
            for (c, words) in words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                // The low half of a column is the word of an even sub-block.
                let pair = pairs[2 * half + c / 2];
                let word = if c.is_multiple_of(2) {
                    pair
                } else {
                    isa.shr::<16>(pair)
                };
                let scale = isa.and(isa.shr::<12>(word), isa.splat_i32(7));
                tile.scales[4 * half + c] = odd(isa, scale);
                let mut upper = word;
                let indices = indices::<S, 3, 3>(isa, lows[c], &mut upper);
                *words = moved(isa, indices, [isa.shl::<16>(word); 4]);
            }
        }
        pair_scales::<S, 8>(isa, tile);
    }
}
