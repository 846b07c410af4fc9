//! `ggml.iq3_xxs`: 256 elements on a lattice of 256 points, eight sub-blocks of 32 with a 4-bit
//! scale each.

use super::dot::Unsigned;
use super::grid::{SIGN_BIAS, bytes_of, fours, gather_fours, signed, signs_and_scale};
use super::k_quants::pair_scales;
use super::record::Rounding;
use super::{Block, Tile, k_quants, small};
use crate::isa::Isa;
use guild_quant::format::grid::IQ3_XXS;

/// The format.
pub(super) struct Iq3Xxs;

const INDICES_AT: usize = 2;
const WORDS_AT: usize = 66;

static POINTS: [u32; 256] = fours(&IQ3_XXS);

impl Block for Iq3Xxs {
    type Parts = k_quants::Scaled<Unsigned<SIGN_BIAS>, 8>;

    const ROUNDING: Rounding = Rounding::Q8_256;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 98;

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
        tile.d[0] = isa.mul(d, isa.splat(1.0 / 4.0));
        for (half, words) in tile.words.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            let signs = isa.columns_ahead(bytes, stride, offset + WORDS_AT + 16 * half);
            for (pair, words) in words.as_chunks_mut::<16>().0.iter_mut().enumerate() {
                let at = offset + INDICES_AT + 32 * half + 16 * pair;
                let lows = isa.columns_ahead(bytes, stride, at);
                for (k, words) in words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                    let (signs, scale) = signs_and_scale(isa, signs[2 * pair + k]);
                    tile.scales[4 * half + 2 * pair + k] = scale;
                    let indices = [bytes_of(isa, lows[2 * k]), bytes_of(isa, lows[2 * k + 1])];
                    *words = signed(isa, gather_fours(isa, &POINTS, indices), signs);
                }
            }
        }
        pair_scales::<S, 8>(isa, tile);
    }
}
