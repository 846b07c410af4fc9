//! Conversions between f32 and the two 16-bit floats, in integer arithmetic.
//!
//! Widening is exact. Narrowing rounds to nearest, ties to even, keeps subnormals, and turns values beyond
//! the largest finite number into an infinity, as IEEE 754 section 7.4 has it. Every NaN becomes the
//! canonical NaN of the target (`docs/numerics.md`, rule 1), so no payload or sign of a NaN survives.
//! All functions are pure and may be called from any thread.

/// The one NaN that f32 results carry.
pub const CANONICAL_NAN_F32: f32 = f32::from_bits(0x7fc0_0000);
/// The one NaN that F16 results carry, as bits.
pub const CANONICAL_NAN_F16: u16 = 0x7e00;
/// The one NaN that BF16 results carry, as bits.
pub const CANONICAL_NAN_BF16: u16 = 0x7fc0;

/// The value of an IEEE binary16 number given as bits.
#[must_use]
pub const fn f16_to_f32(half: u16) -> f32 {
    let sign = ((half & 0x8000) as u32) << 16;
    let exponent = ((half >> 10) & 0x1f) as u32;
    let fraction = (half & 0x03ff) as u32;
    let magnitude = match (exponent, fraction) {
        (0, 0) => 0,
        (0, _) => {
            // A subnormal is fraction * 2^-24; its leading bit becomes the implicit one.
            let leading = 31 - fraction.leading_zeros();
            let exponent_f32 = leading + 127 - 24;
            (exponent_f32 << 23) | ((fraction << (23 - leading)) & 0x007f_ffff)
        }
        (31, 0) => 0x7f80_0000,
        (31, _) => return CANONICAL_NAN_F32,
        _ => ((exponent + 127 - 15) << 23) | (fraction << 13),
    };
    f32::from_bits(sign | magnitude)
}

/// The IEEE binary16 number nearest to `value`, as bits; ties go to the even one.
#[must_use]
pub const fn f32_to_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = ((bits >> 16) & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return CANONICAL_NAN_F16;
    }
    // 65520 lies half way between the largest finite number and the next power of two, which is the even one.
    if magnitude >= 0x477f_f000 {
        return sign | 0x7c00;
    }
    if magnitude >= 0x3880_0000 {
        let rebased = magnitude - ((127 - 15) << 23);
        let rounded = rebased + 0x0fff + ((rebased >> 13) & 1);
        return sign | (rounded >> 13) as u16;
    }
    // Half of the smallest subnormal, 2^-25, is a tie with the even zero.
    if magnitude <= 0x3300_0000 {
        return sign;
    }
    let significand = (magnitude & 0x007f_ffff) | 0x0080_0000;
    let shift = 126 - (magnitude >> 23);
    let quotient = significand >> shift;
    let remainder = significand & ((1 << shift) - 1);
    let half = 1 << (shift - 1);
    let up = remainder > half || (remainder == half && quotient & 1 == 1);
    sign | (quotient + up as u32) as u16
}

/// The value of a BF16 number (the upper half of an f32) given as bits.
#[must_use]
pub const fn bf16_to_f32(brain: u16) -> f32 {
    if brain & 0x7fff > 0x7f80 {
        return CANONICAL_NAN_F32;
    }
    f32::from_bits((brain as u32) << 16)
}

