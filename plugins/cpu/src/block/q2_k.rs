//! `ggml.q2_K`: 256 elements of 2 bits, sixteen sub-blocks of 16 with a scale and a minimum each.

use super::k_quants::unpack_pairs;
use super::record::Rounding;
use super::{Block, Tile, k_quants};
use crate::isa::Isa;

/// The format.
pub(super) struct Q2K;

const PAIRS_AT: usize = 16;
/// The last 16 bytes of a block; the two scales are their upper end.
const TAIL_AT: usize = 68;

impl Block for Q2K {
    type Parts = k_quants::WithMinimums<4>;

    const ROUNDING: Rounding = Rounding::Q8_256;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 84;

    #[inline(always)]
    fn unpack<S: Isa>(
        isa: S,
        bytes: &[u8],
        stride: usize,
        offset: usize,
        _blocks: usize,
        tile: &mut Tile<S>,
    ) {
        let [.., scales] = isa.columns_ahead(bytes, stride, offset + TAIL_AT);
        tile.d[0] = isa.float_f16(scales);
        tile.minimums[0] = isa.float_f16(isa.shr::<16>(scales));
        let (four, even) = (isa.splat_i32(0x0f), isa.splat_i32(0x000f_000f));
        for (c, column) in isa
            .columns_ahead(bytes, stride, offset)
            .into_iter()
            .enumerate()
        {
            // Four bytes, a scale in each low half and a minimum in each high one.
            tile.scales[4 * c] = isa.and(column, four);
            tile.scales[4 * c + 1] = isa.and(isa.shr::<8>(column), four);
            tile.scales[4 * c + 2] = isa.and(isa.shr::<16>(column), four);
            tile.scales[4 * c + 3] = isa.and(isa.shr::<24>(column), four);
            tile.pairs[2 * c] = isa.and(isa.shr::<4>(column), even);
            tile.pairs[2 * c + 1] = isa.and(isa.shr::<12>(column), even);
        }
        unpack_pairs(isa, bytes, stride, offset + PAIRS_AT, tile);
    }
}
