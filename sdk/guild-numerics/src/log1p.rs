//! `log1p` on `[0, 1]` and `softplus` of the exact class (`docs/numerics.md`, rule 1).
//!
//! With `s = y / (2 + y)`, `log1p(y) = 2 atanh(s)`, and `s <= 1/3`, where the odd power series
//! converges quickly.

use crate::exp::exp;
use crate::lanes::Lanes;

/// `1 / (2k + 1)` for k from 9 down to 1: the coefficients of `atanh(s) / s - 1` in `s^2`.
const ATANH: [f32; 9] = [
    1.0 / 19.0,
    1.0 / 17.0,
    1.0 / 15.0,
    1.0 / 13.0,
    1.0 / 11.0,
    1.0 / 9.0,
    1.0 / 7.0,
    1.0 / 5.0,
    1.0 / 3.0,
];

/// `ln(1 + y)` for `y` in `[0, 1]`.
#[inline(always)]
pub fn log1p_unit<L: Lanes>(lanes: L, y: L::F) -> L::F {
    let s = lanes.div(y, lanes.add(lanes.splat(2.0), y));
    let z = lanes.mul(s, s);
    let mut p = lanes.splat(ATANH[0]);
    for coefficient in &ATANH[1..] {
        p = lanes.fma(p, z, lanes.splat(*coefficient));
    }
    let twice = lanes.add(s, s);
    lanes.fma(lanes.mul(twice, z), p, twice)
}

/// `ln(1 + e^x)`, as `max(x, 0) + log1p(e^-|x|)`; NaN for NaN.
#[inline(always)]
pub fn softplus<L: Lanes>(lanes: L, x: L::F) -> L::F {
    let tail = log1p_unit(lanes, exp(lanes, lanes.neg(lanes.abs(x))));
    let zero = lanes.splat(0.0);
    let positive = lanes.select(lanes.greater(x, zero), x, zero);
    lanes.add(positive, tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::Scalar;

    #[test]
    fn log1p_is_close_to_the_true_value() {
        for step in 0..=1_000_000u32 {
            let y = step as f32 / 1_000_000.0;
            let want = f64::from(y).ln_1p();
            let got = f64::from(log1p_unit(Scalar, y));
            assert!(
                (got - want).abs() <= 3e-7 * want,
                "{y}: {got} against {want}"
            );
        }
    }

    #[test]
    fn softplus_is_close_to_the_true_value_and_keeps_nan() {
        for step in -4000..4000 {
            let x = step as f32 / 100.0;
            let want = f64::from(x).exp().ln_1p();
            let got = f64::from(softplus(Scalar, x));
            assert!(
                (got - want).abs() <= 4e-7 * want,
                "{x}: {got} against {want}"
            );
        }
        assert!(softplus(Scalar, f32::NAN).is_nan());
        assert_eq!(softplus(Scalar, f32::INFINITY), f32::INFINITY);
    }
}
