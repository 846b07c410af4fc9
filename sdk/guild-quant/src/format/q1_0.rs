//! `ggml.q1_0`: 128 elements of -1 or 1, one F16 scale.
//!
//! Bytes: `d` F16 at 0; 16 bytes of bits at 2, that of element `i` at bit `i % 8` of byte `i / 8`. Value: `d` where the
//! bit is set, else `-d`. No activation format has blocks of 128, so the dot takes the block in four parts of 32.

use super::sub_blocks::{self, SubBlocks};
use super::{BlockFormat, BlockIntegers, QuantisedFormat};
use crate::activation::Activation;

const BITS_AT: usize = 2;

/// `ggml.q1_0`, 18 bytes for 128 elements.
pub struct Q1_0;

impl BlockFormat for Q1_0 {
    const NAME: &'static str = "ggml.q1_0";
    const GGML_TYPE: u32 = 41;
    const BLOCK_ELEMS: usize = 128;
    const BLOCK_BYTES: usize = 18;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Q1_0 {
    const ACTIVATION: Activation = Activation::Q8_32;
    const PARTS: usize = 4;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Q1_0 {
    const SUB_BLOCK: usize = 32;
    const D_AT: usize = 0;

    fn scale_min(_block: &[u8], _s: usize) -> (i16, i16) {
        (1, 0)
    }

    fn value(block: &[u8], s: usize, i: usize) -> i16 {
        let bit = (block[BITS_AT + 4 * s + i / 8] >> (i % 8)) & 1;
        2 * i16::from(bit) - 1
    }
}
