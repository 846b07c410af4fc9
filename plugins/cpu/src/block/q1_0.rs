//! `ggml.q1_0`: 128 elements of -1 or 1, one F16 scale.
//!
//! A block is four parts of 32 with the same scale. Elements are multiplied as 0 and 2; the sum of
//! activations is taken off each part's sum.

use super::dot::Unsigned;
use super::record::Rounding;
use super::{Block, Tile, small};
use crate::isa::Isa;

/// The format.
pub(super) struct Q1_0;

const BITS_AT: usize = 2;
/// Parts of a block.
const PARTS: usize = 4;

impl Block for Q1_0 {
    type Parts = small::Scaled<Unsigned<1>, 8>;

    const ROUNDING: Rounding = Rounding::Q8_32;
    const BLOCK_ELEMS: usize = 128;
    const PART_ELEMS: usize = 32;
    const BLOCK_BYTES: usize = 18;

    #[inline(always)]
    fn unpack<S: Isa>(
        isa: S,
        bytes: &[u8],
        stride: usize,
        offset: usize,
        blocks: usize,
        tile: &mut Tile<S>,
    ) {
        let words = tile.words.as_chunks_mut::<32>().0;
        for (block, words) in words.iter_mut().enumerate().take(blocks) {
            let at = offset + Self::BLOCK_BYTES * block;
            let d = small::unpack_scale(isa, bytes, stride, at);
            let columns = isa.columns_ahead(bytes, stride, at + BITS_AT);
            for (part, words) in words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                tile.d[PARTS * block + part] = d;
                let mut bits = columns[part];
                for word in words {
                    *word = small::spread_bits::<S, 1>(isa, bits);
                    bits = isa.shr::<4>(bits);
                }
            }
        }
    }
}
