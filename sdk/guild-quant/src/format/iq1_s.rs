//! `ggml.iq1_s`: 256 elements on a lattice of 2,048 points, eight sub-blocks of 32 with a 3-bit scale each.
//!
//! Bytes: `d` F16 at 0; the low eight bits of 32 indices at 2, each of a point for eight elements; a little-endian
//! 16-bit word a sub-block from 34 on: four upper three bits of the indices from bit 0 on, the scale at bit 12, and at
//! bit 15 whether the sub-block's elements are moved by an eighth down or up. Value:
//! `d * (2 * scale + 1) * (level - 1/8 or + 1/8)`, exact in f32. As integers: eighths, under `d / 8`.

use super::grid::{moved, odd};
use super::sub_blocks::{self, SubBlocks};
use super::{BlockFormat, BlockIntegers, QuantisedFormat, f16_at, u16_at};
use crate::activation::Activation;

const INDICES_AT: usize = 2;
const WORDS_AT: usize = 34;

/// `ggml.iq1_s`, 50 bytes for 256 elements.
pub struct Iq1S;

impl BlockFormat for Iq1S {
    const NAME: &'static str = "ggml.iq1_s";
    const GGML_TYPE: u32 = 19;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 50;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Iq1S {
    const ACTIVATION: Activation = Activation::Q8_256;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Iq1S {
    const SUB_BLOCK: usize = 32;

    fn d(block: &[u8], _part: usize) -> f32 {
        f16_at(block, 0) / 8.0
    }

    fn scale_min(block: &[u8], s: usize) -> (i16, i16) {
        (odd((block[WORDS_AT + 2 * s + 1] >> 4) & 7), 0)
    }

    fn value(block: &[u8], s: usize, i: usize) -> i16 {
        let word = u16_at(block, WORDS_AT + 2 * s);
        let upper = usize::from(word >> (3 * (i / 8))) & 7;
        let point = usize::from(block[INDICES_AT + 4 * s + i / 8]) | upper << 8;
        moved(point, i % 8, word >> 15 == 1)
    }
}
