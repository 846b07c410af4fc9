//! `ggml.q4_K`: 256 elements of 4 bits, eight sub-blocks of 32 with a scale and a minimum each.

use super::k_quants::unpack_header;
use super::record::Rounding;
use super::{Block, Tile, k_quants};
use crate::isa::Isa;

/// The format.
pub(super) struct Q4K;

const NIBBLES_AT: usize = 16;

impl Block for Q4K {
    type Parts = k_quants::WithMinimums<8>;

    const ROUNDING: Rounding = Rounding::Q8_256;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 144;

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
        for (group, words) in tile.words.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            // 32 bytes: low halves are one sub-block, high halves the next.
            for half in 0..2 {
                let at = offset + NIBBLES_AT + 32 * group + 16 * half;
                for (c, column) in isa.columns(bytes, stride, at).into_iter().enumerate() {
                    words[4 * half + c] = isa.and(column, low);
                    words[8 + 4 * half + c] = isa.and(isa.shr::<4>(column), low);
                }
            }
        }
    }
}
