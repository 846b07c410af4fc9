//! `ggml.f16`: IEEE binary16, one element a block. Widening is exact.

use super::{BlockFormat, assert_block, f16_at};

/// `ggml.f16`, 2 bytes an element.
pub struct F16;

impl BlockFormat for F16 {
    const NAME: &'static str = "ggml.f16";
    const GGML_TYPE: u32 = 1;
    const BLOCK_ELEMS: usize = 1;
    const BLOCK_BYTES: usize = 2;

    fn decode(block: &[u8], out: &mut [f32]) {
        assert_block::<Self>(block, out);
        out[0] = f16_at(block, 0);
    }
}
