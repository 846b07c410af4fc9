//! `ggml.q5_0`: 32 elements of 5 bits around 16, one F16 scale.

use super::dot::Unsigned;
use super::record::Rounding;
use super::{Block, Tile, small};
use crate::isa::Isa;

/// The format.
pub(super) struct Q5_0;

impl Block for Q5_0 {
    type Parts = small::Scaled<Unsigned<16>, 8>;

    const ROUNDING: Rounding = Rounding::Q8_32;
    const BLOCK_ELEMS: usize = 32;
    const BLOCK_BYTES: usize = 22;

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
            // The fifth bits lie across the block's first two words.
            let [first, second, ..] = isa.columns_ahead(bytes, stride, at);
            let fifth = isa.or(isa.shr::<16>(first), isa.shl::<16>(second));
            tile.d[block] = isa.float_f16(first);
            let nibbles = isa.columns_ahead(bytes, stride, at + 6);
            *words = small::unpack_five_bits(isa, fifth, nibbles);
        }
    }
}
