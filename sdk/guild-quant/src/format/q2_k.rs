//! `ggml.q2_K`: 256 elements of 2 bits in sixteen sub-blocks of 16, each with a 4-bit scale and minimum.
//!
//! Bytes: 16 bytes at 0, byte `s` with the scale of sub-block `s` in its low half and the minimum in its high half;
//! 64 bytes of bit pairs at 16; `d` F16 at 80; `dmin` F16 at 82. Each half of the block (128 elements) has 32 bytes of
//! pairs and four quarters of 32 elements; quarter `k` takes bits `2k, 2k + 1` of each byte. Value:
//! `(d * scale) * bits - (dmin * min)`, each step rounded to f32.

use super::sub_blocks::{self, SubBlocks, pair_of_256};
use super::{BlockFormat, BlockIntegers, QuantisedFormat};
use crate::activation::Activation;

/// `ggml.q2_K`, 84 bytes for 256 elements.
pub struct Q2K;

impl BlockFormat for Q2K {
    const NAME: &'static str = "ggml.q2_K";
    const GGML_TYPE: u32 = 10;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 84;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Q2K {
    const ACTIVATION: Activation = Activation::Q8_256;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Q2K {
    const SUB_BLOCK: usize = 16;
    const D_AT: usize = 80;
    const DMIN_AT: Option<usize> = Some(82);

    fn scale_min(block: &[u8], s: usize) -> (i16, i16) {
        ((block[s] & 0x0f).into(), (block[s] >> 4).into())
    }

    fn value(block: &[u8], s: usize, i: usize) -> i16 {
        pair_of_256(&block[16..], 16 * s + i).into()
    }
}
