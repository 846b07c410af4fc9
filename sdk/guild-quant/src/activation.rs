//! Activation formats: what a row of f32 activations is rounded to before a quantised dot.
//!
//! The rule is one for all block lengths (`docs/numerics.md`, rule 5). With `amax` the largest magnitude of a block:
//! - `da = amax / 127`; `q = rne(x * (127 / amax))`, clamped to -127..=127; -128 never occurs;
//! - `amax < 2^-100`: `da = 0`, `q = 0`;
//! - a value that is not finite: `da` is the canonical NaN, `q = 0`.
//!
//! `rne` rounds to the nearest integer, ties to even. A block's bytes are little-endian, fields in the order given by
//! the format's file, without padding.

mod q8_256;
mod q8_32;

pub use q8_32::Q8_32;
pub use q8_256::Q8_256;

use guild_numerics::convert::CANONICAL_NAN_F32;

use crate::format::LengthMismatch;

/// Names an activation format, as a weight format asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activation {
    /// `guild.q8_32`, for weight formats with blocks of 32.
    Q8_32,
    /// `guild.q8_256`, for weight formats with blocks of 256.
    Q8_256,
}

impl Activation {
    /// The format's name in operation contracts and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Q8_32 => Q8_32::NAME,
            Self::Q8_256 => Q8_256::NAME,
        }
    }

    /// Elements in a block.
    #[must_use]
    pub const fn block_elems(self) -> usize {
        match self {
            Self::Q8_32 => Q8_32::BLOCK_ELEMS,
            Self::Q8_256 => Q8_256::BLOCK_ELEMS,
        }
    }

    /// Bytes in a block.
    #[must_use]
    pub const fn block_bytes(self) -> usize {
        match self {
            Self::Q8_32 => Q8_32::BLOCK_BYTES,
            Self::Q8_256 => Q8_256::BLOCK_BYTES,
        }
    }

    /// Encodes a row of whole blocks; see [`encode_row`].
    ///
    /// # Errors
    /// [`LengthMismatch`] as [`encode_row`].
    pub fn encode_row(self, values: &[f32], out: &mut [u8]) -> Result<(), LengthMismatch> {
        match self {
            Self::Q8_32 => encode_row::<Q8_32>(values, out),
            Self::Q8_256 => encode_row::<Q8_256>(values, out),
        }
    }
}

/// One block of an activation format: encoded from f32, written to bytes and read back.
pub trait ActivationFormat: Sized {
    /// The format's name in operation contracts and reports, such as `guild.q8_256`.
    const NAME: &'static str;
    /// Elements in a block.
    const BLOCK_ELEMS: usize;
    /// Bytes in a block.
    const BLOCK_BYTES: usize;

    /// Rounds a block of activations.
    ///
    /// # Panics
    /// When `values` is not `[BLOCK_ELEMS]`; [`encode_row`] checks it.
    fn encode(values: &[f32]) -> Self;

    /// Reads a block from its bytes. Every byte string is a block: nothing is checked but the length.
    ///
    /// # Panics
    /// When `bytes` is not `[BLOCK_BYTES]`.
    fn from_bytes(bytes: &[u8]) -> Self;

    /// Writes the block's bytes.
    ///
    /// # Panics
    /// When `out` is not `[BLOCK_BYTES]`.
    fn write_bytes(&self, out: &mut [u8]);

    /// The block's scale `da`.
    fn scale(&self) -> f32;

    /// The block's integers, `[BLOCK_ELEMS]`, in -127..=127.
    fn integers(&self) -> &[i8];
}

/// Encodes a row of whole blocks into `out`, block after block.
///
/// # Errors
/// [`LengthMismatch`] when `values` is not a whole number of blocks or `out` is not their number of bytes.
pub fn encode_row<A: ActivationFormat>(
    values: &[f32],
    out: &mut [u8],
) -> Result<(), LengthMismatch> {
    let blocks = values.len() / A::BLOCK_ELEMS;
    let whole =
        values.len().is_multiple_of(A::BLOCK_ELEMS) && out.len().is_multiple_of(A::BLOCK_BYTES);
    if !whole || blocks != out.len() / A::BLOCK_BYTES {
        return Err(LengthMismatch {
            format: A::NAME,
            block_bytes: A::BLOCK_BYTES,
            block_elems: A::BLOCK_ELEMS,
            bytes: out.len(),
            elems: values.len(),
        });
    }
    for (values, out) in values
        .chunks_exact(A::BLOCK_ELEMS)
        .zip(out.chunks_exact_mut(A::BLOCK_BYTES))
    {
        A::encode(values).write_bytes(out);
    }
    Ok(())
}

/// Magnitudes below this become an all-zero block, so that `127 / amax` stays finite: 2^-100.
const AMAX_MIN: f32 = f32::from_bits((127 - 100) << 23);

/// Rounds one block by the rule in the module doc and returns `da`. `q` has the length of `values`.
fn round_block(values: &[f32], q: &mut [i8]) -> f32 {
    q.fill(0);
    if !values.iter().all(|x| x.is_finite()) {
        return CANONICAL_NAN_F32;
    }
    let amax = values
        .iter()
        .fold(0f32, |amax, x| if x.abs() > amax { x.abs() } else { amax });
    if amax < AMAX_MIN {
        return 0.0;
    }
    let inverse = 127.0 / amax;
    for (&x, q) in values.iter().zip(q) {
        *q = round_ties_even(x * inverse).clamp(-127.0, 127.0) as i8;
    }
    amax / 127.0
}

/// Rounds to the nearest integer, ties to even, for magnitudes below 2^22. Two additions do it: next to 1.5 * 2^23 the
/// spacing of f32 is 1. The standard library's function would be a library call on CPUs without SSE4.1.
fn round_ties_even(x: f32) -> f32 {
    const SHIFT: f32 = 12_582_912.0;
    (x + SHIFT) - SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_agrees_with_the_standard_library() {
        for i in -130_000i32..=130_000 {
            for x in [i as f32 / 1000.0, i as f32 / 1024.0, i as f32 / 2.0] {
                assert_eq!(round_ties_even(x), x.round_ties_even(), "{x}");
            }
        }
    }

    #[test]
    fn scale_and_integers_follow_the_rule() {
        let mut q = [9i8; 4];
        // 127 / 2 = 63.5: the products 31.75, -63.5 and 63.5 / 127 * 0.5 are exact by hand.
        assert_eq!(round_block(&[2.0, 0.5, -1.0, 0.0], &mut q), 2.0 / 127.0);
        assert_eq!(q, [127, 32, -64, 0]);
        // amax = 127 makes the factor 1, so that the ties are visible.
        assert_eq!(round_block(&[-127.0, 0.5, 1.5, -2.5], &mut q), 1.0);
        assert_eq!(q, [-127, 0, 2, -2]);
    }

    #[test]
    fn tiny_blocks_are_zero_and_the_limit_itself_is_not() {
        let limit = 2f32.powi(-100);
        let mut q = [9i8; 2];
        assert_eq!(round_block(&[limit, -limit], &mut q), limit / 127.0);
        assert_eq!(q, [127, -127]);
        let below = f32::from_bits(limit.to_bits() - 1);
        assert_eq!(round_block(&[below, -below], &mut q).to_bits(), 0);
        assert_eq!(q, [0, 0]);
    }

    #[test]
    fn a_value_that_is_not_finite_poisons_the_scale_alone() {
        for bad in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut q = [9i8; 3];
            assert_eq!(round_block(&[1.0, bad, 2.0], &mut q).to_bits(), 0x7fc0_0000);
            assert_eq!(q, [0, 0, 0]);
        }
    }
}
