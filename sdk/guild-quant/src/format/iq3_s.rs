//! `ggml.iq3_s`: 256 elements on a lattice of 512 points, eight sub-blocks of 32 with a 4-bit scale each.
//!
//! Bytes: `d` F16 at 0; the low eight bits of 64 indices at 2, each of a point for four elements; their ninth bits at 66,
//! a byte a sub-block, the first index lowest; 32 bytes of signs at 74, one for each eight elements; four bytes of
//! scales at 106, the low half for the even sub-block. Value: `d * (2 * scale + 1) * signed level`, exact in f32.

use super::grid::{IQ3_S, odd, signed};
use super::sub_blocks::{self, SubBlocks, nibble};
use super::{BlockFormat, BlockIntegers, QuantisedFormat};
use crate::activation::Activation;

const INDICES_AT: usize = 2;
const NINTH_BITS_AT: usize = 66;
const SIGNS_AT: usize = 74;
const SCALES_AT: usize = 106;

/// `ggml.iq3_s`, 110 bytes for 256 elements.
pub struct Iq3S;

impl BlockFormat for Iq3S {
    const NAME: &'static str = "ggml.iq3_s";
    const GGML_TYPE: u32 = 21;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 110;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Iq3S {
    const ACTIVATION: Activation = Activation::Q8_256;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Iq3S {
    const SUB_BLOCK: usize = 32;
    const D_AT: usize = 0;

    fn scale_min(block: &[u8], s: usize) -> (i16, i16) {
        (odd(nibble(&block[SCALES_AT..], s)), 0)
    }

    fn value(block: &[u8], s: usize, i: usize) -> i16 {
        let ninth = (block[NINTH_BITS_AT + s] >> (i / 4)) & 1;
        let point = usize::from(block[INDICES_AT + 8 * s + i / 4]) | usize::from(ninth) << 8;
        let signs = block[SIGNS_AT + 4 * s + i / 8];
        signed(IQ3_S.value(point, i % 4), signs, i % 8)
    }
}
