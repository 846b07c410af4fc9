//! `ggml.q4_0`: 32 elements of 4 bits around 8, one F16 scale.

use super::dot::Unsigned;
use super::record::Rounding;
use super::{Block, Tile, small};
use crate::isa::Isa;

/// The format.
pub(super) struct Q4_0;

impl Block for Q4_0 {
    type Parts = small::Scaled<Unsigned<8>, 8>;

    const ROUNDING: Rounding = Rounding::Q8_32;
    const BLOCK_ELEMS: usize = 32;
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
        let words = tile.words.as_chunks_mut::<8>().0;
        for (block, words) in words.iter_mut().enumerate().take(blocks) {
            let at = offset + Self::BLOCK_BYTES * block;
            tile.d[block] = small::unpack_scale(isa, bytes, stride, at);
            *words = small::unpack_nibbles(isa, isa.columns_ahead(bytes, stride, at + 2));
        }
    }
}
