//! `exp`, `sigmoid` and `silu` of the exact class (`docs/numerics.md`, rule 1).
//!
//! The argument is split as `x = n ln 2 + r`. A polynomial of degree 7 in `r` is scaled by `2^n` in
//! two steps, the first of which is exact, so that results in the subnormal range are rounded once.
//! The polynomial's constant term is 1, so `exp(0) == 1`.

use crate::convert::CANONICAL_NAN_F32;
use crate::lanes::{Lanes, Scalar};

/// Above this argument the result is infinite.
pub const EXP_OVERFLOW: f32 = f32::from_bits(0x42b1_7217);
/// Below this argument the result is +0.
pub const EXP_UNDERFLOW: f32 = f32::from_bits(0xc2cf_f1b4);

const LOG2_E: f32 = f32::from_bits(0x3fb8_aa3b);
/// The leading bits of ln 2: `n * LN2_HIGH` is exact for every `n` that occurs.
const LN2_HIGH: f32 = f32::from_bits(0x3f31_8000);
/// `ln 2 - LN2_HIGH`, which is negative.
const LN2_LOW: f32 = f32::from_bits(0xb95e_8083);
/// Coefficients of `(e^r - 1 - r) / r^2` on `|r| <= ln 2 / 2`, highest power first.
const POLYNOMIAL: [f32; 6] = [
    f32::from_bits(0x3950_6967),
    f32::from_bits(0x3ab7_43ce),
    f32::from_bits(0x3c08_8908),
    f32::from_bits(0x3d2a_a9c1),
    f32::from_bits(0x3e2a_aaaa),
    f32::from_bits(0x3f00_0000),
];

/// `e^x`, within 2 units in the last place.
#[inline(always)]
pub fn exp<L: Lanes>(lanes: L, x: L::F) -> L::F {
    let n = lanes.round(lanes.mul(x, lanes.splat(LOG2_E)));
    let high = lanes.splat(EXP_OVERFLOW);
    let low = lanes.splat(EXP_UNDERFLOW);
    let overflow = lanes.greater(x, high);
    let underflow = lanes.greater(low, x);
    let nan = lanes.is_nan(x);
    let r = lanes.fma(n, lanes.splat(-LN2_HIGH), x);
    let r = lanes.fma(n, lanes.splat(-LN2_LOW), r);
    let mut p = lanes.splat(POLYNOMIAL[0]);
    for coefficient in &POLYNOMIAL[1..] {
        p = lanes.fma(p, r, lanes.splat(*coefficient));
    }
    let y = lanes.fma(p, lanes.mul(r, r), r);
    let y = lanes.add(y, lanes.splat(1.0));

    // The lanes that are replaced had an `n` out of range, or NaN.
    let y = lanes.scale(y, n);
    let y = lanes.select(overflow, lanes.splat(f32::INFINITY), y);
    let y = lanes.select(underflow, lanes.splat(0.0), y);
    lanes.select(nan, lanes.splat(CANONICAL_NAN_F32), y)
}

/// `1 / (1 + e^-x)`.
#[inline(always)]
pub fn sigmoid<L: Lanes>(lanes: L, x: L::F) -> L::F {
    let one = lanes.splat(1.0);
    lanes.div(one, lanes.add(one, exp(lanes, lanes.neg(x))))
}

/// `x / (1 + e^-x)`.
#[inline(always)]
pub fn silu<L: Lanes>(lanes: L, x: L::F) -> L::F {
    let one = lanes.splat(1.0);
    lanes.div(x, lanes.add(one, exp(lanes, lanes.neg(x))))
}

/// [`exp`] of one value.
#[must_use]
pub fn exp_f32(x: f32) -> f32 {
    exp(Scalar, x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The f64 library value is within 1e-15 relative, far below an f32 unit in the last place.
    fn units_off(got: f32, want: f64) -> f64 {
        let unit = f64::from(f32::from_bits((want as f32).to_bits() + 1)) - f64::from(want as f32);
        (f64::from(got) - want).abs() / unit
    }

    #[test]
    fn exp_is_within_two_units_of_the_true_value() {
        let mut worst = 0.0f64;
        for step in 0..2_000_000 {
            let x = -103.9f32 + step as f32 * (192.6 / 2_000_000.0);
            worst = worst.max(units_off(exp_f32(x), f64::from(x).exp()));
        }
        assert!(worst <= 2.0, "{worst} units");
    }

    #[test]
    fn exp_has_the_exact_and_the_limiting_values() {
        assert_eq!(exp_f32(0.0).to_bits(), 1.0f32.to_bits());
        assert_eq!(exp_f32(-0.0).to_bits(), 1.0f32.to_bits());
        assert_eq!(exp_f32(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp_f32(89.0), f32::INFINITY);
        assert_eq!(exp_f32(f32::NEG_INFINITY).to_bits(), 0);
        assert_eq!(exp_f32(-105.0).to_bits(), 0);
        assert!(exp_f32(EXP_OVERFLOW).is_finite());
        assert!(exp_f32(EXP_UNDERFLOW) > 0.0);
        assert_eq!(
            exp_f32(f32::from_bits(0xffff_ffff)).to_bits(),
            CANONICAL_NAN_F32.to_bits()
        );
    }

    #[test]
    fn sigmoid_and_silu_follow_from_exp() {
        assert_eq!(sigmoid(Scalar, 0.0), 0.5);
        assert_eq!(sigmoid(Scalar, 200.0), 1.0);
        assert_eq!(sigmoid(Scalar, -200.0), 0.0);
        assert_eq!(silu(Scalar, 0.0), 0.0);
        assert!((f64::from(silu(Scalar, 1.5)) - 1.5 / (1.0 + (-1.5f64).exp())).abs() < 1e-7);
    }
}
