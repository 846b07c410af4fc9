//! The eight pairs of 6-bit scale and minimum that `ggml.q4_K` and `ggml.q5_K` pack into 12 bytes.
//!
//! For sub-blocks 0..4, byte `s` holds the scale and byte `s + 4` the minimum in its low six bits. For sub-blocks
//! 4..8, byte `s + 4` holds the low four bits of both (scale below, minimum above); their upper two bits are the top
//! bits of bytes `s - 4` (scale) and `s` (minimum).

/// Bytes that the packed scales take.
pub(super) const PACKED_BYTES: usize = 12;

/// Scale and minimum of sub-block `s` (0..8), each in 0..=63. `packed` is `[PACKED_BYTES]`.
pub(super) fn scale_min(packed: &[u8], s: usize) -> (u8, u8) {
    if s < 4 {
        (packed[s] & 0x3f, packed[s + 4] & 0x3f)
    } else {
        let low = packed[s + 4];
        (
            (low & 0x0f) | (packed[s - 4] >> 6 << 4),
            (low >> 4) | (packed[s] >> 6 << 4),
        )
    }
}
