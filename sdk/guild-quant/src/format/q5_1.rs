//! `ggml.q5_1`: 32 elements of 5 bits above a minimum, two F16 scales.
//!
//! Bytes: `d` F16 at 0; `m` F16 at 2; 4 bytes of fifth bits at 4; 16 bytes of nibbles at 8; both laid out as in
//! `ggml.q5_0`. Value: `d * (nibble + 16 * bit) + m`, the sum rounded to f32. As integers: as `ggml.q4_1`.

use super::sub_blocks::{self, SubBlocks, value_of_5_bits};
use super::{BlockFormat, BlockIntegers, QuantisedFormat};
use crate::activation::Activation;

/// `ggml.q5_1`, 24 bytes for 32 elements.
pub struct Q5_1;

impl BlockFormat for Q5_1 {
    const NAME: &'static str = "ggml.q5_1";
    const GGML_TYPE: u32 = 7;
    const BLOCK_ELEMS: usize = 32;
    const BLOCK_BYTES: usize = 24;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Q5_1 {
    const ACTIVATION: Activation = Activation::Q8_32;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Q5_1 {
    const SUB_BLOCK: usize = Self::BLOCK_ELEMS;
    const D_AT: usize = 0;
    const DMIN_AT: Option<usize> = Some(2);

    fn scale_min(_block: &[u8], _s: usize) -> (i16, i16) {
        (1, -1)
    }

    fn value(block: &[u8], _s: usize, i: usize) -> i16 {
        value_of_5_bits(&block[4..], i).into()
    }
}
