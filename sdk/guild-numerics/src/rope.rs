//! RoPE angles in f64 code of our own (`docs/numerics.md`, rule 1).
//!
//! Only f64 add, subtract, multiply and divide are used, one rounding each, so every machine gives
//! the same bits. Results are good to about 1e-14 before they are rounded to f32.

use crate::double::{exp2, log2};

/// Frequencies for one head: `theta^(-2 i / rotary_dims)` for pair `i`, or that divided by a factor.
#[derive(Clone, Debug)]
pub struct RopeFrequencies {
    per_pair: Vec<f64>,
}

impl RopeFrequencies {
    /// Frequencies of `rotary_dims / 2` pairs for base `theta`, which must be above 0.
    #[must_use]
    pub fn new(theta: f64, rotary_dims: u32) -> RopeFrequencies {
        let log2_theta = log2(theta);
        let per_pair = (0..rotary_dims / 2)
            .map(|pair| exp2(-(f64::from(2 * pair) / f64::from(rotary_dims)) * log2_theta))
            .collect();
        RopeFrequencies { per_pair }
    }

    /// The same frequencies, each divided by its factor; `None` where the factors aren't as many as
    /// the pairs, or one isn't finite and above 0.
    #[must_use]
    pub fn divided_by(mut self, factors: &[f32]) -> Option<RopeFrequencies> {
        let usable = |factor: &f32| factor.is_finite() && *factor > 0.0;
        if factors.len() != self.per_pair.len() || !factors.iter().all(usable) {
            return None;
        }
        for (frequency, factor) in self.per_pair.iter_mut().zip(factors) {
            *frequency /= f64::from(*factor);
        }
        Some(self)
    }

    /// Pairs of elements that are rotated.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.per_pair.len()
    }

    /// Writes cosine and sine of each pair's angle at `position`. Both slices hold
    /// [`RopeFrequencies::pairs`] values; longer ones keep their tails. Inlined, so that it runs on the
    /// vectors that its caller has.
    #[inline(always)]
    pub fn angles(&self, position: u64, cos: &mut [f32], sin: &mut [f32]) {
        for ((frequency, cos), sin) in self.per_pair.iter().zip(cos).zip(sin) {
            let (s, c) = sin_cos(position as f64 * frequency);
            *cos = c as f32;
            *sin = s as f32;
        }
    }
}

/// Sine and cosine of `x` for `0 <= x < 2^31`.
#[inline(always)]
fn sin_cos(x: f64) -> (f64, f64) {
    // Pi / 2 in three parts; the first two have 33 significant bits, so that `n * part` is exact.
    const PART_1: f64 = f64::from_bits(0x3ff9_21fb_5440_0000);
    const PART_2: f64 = f64::from_bits(0x3dd0_b461_1a60_0000);
    const PART_3: f64 = f64::from_bits(0x3ba3_198a_2e03_7073);
    let n = (x * core::f64::consts::FRAC_2_PI).round_ties_even();
    let r = x - n * PART_1 - n * PART_2 - n * PART_3;
    let z = r * r;
    let mut sine = 1.0;
    let mut cosine = 1.0;
    for k in (1..10).rev() {
        let k = f64::from(k);
        sine = 1.0 - sine * z / ((2.0 * k) * (2.0 * k + 1.0));
        cosine = 1.0 - cosine * z / ((2.0 * k - 1.0) * (2.0 * k));
    }
    let sine = sine * r;
    // The quarter turn, without a branch.
    let quarter = n - 4.0 * (n * 0.25).floor();
    let odd = quarter == 1.0 || quarter == 3.0;
    let (s, c) = if odd { (cosine, sine) } else { (sine, cosine) };
    (
        if quarter >= 2.0 { -s } else { s },
        if quarter == 1.0 || quarter == 2.0 {
            -c
        } else {
            c
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sine_and_cosine_agree_with_the_library_to_1e_10() {
        let mut x = 0.0f64;
        while x < 300_000.0 {
            let (s, c) = sin_cos(x);
            assert!(
                (s - x.sin()).abs() < 1e-10 && (c - x.cos()).abs() < 1e-10,
                "{x}"
            );
            x += 0.377;
        }
        assert_eq!(sin_cos(0.0), (0.0, 1.0));
    }

    #[test]
    fn frequencies_agree_with_the_library_to_1e_13() {
        for theta in [1e4, 1e6, 1e7, 5e5] {
            let frequencies = RopeFrequencies::new(theta, 64);
            for (pair, got) in frequencies.per_pair.iter().enumerate() {
                let want = theta.powf(-(2.0 * pair as f64) / 64.0);
                assert!(
                    (got - want).abs() < 1e-13 * want,
                    "{theta} {pair}: {got} {want}"
                );
            }
        }
    }

    #[test]
    fn factors_divide_the_frequencies() {
        let plain = RopeFrequencies::new(5e5, 6);
        let halved = plain.clone().divided_by(&[1.0, 2.0, 32.0]).unwrap();
        let want = [
            plain.per_pair[0],
            plain.per_pair[1] / 2.0,
            plain.per_pair[2] / 32.0,
        ];
        assert_eq!(halved.per_pair, want);
        for wrong in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert!(plain.clone().divided_by(&[1.0, wrong, 1.0]).is_none());
        }
        assert!(plain.divided_by(&[1.0, 1.0]).is_none());
    }

    #[test]
    fn position_zero_rotates_nothing() {
        let frequencies = RopeFrequencies::new(1e7, 16);
        let (mut cos, mut sin) = ([9.0f32; 8], [9.0f32; 8]);
        frequencies.angles(0, &mut cos, &mut sin);
        assert_eq!((cos, sin), ([1.0; 8], [0.0; 8]));
    }
}
