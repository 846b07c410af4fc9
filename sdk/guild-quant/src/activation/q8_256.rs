//! `guild.q8_256`: 256 activations as signed bytes with one f32 scale and the sums of each 16, for weight formats with
//! blocks of 256.
//!
//! Bytes: `da` f32 at 0; 256 signed bytes at 4; 16 signed 16-bit sums at 260; 292 in all, alignment 4. Sum `s` is
//! `q[16 s] + ... + q[16 s + 15]`: the minimum term of a weight format needs it, and every sub-block is a whole number
//! of sixteens.

use super::{ActivationFormat, round_block};

/// Elements that one sum covers.
const SUM_ELEMS: usize = 16;
const SUMS_AT: usize = 4 + 256;

/// One block of `guild.q8_256`. The struct's layout in memory is that of the bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Q8_256 {
    /// The scale: an activation is about `da * q`.
    pub da: f32,
    /// The integers, in -127..=127.
    pub q: [i8; 256],
    /// The sum of each 16 integers, in -2032..=2032.
    pub sums: [i16; 16],
}

impl ActivationFormat for Q8_256 {
    const NAME: &'static str = "guild.q8_256";
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 292;

    fn encode(values: &[f32]) -> Self {
        assert_eq!(
            values.len(),
            Self::BLOCK_ELEMS,
            "elements in a block of {}",
            Self::NAME
        );
        let mut q = [0; 256];
        let da = round_block(values, &mut q);
        let mut sums = [0; 16];
        for (q, sum) in q.chunks_exact(SUM_ELEMS).zip(&mut sums) {
            *sum = q.iter().map(|&q| i16::from(q)).sum();
        }
        Self { da, q, sums }
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        assert_eq!(
            bytes.len(),
            Self::BLOCK_BYTES,
            "bytes in a block of {}",
            Self::NAME
        );
        let sum =
            |s: usize| i16::from_le_bytes([bytes[SUMS_AT + 2 * s], bytes[SUMS_AT + 2 * s + 1]]);
        Self {
            da: f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
            q: core::array::from_fn(|i| bytes[4 + i].cast_signed()),
            sums: core::array::from_fn(sum),
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
        for (out, q) in out[4..SUMS_AT].iter_mut().zip(self.q) {
            *out = q.cast_unsigned();
        }
        for (out, sum) in out[SUMS_AT..].chunks_exact_mut(2).zip(self.sums) {
            out.copy_from_slice(&sum.to_le_bytes());
        }
    }

    fn scale(&self) -> f32 {
        self.da
    }

    fn integers(&self) -> &[i8] {
        &self.q
    }
}
