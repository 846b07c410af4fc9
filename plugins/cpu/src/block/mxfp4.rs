//! `ggml.mxfp4`: 32 elements of E2M1, one scale that is a power of two.

use super::dot::Unsigned;
use super::levels::E2M1_BIAS;
use super::record::Rounding;
use super::{Block, Tile, levels, small};
use crate::isa::Isa;
use guild_quant::format::fp4::E8M0_HALVES;

/// The format.
pub(super) struct Mxfp4;

impl Block for Mxfp4 {
    type Parts = small::Scaled<Unsigned<E2M1_BIAS>, 8>;

    const ROUNDING: Rounding = Rounding::Q8_32;
    const BLOCK_ELEMS: usize = 32;
    const BLOCK_BYTES: usize = 17;

    #[inline(always)]
    fn unpack<S: Isa>(
        isa: S,
        bytes: &[u8],
        stride: usize,
        offset: usize,
        blocks: usize,
        tile: &mut Tile<S>,
    ) {
        let levels = levels::e2m1(isa);
        let words = tile.words.as_chunks_mut::<8>().0;
        for (block, words) in words.iter_mut().enumerate().take(blocks) {
            let at = offset + Self::BLOCK_BYTES * block;
            tile.d[block] = small::unpack_byte_scale(isa, bytes, stride, at, &E8M0_HALVES);
            let nibbles = small::unpack_nibbles(isa, isa.columns_ahead(bytes, stride, at + 1));
            *words = levels::look_up(isa, levels, nibbles);
        }
    }
}
