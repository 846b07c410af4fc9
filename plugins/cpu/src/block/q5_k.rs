//! `ggml.q5_K`: as `ggml.q4_K`, with a fifth bit for each element.

use super::k_quants::unpack_header;
use super::record::Rounding;
use super::{Block, Tile, k_quants};
use crate::isa::Isa;

/// The format.
pub(super) struct Q5K;

const FIFTH_BITS_AT: usize = 16;
const NIBBLES_AT: usize = 48;

impl Block for Q5K {
    type Parts = k_quants::WithMinimums<8>;

    const ROUNDING: Rounding = Rounding::Q8_256;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 176;

    #[inline(always)]
    fn unpack<S: Isa>(
        isa: S,
        bytes: &[u8],
        stride: usize,
        offset: usize,
        _blocks: usize,
        tile: &mut Tile<S>,
    ) {
        unpack_header(isa, bytes, stride, offset, tile);
        let low = isa.splat_i32(0x0f0f_0f0f);
        let fifth = isa.splat_i32(0x1010_1010);
        for half in 0..2 {
            // Bit `s` of byte `i` belongs to element `i` of sub-block `s`; each group of two
            // sub-blocks shifts its bits to the bottom.
            let mut bits = isa.columns(bytes, stride, offset + FIFTH_BITS_AT + 16 * half);
            for (group, words) in tile.words.as_chunks_mut::<16>().0.iter_mut().enumerate() {
                let at = offset + NIBBLES_AT + 32 * group + 16 * half;
                for (c, column) in isa.columns(bytes, stride, at).into_iter().enumerate() {
                    let even = isa.and(isa.shl::<4>(bits[c]), fifth);
                    let odd = isa.and(isa.shl::<3>(bits[c]), fifth);
                    words[4 * half + c] = isa.or(isa.and(column, low), even);
                    words[8 + 4 * half + c] = isa.or(isa.and(isa.shr::<4>(column), low), odd);
                    bits[c] = isa.shr::<2>(bits[c]);
                }
            }
        }
    }
}
