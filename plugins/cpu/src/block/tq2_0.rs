//! `ggml.tq2_0`: 256 elements of 2 bits around 1, one F16 scale.
//!
//! Elements are multiplied as 0..=3; the sum of activations is taken off the block's sum.

use super::dot::Unsigned;
use super::k_quants::{unit_scales, unpack_pairs};
use super::record::Rounding;
use super::{Block, Tile, k_quants, small};
use crate::isa::Isa;

/// The format.
pub(super) struct Tq2_0;

const D_AT: usize = 64;

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
        tile.d[0] = small::unpack_scale(isa, bytes, stride, offset + D_AT);
        unit_scales(isa, tile);
        unpack_pairs(isa, bytes, stride, offset, tile);
    }
}
