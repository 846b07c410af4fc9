//! `ggml.q8_0`: 32 signed bytes, one F16 scale.
//!
//! Bytes: `d` F16 at 0; 32 signed bytes at 2. Value: `q * d`. A weight may be -128; activations never are.

use super::{
    BlockFormat, BlockIntegers, QuantisedFormat, assert_block, assert_block_bytes, canonical,
    f16_at,
};
use crate::activation::Activation;

/// `ggml.q8_0`, 34 bytes for 32 elements.
pub struct Q8_0;

impl BlockFormat for Q8_0 {
    const NAME: &'static str = "ggml.q8_0";
    const GGML_TYPE: u32 = 8;
    const BLOCK_ELEMS: usize = 32;
    const BLOCK_BYTES: usize = 34;

    fn decode(block: &[u8], out: &mut [f32]) {
        assert_block::<Self>(block, out);
        let d = f16_at(block, 0);
        for (&byte, out) in block[2..].iter().zip(out) {
            *out = canonical(f32::from(byte.cast_signed()) * d);
        }
    }
}

impl QuantisedFormat for Q8_0 {
    const ACTIVATION: Activation = Activation::Q8_32;

    fn integers(block: &[u8], out: &mut BlockIntegers) {
        assert_block_bytes::<Self>(block);
        *out = BlockIntegers {
            d: f16_at(block, 0),
            elems: Self::BLOCK_ELEMS,
            sub_block: Self::BLOCK_ELEMS,
            ..BlockIntegers::new()
        };
        out.scales[0] = 1;
        for (&byte, q) in block[2..].iter().zip(&mut out.values) {
            *q = i16::from(byte.cast_signed());
        }
    }
}
