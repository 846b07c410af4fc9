//! `ggml.q4_0`: 32 elements of 4 bits around 8, one F16 scale.
//!
//! Bytes: `d` F16 at 0; 16 bytes of nibbles at 2. Byte `j` holds element `j` in its low half and element `j + 16` in
//! its high half. Value: `(nibble - 8) * d`.

use super::sub_blocks::{self, SubBlocks, nibble_of_32};
use super::{BlockFormat, BlockIntegers, QuantisedFormat};
use crate::activation::Activation;

/// `ggml.q4_0`, 18 bytes for 32 elements.
pub struct Q4_0;

impl BlockFormat for Q4_0 {
    const NAME: &'static str = "ggml.q4_0";
    const GGML_TYPE: u32 = 2;
    const BLOCK_ELEMS: usize = 32;
    const BLOCK_BYTES: usize = 18;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Q4_0 {
    const ACTIVATION: Activation = Activation::Q8_32;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Q4_0 {
    const SUB_BLOCK: usize = Self::BLOCK_ELEMS;
    const D_AT: usize = 0;

    fn scale_min(_block: &[u8], _s: usize) -> (i16, i16) {
        (1, 0)
    }

    fn value(block: &[u8], _s: usize, i: usize) -> i16 {
        i16::from(nibble_of_32(&block[2..], i)) - 8
    }
}
