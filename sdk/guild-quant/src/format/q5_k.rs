//! `ggml.q5_K`: 256 elements of 5 bits in eight sub-blocks of 32, each with a 6-bit scale and minimum.
//!
//! Bytes: `d` F16 at 0; `dmin` F16 at 2; 12 bytes of packed scales and minimums at 4 (`k_scales`); 32 bytes of fifth
//! bits at 16; 128 bytes of nibbles at 48, laid out as in `ggml.q4_K`. Bit `s` of fifth-bit byte `i` belongs to
//! element `i` of sub-block `s`. Value: `(d * scale) * (nibble + 16 * bit) - (dmin * min)`, each step rounded to f32.

use super::{
    BlockFormat, BlockIntegers, QuantisedFormat, assert_block, assert_block_bytes, canonical,
    f16_at,
    k_scales::{PACKED_BYTES, scale_min},
};
use crate::activation::Activation;

const SUB_BLOCK: usize = 32;
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
        assert_block::<Self>(block, out);
        let (d, dmin) = (f16_at(block, 0), f16_at(block, 2));
        for (s, out) in out.chunks_exact_mut(SUB_BLOCK).enumerate() {
            let (scale, min) = scale_min(&block[SCALES_AT..], s);
            let (scale, min) = (d * f32::from(scale), dmin * f32::from(min));
            for (i, out) in out.iter_mut().enumerate() {
                *out = canonical(scale * f32::from(value(block, s, i)) - min);
            }
        }
    }
}

impl QuantisedFormat for Q5K {
    const ACTIVATION: Activation = Activation::Q8_256;

    fn integers(block: &[u8], out: &mut BlockIntegers) {
        assert_block_bytes::<Self>(block);
        *out = BlockIntegers {
            d: f16_at(block, 0),
            dmin: f16_at(block, 2),
            has_min: true,
            elems: Self::BLOCK_ELEMS,
            sub_block: SUB_BLOCK,
            ..BlockIntegers::new()
        };
        for (s, values) in out.values.chunks_exact_mut(SUB_BLOCK).enumerate() {
            let (scale, min) = scale_min(&block[SCALES_AT..], s);
            (out.scales[s], out.mins[s]) = (scale.into(), min.into());
            for (i, q) in values.iter_mut().enumerate() {
                *q = value(block, s, i).into();
            }
        }
    }
}

/// Element `i` of sub-block `s` as an integer in 0..=31.
fn value(block: &[u8], s: usize, i: usize) -> u8 {
    let byte = block[NIBBLES_AT + s / 2 * SUB_BLOCK + i];
    let nibble = if s.is_multiple_of(2) {
        byte & 0x0f
    } else {
        byte >> 4
    };
    nibble | (((block[FIFTH_BITS_AT + i] >> s) & 1) << 4)
}
