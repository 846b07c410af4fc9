//! `ggml.f32`: IEEE binary32, one element a block. The stored bits are the values; only NaNs are made canonical.

use super::{BlockFormat, assert_block, canonical};

/// `ggml.f32`, 4 bytes an element.
pub struct F32;

impl BlockFormat for F32 {
    const NAME: &'static str = "ggml.f32";
    const GGML_TYPE: u32 = 0;
    const BLOCK_ELEMS: usize = 1;
    const BLOCK_BYTES: usize = 4;

    fn decode(block: &[u8], out: &mut [f32]) {
        assert_block::<Self>(block, out);
        out[0] = canonical(f32::from_le_bytes([block[0], block[1], block[2], block[3]]));
    }
}
