//! `ggml.q6_K`: 256 elements of 6 bits around 32 in sixteen sub-blocks of 16, each with a signed 8-bit scale.
//!
//! Bytes: 128 bytes of low nibbles at 0; 64 bytes of upper bit pairs at 128; 16 signed scales at 192; `d` F16 at 208.
//! Each half of the block (128 elements) has 64 bytes of nibbles and 32 of pairs, and four quarters of 32 elements.
//! Quarters 0 and 1 take the low nibbles of the first and second 32 bytes, quarters 2 and 3 the high nibbles; quarter
//! `k` takes bits `2k, 2k + 1` of each pair byte. Value: `(d * scale) * (bits - 32)`, each step rounded to f32.

use super::sub_blocks::{self, SubBlocks, pair_of_256};
use super::{BlockFormat, BlockIntegers, QuantisedFormat};
use crate::activation::Activation;

const PAIRS_AT: usize = 128;
const SCALES_AT: usize = 192;

/// `ggml.q6_K`, 210 bytes for 256 elements.
pub struct Q6K;

impl BlockFormat for Q6K {
    const NAME: &'static str = "ggml.q6_K";
    const GGML_TYPE: u32 = 14;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 210;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Q6K {
    const ACTIVATION: Activation = Activation::Q8_256;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Q6K {
    const SUB_BLOCK: usize = 16;
    const D_AT: usize = 208;

    fn scale_min(block: &[u8], s: usize) -> (i16, i16) {
        (block[SCALES_AT + s].cast_signed().into(), 0)
    }

    fn value(block: &[u8], s: usize, i: usize) -> i16 {
        let i = 16 * s + i;
        let (half, quarter, lane) = (i / 128, i % 128 / 32, i % 32);
        let byte = block[half * 64 + quarter % 2 * 32 + lane];
        let nibble = if quarter < 2 { byte & 0x0f } else { byte >> 4 };
        i16::from(nibble | (pair_of_256(&block[PAIRS_AT..], i) << 4)) - 32
    }
}
