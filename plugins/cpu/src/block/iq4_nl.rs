//! `ggml.iq4_nl`: 32 elements of 4 bits that name one of sixteen levels, one F16 scale.

use super::dot::Signed;
use super::record::Rounding;
use super::{Block, Tile, levels, small};
use crate::isa::Isa;

/// The format.
pub(super) struct Iq4Nl;

impl Block for Iq4Nl {
    type Parts = small::Scaled<Signed, 8>;

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
        let levels = levels::iq4(isa);
        let words = tile.words.as_chunks_mut::<8>().0;
        for (block, words) in words.iter_mut().enumerate().take(blocks) {
            let at = offset + Self::BLOCK_BYTES * block;
            tile.d[block] = small::unpack_scale(isa, bytes, stride, at);
            let nibbles = small::unpack_nibbles(isa, isa.columns_ahead(bytes, stride, at + 2));
            *words = levels::look_up(isa, levels, nibbles);
        }
    }
}
