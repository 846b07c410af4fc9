//! `ggml.iq2_s`: 256 elements on a lattice of 1,024 points, sixteen sub-blocks of 16 with a 4-bit
//! scale each.

use super::dot::Unsigned;
use super::grid::{Eights, SIGN_BIAS, eights, gather_eights, indices, signed, unpack_odd_scales};
use super::record::Rounding;
use super::{Block, Tile, k_quants, small};
use crate::isa::Isa;
use guild_quant::format::grid::IQ2_S;

/// The format.
pub(super) struct Iq2S;

const INDICES_AT: usize = 2;
const SIGNS_AT: usize = 34;
/// The last 16 bytes of a block: eight of upper bits of the indices, eight of scales.
const TAIL_AT: usize = 66;

static POINTS: Eights<1024> = eights(&IQ2_S);

impl Block for Iq2S {
    type Parts = k_quants::Scaled<Unsigned<SIGN_BIAS>, 4>;

    const ROUNDING: Rounding = Rounding::Q8_256;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 82;

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
        let [upper_0, upper_1, scales_0, scales_1] =
            isa.columns_ahead(bytes, stride, offset + TAIL_AT);
        unpack_odd_scales::<S, 16>(isa, &[scales_0, scales_1], tile);
        let halves = tile.words.as_chunks_mut::<32>().0.iter_mut();
        for (half, (words, mut upper)) in halves.zip([upper_0, upper_1]).enumerate() {
            let lows = isa.columns_ahead(bytes, stride, offset + INDICES_AT + 16 * half);
            let signs = isa.columns_ahead(bytes, stride, offset + SIGNS_AT + 16 * half);
            for (c, words) in words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                let indices = indices::<S, 2, 2>(isa, lows[c], &mut upper);
                *words = signed(isa, gather_eights(isa, &POINTS, indices), signs[c]);
            }
        }
    }
}
