//! `ggml.iq2_xs`: 256 elements on a lattice of 512 points, sixteen sub-blocks of 16 with a 4-bit scale each.
//!
//! Bytes: `d` F16 at 0; 32 little-endian 16-bit words at 2, one for each eight elements, with the index of a point in
//! the low nine bits and seven signs above; eight bytes of scales at 66, the low half for the even sub-block. Value:
//! as `ggml.iq2_xxs`.

use super::grid::{IQ2_XS, eight_signs, odd, signed};
use super::sub_blocks::{self, SubBlocks, nibble};
use super::{BlockFormat, BlockIntegers, QuantisedFormat, f16_at, u16_at};
use crate::activation::Activation;

const WORDS_AT: usize = 2;
const SCALES_AT: usize = 66;

/// `ggml.iq2_xs`, 74 bytes for 256 elements.
pub struct Iq2Xs;

impl BlockFormat for Iq2Xs {
    const NAME: &'static str = "ggml.iq2_xs";
    const GGML_TYPE: u32 = 17;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 74;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Iq2Xs {
    const ACTIVATION: Activation = Activation::Q8_256;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Iq2Xs {
    const SUB_BLOCK: usize = 16;

    fn d(block: &[u8], _part: usize) -> f32 {
        f16_at(block, 0) / 8.0
    }

    fn scale_min(block: &[u8], s: usize) -> (i16, i16) {
        (odd(nibble(&block[SCALES_AT..], s)), 0)
    }

    fn value(block: &[u8], s: usize, i: usize) -> i16 {
        let word = u16_at(block, WORDS_AT + 2 * (2 * s + i / 8));
        let magnitude = IQ2_XS.value(usize::from(word & 0x1ff), i % 8);
        signed(magnitude, eight_signs((word >> 9).into()), i % 8)
    }
}
