//! `guild.q8_32`: 32 activations as signed bytes with one f32 scale, for weight formats with blocks of 32.
//!
//! Bytes: `da` f32 at 0; 32 signed bytes at 4; 36 in all, alignment 4. There are no sums: of the weight formats with
//! blocks of 32 only those with a minimum need one, a single sum that follows from the bytes.

use super::{ActivationFormat, round_block};

/// One block of `guild.q8_32`. The struct's layout in memory is that of the bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Q8_32 {
    /// The scale: an activation is about `da * q`.
    pub da: f32,
    /// The integers, in -127..=127.
    pub q: [i8; 32],
}

impl ActivationFormat for Q8_32 {
    const NAME: &'static str = "guild.q8_32";
    const BLOCK_ELEMS: usize = 32;
    const BLOCK_BYTES: usize = 36;

    fn encode(values: &[f32]) -> Self {
        assert_eq!(
            values.len(),
            Self::BLOCK_ELEMS,
            "elements in a block of {}",
            Self::NAME
        );
        let mut q = [0; 32];
        let da = round_block(values, &mut q);
        Self { da, q }
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        assert_eq!(
            bytes.len(),
            Self::BLOCK_BYTES,
            "bytes in a block of {}",
            Self::NAME
        );
        Self {
            da: f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
            q: core::array::from_fn(|i| bytes[4 + i].cast_signed()),
        }
    }

    fn write_bytes(&self, out: &mut [u8]) {
        assert_eq!(
            out.len(),
            Self::BLOCK_BYTES,
            "bytes in a block of {}",
            Self::NAME
        );
        out[..4].copy_from_slice(&self.da.to_le_bytes());
        for (out, q) in out[4..].iter_mut().zip(self.q) {
            *out = q.cast_unsigned();
        }
    }

    fn scale(&self) -> f32 {
        self.da
    }

    fn integers(&self) -> &[i8] {
        &self.q
    }
}
