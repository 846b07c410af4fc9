//! `ggml.q5_1`: 32 elements of 5 bits above a minimum, two F16 scales.

use super::record::Rounding;
use super::{Block, Tile, small};
use crate::isa::Isa;

/// The format.
pub(super) struct Q5_1;

impl Block for Q5_1 {
    type Parts = small::WithMinimums;

    const ROUNDING: Rounding = Rounding::Q8_32;
    const BLOCK_ELEMS: usize = 32;
    const BLOCK_BYTES: usize = 24;

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
            let [scales, fifth, ..] = isa.columns_ahead(bytes, stride, at);
            tile.d[block] = isa.float_f16(scales);
            tile.minimums[block] = isa.float_f16(isa.shr::<16>(scales));
            let nibbles = isa.columns_ahead(bytes, stride, at + 8);
            *words = small::unpack_five_bits(isa, fifth, nibbles);
        }
    }
}
