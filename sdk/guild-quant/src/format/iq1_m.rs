//! `ggml.iq1_m`: 256 elements on a lattice of 2,048 points, sixteen sub-blocks of 16 with a 3-bit scale each.
//!
//! Bytes: the low eight bits of 32 indices at 0, each of a point for eight elements; 16 bytes at 32, four bits for each
//! eight elements, the low half first: the upper three bits of the index, and above them whether the elements are moved
//! by an eighth down or up; four little-endian 16-bit words at 48. Each word has four scales from bit 0 on, and in its
//! top four bits a quarter of `d` F16, the lowest in the first word. Value: as `ggml.iq1_s`.

use guild_numerics::convert::f16_to_f32;

use super::grid::{moved, odd};
use super::sub_blocks::{self, SubBlocks, nibble};
use super::{BlockFormat, BlockIntegers, QuantisedFormat, u16_at};
use crate::activation::Activation;

const NIBBLES_AT: usize = 32;
const WORDS_AT: usize = 48;

/// `ggml.iq1_m`, 56 bytes for 256 elements.
pub struct Iq1M;

impl BlockFormat for Iq1M {
    const NAME: &'static str = "ggml.iq1_m";
    const GGML_TYPE: u32 = 29;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 56;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Iq1M {
    const ACTIVATION: Activation = Activation::Q8_256;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Iq1M {
    const SUB_BLOCK: usize = 16;

    fn d(block: &[u8], _part: usize) -> f32 {
        let quarter = |k: usize| u16_at(block, WORDS_AT + 2 * k) >> 12 << (4 * k);
        f16_to_f32(quarter(0) | quarter(1) | quarter(2) | quarter(3)) / 8.0
    }

    fn scale_min(block: &[u8], s: usize) -> (i16, i16) {
        let word = u16_at(block, WORDS_AT + 2 * (s / 4));
        (odd(((word >> (3 * (s % 4))) & 7) as u8), 0)
    }

    fn value(block: &[u8], s: usize, i: usize) -> i16 {
        let eight = 2 * s + i / 8;
        let bits = nibble(&block[NIBBLES_AT..], eight);
        let point = usize::from(block[eight]) | usize::from(bits & 7) << 8;
        moved(point, i % 8, bits & 8 != 0)
    }
}
