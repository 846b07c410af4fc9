//! `ggml.iq2_xs`: 256 elements on a lattice of 512 points, sixteen sub-blocks of 16 with a 4-bit
//! scale each.

use super::dot::Unsigned;
use super::grid::{
    Eights, SIGN_BIAS, eighth_signs, eights, gather_eights, signed, unpack_odd_scales,
};
use super::record::Rounding;
use super::{Block, Tile, k_quants, small};
use crate::isa::Isa;
use guild_quant::format::grid::IQ2_XS;

/// The format.
pub(super) struct Iq2Xs;

const WORDS_AT: usize = 2;
/// The last 16 bytes of a block; the scales are their upper half.
const TAIL_AT: usize = 58;

static POINTS: Eights<512> = eights(&IQ2_XS);

impl Block for Iq2Xs {
    type Parts = k_quants::Scaled<Unsigned<SIGN_BIAS>, 4>;

    const ROUNDING: Rounding = Rounding::Q8_256;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 74;

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
        let [.., first, second] = isa.columns_ahead(bytes, stride, offset + TAIL_AT);
        unpack_odd_scales::<S, 16>(isa, &[first, second], tile);
        for (group, words) in tile.words.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            let columns = isa.columns_ahead(bytes, stride, offset + WORDS_AT + 16 * group);
            for (half, words) in words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                let (low, high) = (columns[2 * half], columns[2 * half + 1]);
                // Nine bits of an index, seven of signs, twice in each column.
                let indices = [low, isa.shr::<16>(low), high, isa.shr::<16>(high)];
                let signs = eighth_signs(isa, sevens(isa, low, high));
                *words = signed(isa, gather_eights(isa, &POINTS, indices), signs);
            }
        }
    }
}

/// The upper seven bits of four 16-bit words, a byte each.
#[inline(always)]
fn sevens<S: Isa>(isa: S, low: S::V, high: S::V) -> S::V {
    let low = isa.or(
        isa.and(isa.shr::<9>(low), isa.splat_i32(0x7f)),
        isa.and(isa.shr::<17>(low), isa.splat_i32(0x7f00)),
    );
    let high = isa.or(
        isa.and(isa.shl::<7>(high), isa.splat_i32(0x7f_0000)),
        isa.and(isa.shr::<1>(high), isa.splat_i32(0x7f00_0000)),
    );
    isa.or(low, high)
}
