//! How far an implementation of the tolerant class may be from the true result (`docs/numerics.md`, rule 10).
//!
//! One function for each operation that states a bound. The true result is summed in f64 from the same operands, whose
//! products are exact there, so its own error is far below what is allowed.

use crate::case::Case;
use crate::oracle::Matrix;
use guild_abi::formats::GUILD_FORMAT_BF16;

/// States what an implementation may give for each element of each output, outermost axis first. `None` where no bound
/// is stated for such operands: a tolerant implementation must decline them.
pub type Tolerance = fn(&Case) -> Option<Vec<Vec<Allowed>>>;

/// What one element of an output may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allowed {
    /// A number this near to the true result.
    Within {
        /// The true result.
        value: f64,
        /// The largest distance.
        error: f64,
    },
    /// NaN: there is one among the operands.
    Nan,
    /// NaN or an infinity: there is an infinity among the operands.
    NotFinite,
    /// Whatever it is: a sum may exceed what f32 holds.
    Anything,
}

impl Allowed {
    /// Whether `got` is allowed.
    #[must_use]
    pub fn allows(&self, got: f32) -> bool {
        match self {
            // NaN is no distance.
            Allowed::Within { value, error } => (f64::from(got) - value).abs() <= *error,
            Allowed::Nan => got.is_nan(),
            Allowed::NotFinite => !got.is_finite(),
            Allowed::Anything => true,
        }
    }
}

impl core::fmt::Display for Allowed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Allowed::Within { value, error } => write!(f, "{value:e} +/- {error:e}"),
            Allowed::Nan => f.write_str("NaN"),
            Allowed::NotFinite => f.write_str("NaN or an infinity"),
            Allowed::Anything => f.write_str("anything"),
        }
    }
}

/// `guild.core.linear@1` with BF16 weights.
#[must_use]
pub fn linear(case: &Case) -> Option<Vec<Vec<Allowed>>> {
    let (x, weights) = case.inputs.split_first()?;
    if weights
        .iter()
        .any(|weight| weight.format != GUILD_FORMAT_BF16)
    {
        return None;
    }
    let k = *x.shape.last()?;
    let x: Vec<f64> = x
        .bytes
        .as_chunks()
        .0
        .iter()
        .map(|&x| f64::from(f32::from_le_bytes(x)))
        .collect();
    weights
        .iter()
        .map(|weight| {
            let weight = Matrix::new(weight.format, &weight.bytes, k)?;
            let rows: Vec<Vec<f64>> = (0..weight.rows())
                .map(|row| weight.decode(row).iter().map(|&w| w.into()).collect())
                .collect();
            let outputs = x
                .chunks_exact(k)
                .flat_map(|x| rows.iter().map(|w| bf16_dot(w, x)));
            Some(outputs.collect())
        })
        .collect()
}

/// Rounding to BF16: half a unit in the last of eight significant bits.
const BF16_ROUNDING: f64 = 1.0 / 256.0;
/// Twice the rounding of an f32 operation.
const F32_ROUNDING: f64 = 1.0 / (1u64 << 23) as f64;

/// The dot of BF16 weights with activations that may be rounded to BF16, summed as f32 in any order, what is subnormal
/// on the way being flushed or not.
fn bf16_dot(w: &[f64], x: &[f64]) -> Allowed {
    let smallest_normal = f64::from(f32::MIN_POSITIVE);
    let largest = f64::from(f32::MAX);
    if w.iter().chain(x).any(|value| value.is_nan()) {
        return Allowed::Nan;
    }
    if w.iter().chain(x).any(|value| value.is_infinite()) {
        return Allowed::NotFinite;
    }
    let (mut value, mut magnitude, mut flushed) = (0.0, 0.0, 0.0);
    for (w, x) in w.iter().zip(x) {
        value += w * x;
        magnitude += (w * x).abs();
        flushed += smallest_normal * (w.abs() + x.abs() + 2.0);
    }
    // From here on an activation rounds to an infinity, and a sum may become one.
    let overflows = |value: f64| value * (1.0 + 2.0 * BF16_ROUNDING) >= largest;
    if overflows(magnitude) || x.iter().any(|x| overflows(x.abs())) {
        return Allowed::Anything;
    }
    let relative = BF16_ROUNDING + w.len() as f64 * F32_ROUNDING;
    Allowed::Within {
        value,
        error: relative * magnitude + flushed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_rounding_is_allowed_and_more_is_not() {
        // Half way between two BF16 numbers.
        let x = 1.0 + f64::from(2.0f32.powi(-8));
        let allowed = bf16_dot(&[1.0], &[x]);
        assert!(allowed.allows(1.0) && allowed.allows(1.007_812_5));
        assert!(!allowed.allows(0.996) && !allowed.allows(1.012) && !allowed.allows(f32::NAN));
        // Cancelled sums have the error of their terms.
        assert!(bf16_dot(&[1.0, -1.0], &[x, x]).allows(0.007));
        assert!(!bf16_dot(&[1.0, -1.0], &[x, x]).allows(0.009));
    }

    #[test]
    fn what_is_not_finite_stays_so() {
        let infinity = f64::INFINITY;
        assert_eq!(bf16_dot(&[f64::NAN, infinity], &[1.0, 1.0]), Allowed::Nan);
        assert_eq!(bf16_dot(&[1.0, infinity], &[1.0, 1.0]), Allowed::NotFinite);
        assert!(!Allowed::NotFinite.allows(f32::MAX) && Allowed::NotFinite.allows(f32::NAN));
        assert!(!Allowed::Nan.allows(f32::INFINITY));
        assert_eq!(bf16_dot(&[1.0, 1.0], &[3e38, 3e38]), Allowed::Anything);
        assert_eq!(bf16_dot(&[0.0], &[f32::MAX.into()]), Allowed::Anything);
        assert!(bf16_dot(&[1.0], &[f32::MIN_POSITIVE.into()]).allows(0.0));
    }
}
