//! `ggml.iq4_xs`: 256 elements of 4 bits that name one of sixteen levels, eight sub-blocks of 32 with a
//! 6-bit scale each.

use super::dot::Signed;
use super::k_quants::pair_scales;
use super::record::Rounding;
use super::small::unpack_nibbles;
use super::{Block, Tile, k_quants, levels};
use crate::isa::Isa;

/// The format.
pub(super) struct Iq4Xs;

const NIBBLES_AT: usize = 8;

impl Block for Iq4Xs {
    type Parts = k_quants::Scaled<Signed, 8>;

    const ROUNDING: Rounding = Rounding::Q8_256;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 136;

    #[inline(always)]
    fn unpack<S: Isa>(
        isa: S,
        bytes: &[u8],
        stride: usize,
        offset: usize,
        _blocks: usize,
        tile: &mut Tile<S>,
    ) {
        unpack_scales(isa, bytes, stride, offset, tile);
        let levels = levels::iq4(isa);
        for (s, words) in tile.words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let columns = isa.columns_ahead(bytes, stride, offset + NIBBLES_AT + 16 * s);
            *words = levels::look_up(isa, levels, unpack_nibbles(isa, columns));
        }
    }
}

/// The upper two bits of the scales stand in the first word's high half, the low four in the second.
#[inline(always)]
fn unpack_scales<S: Isa>(isa: S, bytes: &[u8], stride: usize, offset: usize, tile: &mut Tile<S>) {
    let [first, mut low, ..] = isa.columns_ahead(bytes, stride, offset);
    tile.d[0] = isa.float_f16(first);
    let mut upper = isa.shr::<12>(first);
    let (four, two) = (isa.splat_i32(0x0f), isa.splat_i32(0x30));
    for scale in &mut tile.scales[..8] {
        let bits = isa.or(isa.and(low, four), isa.and(upper, two));
        *scale = isa.sub_i32(bits, isa.splat_i32(32));
        (low, upper) = (isa.shr::<4>(low), isa.shr::<2>(upper));
    }
    pair_scales::<S, 8>(isa, tile);
}
