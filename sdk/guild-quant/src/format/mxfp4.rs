//! `ggml.mxfp4`: 32 elements of E2M1, one scale that is a power of two.
//!
//! Bytes: the scale E8M0 at 0; 16 bytes of nibbles at 1, laid out as in `ggml.q4_0`. Value: `d * level`, with levels in
//! halves and half the scale (`fp4`).

use super::fp4::{E2M1_LEVELS, E8M0_HALVES};
use super::sub_blocks::{self, SubBlocks, nibble_of_32};
use super::{BlockFormat, BlockIntegers, QuantisedFormat};
use crate::activation::Activation;

/// `ggml.mxfp4`, 17 bytes for 32 elements.
pub struct Mxfp4;

impl BlockFormat for Mxfp4 {
    const NAME: &'static str = "ggml.mxfp4";
    const GGML_TYPE: u32 = 39;
    const BLOCK_ELEMS: usize = 32;
    const BLOCK_BYTES: usize = 17;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Mxfp4 {
    const ACTIVATION: Activation = Activation::Q8_32;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Mxfp4 {
    const SUB_BLOCK: usize = Self::BLOCK_ELEMS;

    fn d(block: &[u8], _part: usize) -> f32 {
        E8M0_HALVES[usize::from(block[0])]
    }

    fn scale_min(_block: &[u8], _s: usize) -> (i16, i16) {
        (1, 0)
    }

    fn value(block: &[u8], _s: usize, i: usize) -> i16 {
        E2M1_LEVELS[usize::from(nibble_of_32(&block[1..], i))].into()
    }
}
