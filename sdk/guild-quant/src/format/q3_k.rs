//! `ggml.q3_K`: 256 elements of 3 bits around 4 in sixteen sub-blocks of 16, each with a 6-bit scale around 32.
//!
//! Bytes: 32 bytes of third bits at 0; 64 bytes of bit pairs at 32, laid out as in `ggml.q2_K`; 12 bytes of packed
//! scales at 96; `d` F16 at 108. Eighth `k` of the block (32 elements) takes bit `k` of each byte of third bits. Scale
//! `s` has its low four bits in byte `s % 8` of the packed scales, the low half for `s < 8` and the high half for the
//! others, and its upper two at bits `2 * (s / 4)` of byte `8 + s % 4`. Value: `(d * (scale - 32)) * (pair + 4 * bit - 4)`,
//! each step rounded to f32.

use super::sub_blocks::{self, SubBlocks, pair_of_256};
use super::{BlockFormat, BlockIntegers, QuantisedFormat};
use crate::activation::Activation;

const PAIRS_AT: usize = 32;
const SCALES_AT: usize = 96;

/// `ggml.q3_K`, 110 bytes for 256 elements.
pub struct Q3K;

impl BlockFormat for Q3K {
    const NAME: &'static str = "ggml.q3_K";
    const GGML_TYPE: u32 = 11;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 110;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Q3K {
    const ACTIVATION: Activation = Activation::Q8_256;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Q3K {
    const SUB_BLOCK: usize = 16;
    const D_AT: usize = 108;

    fn scale_min(block: &[u8], s: usize) -> (i16, i16) {
        let packed = &block[SCALES_AT..];
        let low = if s < 8 {
            packed[s] & 0x0f
        } else {
            packed[s - 8] >> 4
        };
        let upper = (packed[8 + s % 4] >> (2 * (s / 4))) & 3;
        (i16::from(low | (upper << 4)) - 32, 0)
    }

    fn value(block: &[u8], s: usize, i: usize) -> i16 {
        let i = 16 * s + i;
        let third = (block[i % 32] >> (i / 32)) & 1;
        i16::from(pair_of_256(&block[PAIRS_AT..], i) | (third << 2)) - 4
    }
}
