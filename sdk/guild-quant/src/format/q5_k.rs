//! `ggml.q5_K`: 256 elements of 5 bits in eight sub-blocks of 32, each with a 6-bit scale and minimum.
//!
//! Bytes: `d` F16 at 0; `dmin` F16 at 2; 12 bytes of packed scales and minimums at 4 (`k_scales`); 32 bytes of fifth
//! bits at 16; 128 bytes of nibbles at 48, laid out as in `ggml.q4_K`. Bit `s` of fifth-bit byte `i` belongs to
//! element `i` of sub-block `s`. Value: `(d * scale) * (nibble + 16 * bit) - (dmin * min)`, each step rounded to f32.

use super::k_scales::{PACKED_BYTES, scale_min};
use super::sub_blocks::{self, SubBlocks, nibble_of_256};
use super::{BlockFormat, BlockIntegers, QuantisedFormat};
use crate::activation::Activation;

const SCALES_AT: usize = 4;
const FIFTH_BITS_AT: usize = SCALES_AT + PACKED_BYTES;
const NIBBLES_AT: usize = FIFTH_BITS_AT + 32;

/// `ggml.q5_K`, 176 bytes for 256 elements.
pub struct Q5K;

impl BlockFormat for Q5K {
    const NAME: &'static str = "ggml.q5_K";
    const GGML_TYPE: u32 = 13;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 176;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Q5K {
    const ACTIVATION: Activation = Activation::Q8_256;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Q5K {
    const SUB_BLOCK: usize = 32;
    const D_AT: usize = 0;
    const DMIN_AT: Option<usize> = Some(2);

    fn scale_min(block: &[u8], s: usize) -> (i16, i16) {
        let (scale, min) = scale_min(&block[SCALES_AT..], s);
        (scale.into(), min.into())
    }

    fn value(block: &[u8], s: usize, i: usize) -> i16 {
        let fifth = (block[FIFTH_BITS_AT + i] >> s) & 1;
        (nibble_of_256(&block[NIBBLES_AT..], s, i) | (fifth << 4)).into()
    }
}
