//! `ggml.nvfp4`: 64 elements of E2M1 in four parts of 16, each with a scale of eight bits.
//!
//! Bytes: four scales E4M3 at 0; eight bytes of nibbles a part from 4 on: byte `j` holds element `j` in its low half and
//! element `j + 8` in its high half. Value: `d * level`, with levels in halves and half the scale (`fp4`). A scale is no
//! small integer times a common one, so the dot takes each part as a block.

use super::fp4::{E2M1_LEVELS, UE4M3_HALVES};
use super::sub_blocks::{self, SubBlocks};
use super::{BlockFormat, BlockIntegers, QuantisedFormat};
use crate::activation::Activation;

const NIBBLES_AT: usize = 4;

/// `ggml.nvfp4`, 36 bytes for 64 elements.
pub struct Nvfp4;

impl BlockFormat for Nvfp4 {
    const NAME: &'static str = "ggml.nvfp4";
    const GGML_TYPE: u32 = 40;
    const BLOCK_ELEMS: usize = 64;
    const BLOCK_BYTES: usize = 36;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Nvfp4 {
    const ACTIVATION: Activation = Activation::Q8_32;
    const PARTS: usize = 4;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Nvfp4 {
    const SUB_BLOCK: usize = 16;

    fn d(block: &[u8], part: usize) -> f32 {
        UE4M3_HALVES[usize::from(block[part])]
    }

    fn scale_min(_block: &[u8], _s: usize) -> (i16, i16) {
        (1, 0)
    }

    fn value(block: &[u8], s: usize, i: usize) -> i16 {
        let byte = block[NIBBLES_AT + 8 * s + i % 8];
        let bits = if i < 8 { byte & 0x0f } else { byte >> 4 };
        E2M1_LEVELS[usize::from(bits)].into()
    }
}
