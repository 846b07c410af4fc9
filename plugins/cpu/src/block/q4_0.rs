//! `ggml.q4_0`: 32 elements of 4 bits around 8, one F16 scale.

use super::record::{Record, Rounding};
use super::{Block, Tile, small};
use crate::isa::Isa;

/// The format.
pub(super) struct Q4_0;

impl Block for Q4_0 {
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
        let low = isa.splat_i32(0x0f0f_0f0f);
        for block in 0..blocks.min(8) {
            let at = offset + Self::BLOCK_BYTES * block;
            tile.d[block] = small::unpack_scale(isa, bytes, stride, at);
            for (c, column) in isa.columns(bytes, stride, at + 2).into_iter().enumerate() {
                tile.words[8 * block + c] = isa.and(column, low);
                tile.words[8 * block + 4 + c] = isa.and(isa.shr::<4>(column), low);
            }
        }
    }

    #[inline(always)]
    fn multiply<S: Isa, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        blocks: usize,
        records: [&Record; R],
        sums: &mut [S::F; R],
    ) {
        small::multiply(isa, tile, blocks, records, sums, 8, |sum, w, a| {
            isa.dot_unsigned(sum, w, a)
        });
    }
}
