//! `ggml.tq2_0`: 256 elements of 2 bits around 1, one F16 scale.
//!
//! Bytes: 64 bytes of bit pairs at 0, laid out as in `ggml.q2_K`; `d` F16 at 64. Value: `(bits - 1) * d`. ggml's own
//! quantiser stores -1, 0 and 1 alone; 2 is as good.

use super::sub_blocks::{self, SubBlocks, pair_of_256};
use super::{BlockFormat, BlockIntegers, QuantisedFormat};
use crate::activation::Activation;

/// `ggml.tq2_0`, 66 bytes for 256 elements.
pub struct Tq2_0;

impl BlockFormat for Tq2_0 {
    const NAME: &'static str = "ggml.tq2_0";
    const GGML_TYPE: u32 = 35;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 66;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Tq2_0 {
    const ACTIVATION: Activation = Activation::Q8_256;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Tq2_0 {
    const SUB_BLOCK: usize = Self::BLOCK_ELEMS;
    const D_AT: usize = 64;

    fn scale_min(_block: &[u8], _s: usize) -> (i16, i16) {
        (1, 0)
    }

    fn value(block: &[u8], _s: usize, i: usize) -> i16 {
        i16::from(pair_of_256(block, i)) - 1
    }
}
