//! `ggml.iq4_xs`: 256 elements of 4 bits that name one of sixteen levels, eight sub-blocks of 32, each with a 6-bit scale
//! around 32.
//!
//! Bytes: `d` F16 at 0; upper two bits of the scales at 2, a little-endian u16, those of sub-block `s` at bit `2 s`; low
//! four bits of the scales at 4, byte `s / 2`, the low half for even `s`; 128 bytes of nibbles at 8, sixteen a sub-block,
//! laid out as in `ggml.q4_0`. Value: `(d * (scale - 32)) * levels[nibble]`, each step rounded to f32; the levels are
//! those of `ggml.iq4_nl`.

use super::iq4_nl::IQ4_LEVELS;
use super::sub_blocks::{self, SubBlocks, nibble, nibble_of_32};
use super::{BlockFormat, BlockIntegers, QuantisedFormat};
use crate::activation::Activation;

const SCALES_AT: usize = 4;
const NIBBLES_AT: usize = 8;

/// `ggml.iq4_xs`, 136 bytes for 256 elements.
pub struct Iq4Xs;

impl BlockFormat for Iq4Xs {
    const NAME: &'static str = "ggml.iq4_xs";
    const GGML_TYPE: u32 = 23;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 136;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Iq4Xs {
    const ACTIVATION: Activation = Activation::Q8_256;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Iq4Xs {
    const SUB_BLOCK: usize = 32;
    const D_AT: usize = 0;

    fn scale_min(block: &[u8], s: usize) -> (i16, i16) {
        let low = nibble(&block[SCALES_AT..], s);
        let upper = (block[2 + s / 4] >> (2 * (s % 4))) & 3;
        (i16::from(low | (upper << 4)) - 32, 0)
    }

    fn value(block: &[u8], s: usize, i: usize) -> i16 {
        let nibbles = &block[NIBBLES_AT + 16 * s..];
        IQ4_LEVELS[usize::from(nibble_of_32(nibbles, i))].into()
    }
}
