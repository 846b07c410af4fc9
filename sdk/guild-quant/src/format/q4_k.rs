//! `ggml.q4_K`: 256 elements of 4 bits in eight sub-blocks of 32, each with a 6-bit scale and minimum.
//!
//! Bytes: `d` F16 at 0; `dmin` F16 at 2; 12 bytes of packed scales and minimums at 4 (`k_scales`); 128 bytes of nibbles
//! at 16. Each run of 32 bytes holds two sub-blocks: the even one in the low halves, the odd one in the high halves.
//! Value: `(d * scale) * nibble - (dmin * min)`, each step rounded to f32.

use super::{
    BlockFormat, BlockIntegers, QuantisedFormat, assert_block, assert_block_bytes, canonical,
    f16_at,
    k_scales::{PACKED_BYTES, scale_min},
};
use crate::activation::Activation;

const SUB_BLOCK: usize = 32;
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
        assert_block::<Self>(block, out);
        let (d, dmin) = (f16_at(block, 0), f16_at(block, 2));
        for (s, out) in out.chunks_exact_mut(SUB_BLOCK).enumerate() {
            let (scale, min) = scale_min(&block[SCALES_AT..], s);
            let (scale, min) = (d * f32::from(scale), dmin * f32::from(min));
            for (i, out) in out.iter_mut().enumerate() {
                *out = canonical(scale * f32::from(nibble(block, s, i)) - min);
            }
        }
    }
}

impl QuantisedFormat for Q4K {
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
                *q = nibble(block, s, i).into();
            }
        }
    }
}

/// Element `i` of sub-block `s` as an integer in 0..=15.
fn nibble(block: &[u8], s: usize, i: usize) -> u8 {
    let byte = block[NIBBLES_AT + s / 2 * SUB_BLOCK + i];
    if s.is_multiple_of(2) {
        byte & 0x0f
    } else {
        byte >> 4
    }
}
