//! `ggml.iq2_xxs`: 256 elements on a lattice of 256 points, eight sub-blocks of 32 with a 4-bit
//! scale each.

use super::dot::Unsigned;
use super::grid::{Eights, SIGN_BIAS, bytes_of, eights, gather_eights, signed, signs_and_scale};
use super::k_quants::pair_scales;
use super::record::Rounding;
use super::{Block, Tile, k_quants, small};
use crate::isa::Isa;
use guild_quant::format::grid::IQ2_XXS;

/// The format.
pub(super) struct Iq2Xxs;

const SUB_BLOCKS_AT: usize = 2;

static POINTS: Eights<256> = eights(&IQ2_XXS);

impl Block for Iq2Xxs {
    type Parts = k_quants::Scaled<Unsigned<SIGN_BIAS>, 8>;

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
        let d = small::unpack_scale(isa, bytes, stride, offset);
        tile.d[0] = isa.mul(d, isa.splat(1.0 / 8.0));
        for (pair, words) in tile.words.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            let columns = isa.columns_ahead(bytes, stride, offset + SUB_BLOCKS_AT + 16 * pair);
            for (half, words) in words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                let (signs, scale) = signs_and_scale(isa, columns[2 * half + 1]);
                tile.scales[2 * pair + half] = scale;
                let indices = bytes_of(isa, columns[2 * half]);
                *words = signed(isa, gather_eights(isa, &POINTS, indices), signs);
            }
        }
        pair_scales::<S, 8>(isa, tile);
    }
}
