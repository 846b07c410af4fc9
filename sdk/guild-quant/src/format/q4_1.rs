//! `ggml.q4_1`: 32 elements of 4 bits above a minimum, two F16 scales.
//!
//! Bytes: `d` F16 at 0; `m` F16 at 2; 16 bytes of nibbles at 4, laid out as in `ggml.q4_0`. Value: `d * nibble + m`, the
//! sum rounded to f32. As integers: one sub-block of scale 1 whose minimum is -1, since `+ m` is `- m * -1`.

use super::sub_blocks::{self, SubBlocks, nibble_of_32};
use super::{BlockFormat, BlockIntegers, QuantisedFormat};
use crate::activation::Activation;

/// `ggml.q4_1`, 20 bytes for 32 elements.
pub struct Q4_1;

impl BlockFormat for Q4_1 {
    const NAME: &'static str = "ggml.q4_1";
    const GGML_TYPE: u32 = 3;
    const BLOCK_ELEMS: usize = 32;
    const BLOCK_BYTES: usize = 20;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Q4_1 {
    const ACTIVATION: Activation = Activation::Q8_32;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Q4_1 {
    const SUB_BLOCK: usize = Self::BLOCK_ELEMS;
    const D_AT: usize = 0;
    const DMIN_AT: Option<usize> = Some(2);

    fn scale_min(_block: &[u8], _s: usize) -> (i16, i16) {
        (1, -1)
    }

    fn value(block: &[u8], _s: usize, i: usize) -> i16 {
        nibble_of_32(&block[4..], i).into()
    }
}
