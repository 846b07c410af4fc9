//! `ggml.q4_0`: 32 elements of 4 bits around 8, one F16 scale.
//!
//! Bytes: `d` F16 at 0; 16 bytes of nibbles at 2. Byte `j` holds element `j` in its low half and element `j + 16` in
//! its high half. Value: `(nibble - 8) * d`.

use super::{
    BlockFormat, BlockIntegers, QuantisedFormat, assert_block, assert_block_bytes, canonical,
    f16_at,
};
use crate::activation::Activation;

/// `ggml.q4_0`, 18 bytes for 32 elements.
pub struct Q4_0;

impl BlockFormat for Q4_0 {
    const NAME: &'static str = "ggml.q4_0";
    const GGML_TYPE: u32 = 2;
    const BLOCK_ELEMS: usize = 32;
    const BLOCK_BYTES: usize = 18;

    fn decode(block: &[u8], out: &mut [f32]) {
        assert_block::<Self>(block, out);
        let d = f16_at(block, 0);
        for (i, out) in out.iter_mut().enumerate() {
            *out = canonical(f32::from(value(block, i)) * d);
        }
    }
}

impl QuantisedFormat for Q4_0 {
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
        for (i, q) in out.values[..Self::BLOCK_ELEMS].iter_mut().enumerate() {
            *q = value(block, i);
        }
    }
}

/// Element `i` as an integer in -8..=7.
fn value(block: &[u8], i: usize) -> i16 {
    let byte = block[2 + i % 16];
    let nibble = if i < 16 { byte & 0x0f } else { byte >> 4 };
    i16::from(nibble) - 8
}
