//! `ggml.iq3_s`: 256 elements on a lattice of 512 points, eight sub-blocks of 32 with a 4-bit scale
//! each.

use super::dot::Unsigned;
use super::grid::{SIGN_BIAS, fours, gather_fours, indices, signed, unpack_odd_scales};
use super::record::Rounding;
use super::{Block, Tile, k_quants, small};
use crate::isa::Isa;
use guild_quant::format::grid::IQ3_S;

/// The format.
pub(super) struct Iq3S;

const INDICES_AT: usize = 2;
const NINTH_BITS_AT: usize = 66;
const SIGNS_AT: usize = 74;
/// The last 16 bytes of a block; the scales are the last four.
const TAIL_AT: usize = 94;

static POINTS: [u32; 512] = fours(&IQ3_S);

impl Block for Iq3S {
    type Parts = k_quants::Scaled<Unsigned<SIGN_BIAS>, 8>;

    const ROUNDING: Rounding = Rounding::Q8_256;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 110;

    #[inline(always)]
    fn unpack<S: Isa>(
        isa: S,
        bytes: &[u8],
        stride: usize,
        offset: usize,
        _blocks: usize,
        tile: &mut Tile<S>,
    ) {
        tile.d[0] = small::unpack_scale(isa, bytes, stride, offset);
        let [.., scales] = isa.columns_ahead(bytes, stride, offset + TAIL_AT);
        unpack_odd_scales::<S, 8>(isa, &[scales], tile);
        let [ninth_0, ninth_1, ..] = isa.columns_ahead(bytes, stride, offset + NINTH_BITS_AT);
        let halves = tile.words.as_chunks_mut::<32>().0.iter_mut();
        for (half, (words, mut ninth)) in halves.zip([ninth_0, ninth_1]).enumerate() {
            let signs = isa.columns_ahead(bytes, stride, offset + SIGNS_AT + 16 * half);
            for (pair, words) in words.as_chunks_mut::<16>().0.iter_mut().enumerate() {
                let at = offset + INDICES_AT + 32 * half + 16 * pair;
                let lows = isa.columns_ahead(bytes, stride, at);
                for (k, words) in words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                    let indices = [
                        indices::<S, 1, 1>(isa, lows[2 * k], &mut ninth),
                        indices::<S, 1, 1>(isa, lows[2 * k + 1], &mut ninth),
                    ];
                    let magnitudes = gather_fours(isa, &POINTS, indices);
                    *words = signed(isa, magnitudes, signs[2 * pair + k]);
                }
            }
        }
    }
}
