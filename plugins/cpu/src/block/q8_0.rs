//! `ggml.q8_0`: 32 signed bytes, one F16 scale.

use super::dot::Signed;
use super::record::Rounding;
use super::{Block, Tile, small};
use crate::isa::Isa;

/// The format.
pub(super) struct Q8_0;

impl Block for Q8_0 {
    type Parts = small::Scaled<Signed, 8>;

    const ROUNDING: Rounding = Rounding::Q8_32;
    const BLOCK_ELEMS: usize = 32;
    const BLOCK_BYTES: usize = 34;

    #[inline(always)]
    fn unpack<S: Isa>(
        isa: S,
        bytes: &[u8],
        stride: usize,
        offset: usize,
        blocks: usize,
        tile: &mut Tile<S>,
    ) {
        for block in 0..blocks.min(8) {
            let at = offset + Self::BLOCK_BYTES * block;
            tile.d[block] = small::unpack_scale(isa, bytes, stride, at);
            for half in 0..2 {
                let columns = isa.columns_ahead(bytes, stride, at + 2 + 16 * half);
                for (c, column) in columns.into_iter().enumerate() {
                    tile.words[8 * block + 4 * half + c] = isa.signed_weights(column);
                }
            }
        }
    }
}
