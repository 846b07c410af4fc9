//! `ggml.nvfp4`: 64 elements of E2M1 in four parts of 16, each with a scale of eight bits.

use super::dot::Unsigned;
use super::levels::E2M1_BIAS;
use super::record::Rounding;
use super::{Block, Tile, levels, small};
use crate::isa::Isa;
use guild_quant::format::fp4::UE4M3_HALVES;

/// The format.
pub(super) struct Nvfp4;

const NIBBLES_AT: usize = 4;
/// Parts of a block.
const PARTS: usize = 4;

impl Block for Nvfp4 {
    type Parts = small::Scaled<Unsigned<E2M1_BIAS>, 4>;

    const ROUNDING: Rounding = Rounding::Q8_32;
    const BLOCK_ELEMS: usize = 64;
    const PART_ELEMS: usize = 16;
    const BLOCK_BYTES: usize = 36;

    #[inline(always)]
    fn unpack<S: Isa>(
        isa: S,
        bytes: &[u8],
        stride: usize,
        offset: usize,
        blocks: usize,
        tile: &mut Tile<S>,
    ) {
        let (levels, low) = (levels::e2m1(isa), isa.splat_i32(0x0f0f_0f0f));
        let words = tile.words.as_chunks_mut::<16>().0;
        for (block, words) in words.iter_mut().enumerate().take(blocks) {
            let at = offset + Self::BLOCK_BYTES * block;
            for part in 0..PARTS {
                let scale = small::unpack_byte_scale(isa, bytes, stride, at + part, &UE4M3_HALVES);
                tile.d[PARTS * block + part] = scale;
            }
            for (half, words) in words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                // Eight bytes a part: low halves, then high ones.
                let [a, b, c, d] = isa.columns_ahead(bytes, stride, at + NIBBLES_AT + 16 * half);
                let mut nibbles = [
                    a,
                    b,
                    isa.shr::<4>(a),
                    isa.shr::<4>(b),
                    c,
                    d,
                    isa.shr::<4>(c),
                    isa.shr::<4>(d),
                ];
                for word in &mut nibbles {
                    *word = isa.and(*word, low);
                }
                *words = levels::look_up(isa, levels, nibbles);
            }
        }
    }
}
