//! `ggml.bf16`: the upper half of an IEEE binary32, one element a block. Widening is exact.

use guild_numerics::convert::bf16_to_f32;

use super::{BlockFormat, assert_block};

/// `ggml.bf16`, 2 bytes an element.
pub struct Bf16;

impl BlockFormat for Bf16 {
    const NAME: &'static str = "ggml.bf16";
    const GGML_TYPE: u32 = 30;
    const BLOCK_ELEMS: usize = 1;
    const BLOCK_BYTES: usize = 2;

    fn decode(block: &[u8], out: &mut [f32]) {
        assert_block::<Self>(block, out);
        out[0] = bf16_to_f32(u16::from_le_bytes([block[0], block[1]]));
    }
}
