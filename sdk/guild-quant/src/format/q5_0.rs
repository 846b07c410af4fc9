//! `ggml.q5_0`: 32 elements of 5 bits around 16, one F16 scale.
//!
//! Bytes: `d` F16 at 0; 4 bytes of fifth bits at 2; 16 bytes of nibbles at 6, laid out as in `ggml.q4_0`. Bit `i` of the
//! fifth bits, a little-endian word, belongs to element `i`. Value: `(nibble + 16 * bit - 16) * d`.

use super::sub_blocks::{self, SubBlocks, value_of_5_bits};
use super::{BlockFormat, BlockIntegers, QuantisedFormat};
use crate::activation::Activation;

/// `ggml.q5_0`, 22 bytes for 32 elements.
pub struct Q5_0;

impl BlockFormat for Q5_0 {
    const NAME: &'static str = "ggml.q5_0";
    const GGML_TYPE: u32 = 6;
    const BLOCK_ELEMS: usize = 32;
    const BLOCK_BYTES: usize = 22;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Q5_0 {
    const ACTIVATION: Activation = Activation::Q8_32;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Q5_0 {
    const SUB_BLOCK: usize = Self::BLOCK_ELEMS;
    const D_AT: usize = 0;

    fn scale_min(_block: &[u8], _s: usize) -> (i16, i16) {
        (1, 0)
    }

    fn value(block: &[u8], _s: usize, i: usize) -> i16 {
        i16::from(value_of_5_bits(&block[2..], i)) - 16
    }
}
