//! `ggml.iq3_xxs`: 256 elements on a lattice of 256 points, eight sub-blocks of 32 with a 4-bit scale each.
//!
//! Bytes: `d` F16 at 0; 64 indices at 2, each of a point for four elements; a little-endian word a sub-block from 66 on,
//! with signs and scale as in `ggml.iq2_xxs`. Value: `d / 4 * (2 * scale + 1) * signed level`, exact in f32.

use super::grid::{IQ3_XXS, eight_signs, odd, signed};
use super::sub_blocks::{self, SubBlocks};
use super::{BlockFormat, BlockIntegers, QuantisedFormat, f16_at, u32_at};
use crate::activation::Activation;

const INDICES_AT: usize = 2;
const WORDS_AT: usize = 66;

/// `ggml.iq3_xxs`, 98 bytes for 256 elements.
pub struct Iq3Xxs;

impl BlockFormat for Iq3Xxs {
    const NAME: &'static str = "ggml.iq3_xxs";
    const GGML_TYPE: u32 = 18;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 98;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Iq3Xxs {
    const ACTIVATION: Activation = Activation::Q8_256;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Iq3Xxs {
    const SUB_BLOCK: usize = 32;

    fn d(block: &[u8], _part: usize) -> f32 {
        f16_at(block, 0) / 4.0
    }

    fn scale_min(block: &[u8], s: usize) -> (i16, i16) {
        (odd(block[WORDS_AT + 4 * s + 3] >> 4), 0)
    }

    fn value(block: &[u8], s: usize, i: usize) -> i16 {
        let magnitude = IQ3_XXS.value(block[INDICES_AT + 8 * s + i / 4].into(), i % 4);
        let signs = eight_signs(u32_at(block, WORDS_AT + 4 * s) >> (7 * (i / 8)));
        signed(magnitude, signs, i % 8)
    }
}
