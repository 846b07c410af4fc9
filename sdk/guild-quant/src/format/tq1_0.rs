//! `ggml.tq1_0`: 256 elements of -1, 0 or 1, five to a byte, one F16 scale.
//!
//! Bytes: 48 bytes at 0, five elements each; 4 bytes at 48, four elements each; `d` F16 at 52. A byte is a fraction of
//! 256 in base three: digit `n` is the integer part of three times what is left after `n` digits. The first 32 bytes
//! hold elements 0..160, those of digit 0 first, the next 16 elements 160..240, the last four 240..256 in the same
//! way. Value: `(digit - 1) * d`.

use super::sub_blocks::{self, SubBlocks};
use super::{BlockFormat, BlockIntegers, QuantisedFormat};
use crate::activation::Activation;

/// `ggml.tq1_0`, 54 bytes for 256 elements.
pub struct Tq1_0;

impl BlockFormat for Tq1_0 {
    const NAME: &'static str = "ggml.tq1_0";
    const GGML_TYPE: u32 = 34;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 54;

    fn decode(block: &[u8], out: &mut [f32]) {
        sub_blocks::decode::<Self>(block, out);
    }
}

impl QuantisedFormat for Tq1_0 {
    const ACTIVATION: Activation = Activation::Q8_256;

    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers) {
        sub_blocks::integers::<Self>(block, part, out);
    }
}

impl SubBlocks for Tq1_0 {
    const SUB_BLOCK: usize = Self::BLOCK_ELEMS;
    const D_AT: usize = 52;

    fn scale_min(_block: &[u8], _s: usize) -> (i16, i16) {
        (1, 0)
    }

    fn value(block: &[u8], _s: usize, i: usize) -> i16 {
        let (first, bytes, i) = match i {
            0..160 => (0, 32, i),
            160..240 => (32, 16, i - 160),
            _ => (48, 4, i - 240),
        };
        digit(block[first + i % bytes], i / bytes) - 1
    }
}

/// Digit `n` of a byte, 0 to 2.
fn digit(byte: u8, n: usize) -> i16 {
    const POWERS: [u8; 5] = [1, 3, 9, 27, 81];
    let left = byte.wrapping_mul(POWERS[n]);
    (i16::from(left) * 3) >> 8
}
