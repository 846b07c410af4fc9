//! `ggml.iq4_nl`: 32 elements of 4 bits that name one of sixteen levels, one F16 scale.
//!
//! Bytes: `d` F16 at 0; 16 bytes of nibbles at 2, laid out as in `ggml.q4_0`. Value: `levels[nibble] * d`.

use super::sub_blocks::{self, SubBlocks, nibble_of_32};
use super::{BlockFormat, BlockIntegers, QuantisedFormat};
use crate::activation::Activation;

/// The levels that `ggml.iq4_nl` and `ggml.iq4_xs` name by four bits: closer together around 0.
pub const IQ4_LEVELS: [i8; 16] = [
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
];

/// `ggml.iq4_nl`, 18 bytes for 32 elements.
pub struct Iq4Nl;

impl BlockFormat for Iq4Nl {
    const NAME: &'static str = "ggml.iq4_nl";
    const GGML_TYPE: u32 = 20;
    const BLOCK_ELEMS: usize = 32;
    const BLOCK_BYTES: usize = 18;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Iq4Nl {
    const ACTIVATION: Activation = Activation::Q8_32;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Iq4Nl {
    const SUB_BLOCK: usize = Self::BLOCK_ELEMS;
    const D_AT: usize = 0;

    fn scale_min(_block: &[u8], _s: usize) -> (i16, i16) {
        (1, 0)
    }

    fn value(block: &[u8], _s: usize, i: usize) -> i16 {
        IQ4_LEVELS[usize::from(nibble_of_32(&block[2..], i))].into()
    }
}
