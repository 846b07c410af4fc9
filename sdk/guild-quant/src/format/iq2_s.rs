//! `ggml.iq2_s`: 256 elements on a lattice of 1,024 points, sixteen sub-blocks of 16 with a 4-bit scale each.
//!
//! Bytes: `d` F16 at 0; the low eight bits of 32 indices at 2, one for each eight elements; 32 bytes of signs at 34, one
//! for each eight elements; the upper two bits of the indices at 66, four to a byte from the bottom; eight bytes of
//! scales at 74, the low half for the even sub-block. Value: as `ggml.iq2_xxs`.

use super::grid::{IQ2_S, odd, signed};
use super::sub_blocks::{self, SubBlocks, nibble};
use super::{BlockFormat, BlockIntegers, QuantisedFormat, f16_at};
use crate::activation::Activation;

const INDICES_AT: usize = 2;
const SIGNS_AT: usize = 34;
const UPPER_BITS_AT: usize = 66;
const SCALES_AT: usize = 74;

/// `ggml.iq2_s`, 82 bytes for 256 elements.
pub struct Iq2S;

impl BlockFormat for Iq2S {
    const NAME: &'static str = "ggml.iq2_s";
    const GGML_TYPE: u32 = 22;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 82;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Iq2S {
    const ACTIVATION: Activation = Activation::Q8_256;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Iq2S {
    const SUB_BLOCK: usize = 16;

    fn d(block: &[u8], _part: usize) -> f32 {
        f16_at(block, 0) / 8.0
    }

    fn scale_min(block: &[u8], s: usize) -> (i16, i16) {
        (odd(nibble(&block[SCALES_AT..], s)), 0)
    }

    fn value(block: &[u8], s: usize, i: usize) -> i16 {
        let eight = 2 * s + i / 8;
        let upper = (block[UPPER_BITS_AT + eight / 4] >> (2 * (eight % 4))) & 3;
        let point = usize::from(block[INDICES_AT + eight]) | usize::from(upper) << 8;
        signed(IQ2_S.value(point, i % 8), block[SIGNS_AT + eight], i % 8)
    }
}