/// The BF16 number nearest to `value`, as bits; ties go to the even one.
#[must_use]
pub const fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    if bits & 0x7fff_ffff > 0x7f80_0000 {
        return CANONICAL_NAN_BF16;
    }
    ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// IEEE 754 section 3.4 as a formula over f64, which holds every f16 and bf16 exactly.
    fn formula(bits: u16, exponent_bits: u32, fraction_bits: u32) -> f64 {
        let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
        let exponent = i32::from((bits & 0x7fff) >> fraction_bits);
        let fraction = f64::from(bits & ((1 << fraction_bits) - 1)) / f64::from(1 << fraction_bits);
        let bias = (1 << (exponent_bits - 1)) - 1;
        match exponent {
            e if e == (1 << exponent_bits) - 1 && fraction == 0.0 => sign * f64::INFINITY,
            e if e == (1 << exponent_bits) - 1 => f64::NAN,
            0 => sign * fraction * 2f64.powi(1 - bias),
            e => sign * (1.0 + fraction) * 2f64.powi(e - bias),
        }
    }

    fn assert_widens(got: f32, want: f64, bits: u16) {
        if want.is_nan() {
            assert_eq!(got.to_bits(), CANONICAL_NAN_F32.to_bits(), "{bits:#06x}");
        } else {
            assert_eq!(f64::from(got).to_bits(), want.to_bits(), "{bits:#06x}");
        }
    }

    #[test]
    fn every_f16_widens_to_its_formula_and_back() {
        for bits in 0..=u16::MAX {
            let want = formula(bits, 5, 10);
            assert_widens(f16_to_f32(bits), want, bits);
            let back = if want.is_nan() {
                CANONICAL_NAN_F16
            } else {
                bits
            };
            assert_eq!(f32_to_f16(f16_to_f32(bits)), back, "{bits:#06x}");
        }
    }

    #[test]
    fn every_bf16_widens_to_its_formula_and_back() {
        for bits in 0..=u16::MAX {
            let want = formula(bits, 8, 7);
            assert_widens(bf16_to_f32(bits), want, bits);
            let back = if want.is_nan() {
                CANONICAL_NAN_BF16
            } else {
                bits
            };
            assert_eq!(f32_to_bf16(bf16_to_f32(bits)), back, "{bits:#06x}");
        }
    }

    /// Between two neighbours the only place where the answer changes is their midpoint, which f32 holds
    /// exactly. So the midpoint and the f32 on each side of it pin the rounding for the whole interval.
    #[test]
    fn narrowing_changes_exactly_at_midpoints_and_ties_go_to_even() {
        for (narrow, exponent_bits, fraction_bits, infinity) in [
            (f32_to_f16 as fn(f32) -> u16, 5, 10, 0x7c00u16),
            (f32_to_bf16, 8, 7, 0x7f80),
        ] {
            for low in 0..infinity {
                let high = low + 1;
                let low_value = formula(low, exponent_bits, fraction_bits);
                let high_value = if high == infinity {
                    2.0 * low_value - formula(low - 1, exponent_bits, fraction_bits)
                } else {
                    formula(high, exponent_bits, fraction_bits)
                };
                let middle = ((low_value + high_value) / 2.0) as f32;
                assert_eq!(
                    f64::from(middle),
                    (low_value + high_value) / 2.0,
                    "midpoint is exact"
                );
                let even = if low % 2 == 0 { low } else { high };
                for sign in [0u16, 0x8000] {
                    let signed = |bits: u32| f32::from_bits(bits | u32::from(sign) << 16);
                    assert_eq!(
                        narrow(signed(middle.to_bits())),
                        even | sign,
                        "{low:#06x} tie"
                    );
                    assert_eq!(
                        narrow(signed(middle.to_bits() - 1)),
                        low | sign,
                        "{low:#06x} below"
                    );
                    assert_eq!(
                        narrow(signed(middle.to_bits() + 1)),
                        high | sign,
                        "{low:#06x} above"
                    );
                }
            }
        }
    }

    #[test]
    fn overflow_and_nan() {
        assert_eq!(f32_to_f16(65519.996), 0x7bff);
        assert_eq!(f32_to_f16(65520.0), 0x7c00);
        assert_eq!(f32_to_f16(-f32::MAX), 0xfc00);
        assert_eq!(f32_to_f16(f32::NEG_INFINITY), 0xfc00);
        assert_eq!(f32_to_bf16(f32::MAX), 0x7f80);
        assert_eq!(f32_to_bf16(f32::NEG_INFINITY), 0xff80);
        for nan in [0x7f80_0001, 0x7fff_ffff, 0xff80_0001, 0xffff_ffff] {
            assert_eq!(f32_to_f16(f32::from_bits(nan)), CANONICAL_NAN_F16);
            assert_eq!(f32_to_bf16(f32::from_bits(nan)), CANONICAL_NAN_BF16);
        }
    }
}
