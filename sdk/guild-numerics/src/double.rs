//! `log2`, `exp2`, `ln` and `exp` in f64 code of our own (`docs/numerics.md`, rule 1).
//!
//! Only f64 add, subtract, multiply and divide are used, one rounding each, so every machine gives
//! the same bits.

const LN_2: f64 = core::f64::consts::LN_2;

/// `log2(x)` for a positive, normal `x`.
#[must_use]
pub fn log2(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) as i64 - 1023) as f64;
    let mut mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    if mantissa > core::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1.0;
    }
    // 2 atanh(s) with |s| <= 0.172; the series is cut where its term is below 1e-17.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let z = s * s;
    let mut series = 0.0;
    for k in (0..12).rev() {
        series = series * z + 1.0 / f64::from(2 * k + 1);
    }
    exponent + 2.0 * s * series / LN_2
}

/// `2^x` for `|x| < 1000`.
#[must_use]
pub fn exp2(x: f64) -> f64 {
    let n = x.round_ties_even();
    let r = (x - n) * LN_2;
    let mut series = 1.0;
    for k in (1..18).rev() {
        series = 1.0 + series * r / f64::from(k);
    }
    series * f64::from_bits(((n as i64 + 1023) as u64) << 52)
}

/// `ln(x)` for a positive, normal `x`, within 2e-15 relative and 2e-16 absolute.
#[must_use]
pub fn ln(x: f64) -> f64 {
    log2(x) * LN_2
}

/// `e^x`, within 1e-13 relative for `|x| <= 690`. Above that infinity, below -690 zero, NaN for NaN.
#[must_use]
pub fn exp(x: f64) -> f64 {
    const LIMIT: f64 = 690.0;
    if x > LIMIT {
        f64::INFINITY
    } else if x < -LIMIT {
        0.0
    } else if x.is_nan() {
        f64::NAN
    } else {
        exp2(x * core::f64::consts::LOG2_E)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of `function argument value`, f64 bits in hexadecimal, from Python's `decimal` at 60 digits
    /// (`tests/data/numerics/make_double.py`).
    const TABLE: &str = include_str!("../../../tests/data/numerics/double.txt");

    #[test]
    fn values_agree_with_correctly_rounded_ones() {
        let bits = |word: &str| f64::from_bits(u64::from_str_radix(word, 16).unwrap());
        let mut seen = [0, 0];
        for line in TABLE.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let (x, want) = (bits(words[1]), bits(words[2]));
            let (got, bound) = match words[0] {
                "ln" => (ln(x), 2e-15 * want.abs() + 2e-16),
                "exp" => (exp(x), 1e-13 * want),
                other => panic!("{other}"),
            };
            assert!((got - want).abs() <= bound, "{line}: {got} for {want}");
            seen[usize::from(words[0] == "exp")] += 1;
        }
        assert_eq!(seen, [1000, 1000]);
    }

    #[test]
    fn limits_are_as_documented() {
        assert_eq!(ln(1.0).to_bits(), 0);
        assert_eq!(exp(0.0), 1.0);
        assert_eq!((exp(691.0), exp(-691.0)), (f64::INFINITY, 0.0));
        assert!(exp(f64::NAN).is_nan());
    }
}
