//! `ggml.tq2_0`: 256 elements of 2 bits around 1, one F16 scale.
//!
//! Elements are multiplied as 0..=3; the sum of activations is taken off the block's sum.

use super::dot::Unsigned;
use super::k_quants::{unit_scales, unpack_pairs};
use super::record::Rounding;
use super::{Block, Tile, k_quants};
use crate::isa::Isa;

/// The format.
pub(super) struct Tq2_0;

/// The last 16 bytes of a block; `d` is their upper end.
const TAIL_AT: usize = 50;

impl Block for Tq2_0 {
    type Parts = k_quants::Scaled<Unsigned<1>, 8>;

    const ROUNDING: Rounding = Rounding::Q8_256;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 66;

    #[inline(always)]
    fn unpack<S: Isa>(
        isa: S,
        bytes: &[u8],
        stride: usize,
        offset: usize,
        _blocks: usize,
        tile: &mut Tile<S>,
    ) {
        let [.., tail] = isa.columns_ahead(bytes, stride, offset + TAIL_AT);
        tile.d[0] = isa.float_f16(isa.shr::<16>(tail));
        unit_scales(isa, tile);
        unpack_pairs(isa, bytes, stride, offset, tile);
    }
}
