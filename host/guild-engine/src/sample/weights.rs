//! Weights of tokens: `exp((logit - largest) / temperature)` as a share of the largest one, which is 1.
//!
//! Shares are summed as integers, 2^-40 being 1: no order of a sum, and so no number of threads and no
//! way of sorting, can change a bit. A token below 2^-41 of the best one's probability weighs nothing;
//! [`TOKENS_MAX`] tokens can be summed.

use guild_numerics::exp::exp;
use guild_numerics::lanes::Scalar;

/// Tokens whose weights can be summed: 2^23 of at most 2^40 each are 2^63. A sampler for more is refused.
pub(super) const TOKENS_MAX: usize = 1 << 23;

/// Values that are computed at once.
const BLOCK: usize = 64;

/// Knows the way to compute a block of shares on this processor. Every way gives the same bits.
#[derive(Clone, Copy)]
pub(crate) struct Weigher {
    #[cfg(target_arch = "x86_64")]
    has_fma: bool,
}

/// A share from 0 to 1 in units of 2^-40, rounded to nearest, ties to even.
#[inline(always)]
pub(super) fn fixed(share: f32) -> u64 {
    // The last bit of an f64 between 2^12 and 2^13 is worth 2^-40.
    const BASE: f64 = 4096.0;
    (f64::from(share) + BASE).to_bits() - BASE.to_bits()
}

impl Weigher {
    /// Looks at the processor.
    pub(crate) fn new() -> Weigher {
        Weigher {
            #[cfg(target_arch = "x86_64")]
            has_fma: is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
        }
    }

    /// The share of one logit at temperature 1.
    pub(super) fn one(self, logit: f32, largest: f32) -> f32 {
        share(logit, largest, 1.0)
    }

    /// Walks over `ids` in blocks, as long as `visit` returns true. It gets the block's ids and shares,
    /// and the sum of their weights.
    pub(super) fn each(
        self,
        logits: &[f32],
        ids: &[u32],
        largest: f32,
        temperature: f32,
        mut visit: impl FnMut(&[u32], &[f32], u64) -> bool,
    ) {
        let mut block = [0.0; BLOCK];
        for ids in ids.chunks(BLOCK) {
            let values = &mut block[..ids.len()];
            for (value, id) in values.iter_mut().zip(ids) {
                *value = logits[*id as usize];
            }
            let sum = self.weigh(values, largest, temperature);
            if !visit(ids, values, sum) {
                return;
            }
        }
    }

    /// As [`Weigher::each`] for all tokens; `visit` gets the block's first id.
    pub(crate) fn each_of_all(
        self,
        logits: &[f32],
        largest: f32,
        temperature: f32,
        mut visit: impl FnMut(u32, &[f32], u64) -> bool,
    ) {
        let mut block = [0.0; BLOCK];
        for (some, first) in logits.chunks(BLOCK).zip((0u32..).step_by(BLOCK)) {
            let values = &mut block[..some.len()];
            values.copy_from_slice(some);
            let sum = self.weigh(values, largest, temperature);
            if !visit(first, values, sum) {
                return;
            }
        }
    }

    /// Turns logits into shares and returns the sum of their weights.
    fn weigh(self, values: &mut [f32], largest: f32, temperature: f32) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if self.has_fma {
            // SAFETY: the function needs AVX2 and FMA; `new`, the only maker of a `Weigher`, has seen
            // that the processor and the system have both.
            return unsafe { weigh_with_fma(values, largest, temperature) };
        }
        weigh_in_plain(values, largest, temperature)
    }
}

/// One share. Everything is scalar code; a compiler may do several at once, which changes no bit.
#[inline(always)]
fn share(logit: f32, largest: f32, temperature: f32) -> f32 {
    exp(Scalar, (logit - largest) / temperature)
}

#[inline(always)]
fn weigh_in_plain(values: &mut [f32], largest: f32, temperature: f32) -> u64 {
    for value in values.iter_mut() {
        *value = share(*value, largest, temperature);
    }
    values.iter().map(|share| fixed(*share)).sum()
}

/// The same code for processors whose fused multiply-add is an instruction: elsewhere it is a call.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn weigh_with_fma(values: &mut [f32], largest: f32, temperature: f32) -> u64 {
    weigh_in_plain(values, largest, temperature)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_give_the_same_bits_and_exp_of_the_difference() {
        let logits: Vec<f32> = (0..5000).map(|i| 30.0 - i as f32 * 0.0217).collect();
        for temperature in [0.3f32, 1.0, 7.5, 1e-30] {
            let mut plain = logits.clone();
            let sum = weigh_in_plain(&mut plain, 30.0, temperature);
            let mut ways = logits.clone();
            assert_eq!(Weigher::new().weigh(&mut ways, 30.0, temperature), sum);
            assert_eq!(plain, ways);
            assert_eq!(plain.iter().map(|share| fixed(*share)).sum::<u64>(), sum);
            for (share, logit) in plain.iter().zip(&logits) {
                let want = f64::from((logit - 30.0) / temperature).exp();
                assert!((f64::from(*share) - want).abs() <= 3e-7 * want + 1e-40);
            }
        }
    }

    #[test]
    fn fixed_is_exact_down_to_its_unit_and_rounds_to_even() {
        assert_eq!(fixed(1.0), 1 << 40);
        assert_eq!(fixed(0.5f32.powi(40)), 1);
        assert_eq!(fixed(0.5f32.powi(41)), 0);
        assert_eq!(fixed(1.5 * 0.5f32.powi(40)), 2);
        assert_eq!(fixed(f32::from_bits(1)), 0);
        assert_eq!(fixed(0.0), 0);
    }
}
