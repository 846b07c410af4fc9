//! `ggml.iq2_xxs`: 256 elements on a lattice of 256 points, eight sub-blocks of 32 with a 4-bit scale each.
//!
//! Bytes: `d` F16 at 0; eight bytes a sub-block from 2 on. The first four are indices, each of a point for eight
//! elements; the others are a little-endian word with the scale in its top four bits and four fields of seven signs
//! from bit 0 on, one for each eight elements. Value: `d / 8 * (2 * scale + 1) * signed level`, exact in f32.

use super::grid::{IQ2_XXS, eight_signs, odd, signed};
use super::sub_blocks::{self, SubBlocks};
use super::{BlockFormat, BlockIntegers, QuantisedFormat, f16_at, u32_at};
use crate::activation::Activation;

const SUB_BLOCKS_AT: usize = 2;

/// `ggml.iq2_xxs`, 66 bytes for 256 elements.
pub struct Iq2Xxs;

impl BlockFormat for Iq2Xxs {
    const NAME: &'static str = "ggml.iq2_xxs";
    const GGML_TYPE: u32 = 16;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 66;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Iq2Xxs {
    const ACTIVATION: Activation = Activation::Q8_256;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Iq2Xxs {
    const SUB_BLOCK: usize = 32;

    fn d(block: &[u8], _part: usize) -> f32 {
        f16_at(block, 0) / 8.0
    }

    fn scale_min(block: &[u8], s: usize) -> (i16, i16) {
        (odd(block[SUB_BLOCKS_AT + 8 * s + 7] >> 4), 0)
    }

    fn value(block: &[u8], s: usize, i: usize) -> i16 {
        let at = SUB_BLOCKS_AT + 8 * s;
        let magnitude = IQ2_XXS.value(block[at + i / 8].into(), i % 8);
        let signs = eight_signs(u32_at(block, at + 4) >> (7 * (i / 8)));
        signed(magnitude, signs, i % 8)
    }
}
