//! `ggml.q8_0`: 32 signed bytes, one F16 scale.
//!
//! Bytes: `d` F16 at 0; 32 signed bytes at 2. Value: `q * d`. A weight may be -128; activations never are.

use super::sub_blocks::{self, SubBlocks};
use super::{BlockFormat, BlockIntegers, QuantisedFormat};
use crate::activation::Activation;

/// `ggml.q8_0`, 34 bytes for 32 elements.
pub struct Q8_0;

impl BlockFormat for Q8_0 {
    const NAME: &'static str = "ggml.q8_0";
    const GGML_TYPE: u32 = 8;
    const BLOCK_ELEMS: usize = 32;
    const BLOCK_BYTES: usize = 34;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Q8_0 {
    const ACTIVATION: Activation = Activation::Q8_32;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Q8_0 {
    const SUB_BLOCK: usize = Self::BLOCK_ELEMS;
    const D_AT: usize = 0;

    fn scale_min(_block: &[u8], _s: usize) -> (i16, i16) {
        (1, 0)
    }

    fn value(block: &[u8], _s: usize, i: usize) -> i16 {
        block[2 + i].cast_signed().into()
    }
}
