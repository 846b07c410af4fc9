//! `ggml.q6_K`: 256 elements of 6 bits around 32 in sixteen sub-blocks of 16, each with a signed 8-bit scale.
//!
//! Bytes: 128 bytes of low nibbles at 0; 64 bytes of upper bit pairs at 128; 16 signed scales at 192; `d` F16 at 208.
//! Each half of the block (128 elements) has 64 bytes of nibbles and 32 of pairs, and four quarters of 32 elements.
//! Quarters 0 and 1 take the low nibbles of the first and second 32 bytes, quarters 2 and 3 the high nibbles; quarter
//! `k` takes bits `2k, 2k + 1` of each pair byte. Value: `(d * scale) * (bits - 32)`, each step rounded to f32.

use super::{
    BlockFormat, BlockIntegers, QuantisedFormat, assert_block, assert_block_bytes, canonical,
    f16_at,
};
use crate::activation::Activation;

const SUB_BLOCK: usize = 16;
const PAIRS_AT: usize = 128;
const SCALES_AT: usize = 192;
const D_AT: usize = 208;

/// `ggml.q6_K`, 210 bytes for 256 elements.
pub struct Q6K;

impl BlockFormat for Q6K {
    const NAME: &'static str = "ggml.q6_K";
    const GGML_TYPE: u32 = 14;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 210;

    fn decode(block: &[u8], out: &mut [f32]) {
        assert_block::<Self>(block, out);
        let d = f16_at(block, D_AT);
        for (i, out) in out.iter_mut().enumerate() {
            let scale = d * f32::from(scale(block, i / SUB_BLOCK));
            *out = canonical(scale * f32::from(value(block, i)));
        }
    }
}

impl QuantisedFormat for Q6K {
    const ACTIVATION: Activation = Activation::Q8_256;

    fn integers(block: &[u8], out: &mut BlockIntegers) {
        assert_block_bytes::<Self>(block);
        *out = BlockIntegers {
            d: f16_at(block, D_AT),
            elems: Self::BLOCK_ELEMS,
            sub_block: SUB_BLOCK,
            ..BlockIntegers::new()
        };
        for (s, out) in out.scales.iter_mut().enumerate() {
            *out = scale(block, s).into();
        }
        for (i, q) in out.values.iter_mut().enumerate() {
            *q = value(block, i).into();
        }
    }
}

/// The scale of sub-block `s`.
fn scale(block: &[u8], s: usize) -> i8 {
    block[SCALES_AT + s].cast_signed()
}

/// Element `i` as an integer in -32..=31.
fn value(block: &[u8], i: usize) -> i8 {
    let (half, quarter, lane) = (i / 128, i % 128 / 32, i % 32);
    let byte = block[half * 64 + quarter % 2 * 32 + lane];
    let nibble = if quarter < 2 { byte & 0x0f } else { byte >> 4 };
    let pair = (block[PAIRS_AT + half * 32 + lane] >> (2 * quarter)) & 3;
    (nibble | (pair << 4)).cast_signed() - 32
}
