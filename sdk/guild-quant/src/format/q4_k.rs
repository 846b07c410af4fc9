//! `ggml.q4_K`: 256 elements of 4 bits in eight sub-blocks of 32, each with a 6-bit scale and minimum.
//!
//! Bytes: `d` F16 at 0; `dmin` F16 at 2; 12 bytes of packed scales and minimums at 4 (`k_scales`); 128 bytes of nibbles
//! at 16. Each run of 32 bytes holds two sub-blocks: the even one in the low halves, the odd one in the high halves.
//! Value: `(d * scale) * nibble - (dmin * min)`, each step rounded to f32.

use super::k_scales::{PACKED_BYTES, scale_min};
use super::sub_blocks::{self, SubBlocks, nibble_of_256};
use super::{BlockFormat, BlockIntegers, QuantisedFormat};
use crate::activation::Activation;

const SCALES_AT: usize = 4;
const NIBBLES_AT: usize = SCALES_AT + PACKED_BYTES;

/// `ggml.q4_K`, 144 bytes for 256 elements.
pub struct Q4K;

impl BlockFormat for Q4K {
    const NAME: &'static str = "ggml.q4_K";
    const GGML_TYPE: u32 = 12;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 144;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Q4K {
    const ACTIVATION: Activation = Activation::Q8_256;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Q4K {
    const SUB_BLOCK: usize = 32;
    const D_AT: usize = 0;
    const DMIN_AT: Option<usize> = Some(2);

    fn scale_min(block: &[u8], s: usize) -> (i16, i16) {
        let (scale, min) = scale_min(&block[SCALES_AT..], s);
        (scale.into(), min.into())
    }

    fn value(block: &[u8], s: usize, i: usize) -> i16 {
        nibble_of_256(&block[NIBBLES_AT..], s, i).into()
    }
}
