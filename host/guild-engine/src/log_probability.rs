//! The logarithm of a token's probability: what a perplexity is made of.

use crate::error::EngineError;
use crate::sample::{Weigher, check_logits, largest};
use guild_numerics::double::ln;

/// Computes log-probabilities; the same bits on every machine.
#[derive(Clone, Copy)]
pub struct LogProbability {
    weigher: Weigher,
}

impl Default for LogProbability {
    fn default() -> LogProbability {
        LogProbability::new()
    }
}

impl LogProbability {
    /// Chooses the code for this processor.
    #[must_use]
    pub fn new() -> LogProbability {
        LogProbability {
            weigher: Weigher::new(),
        }
    }

    /// `ln` of the softmax of `logits`, `[vocabulary]`, at `token`, in f64: `l - largest - ln(sum)`, where
    /// the f64 sum takes the exact class's `exp(f32(logit - largest))` in ascending id.
    ///
    /// # Errors
    /// [`EngineError::LogitNotFinite`] names the first token whose logit isn't finite;
    /// [`EngineError::TokenOutOfRange`] a `token` that has no logit.
    pub fn of(&self, logits: &[f32], token: u32) -> Result<f64, EngineError> {
        check_logits(logits, logits.len())?;
        let vocabulary = logits.len();
        let logit = logits.get(token as usize);
        let logit = *logit.ok_or(EngineError::TokenOutOfRange { token, vocabulary })?;
        let largest = largest(logits);
        let mut sum = 0.0f64;
        self.weigher
            .each_of_all(logits, largest, 1.0, |_, shares, _| {
                sum = shares
                    .iter()
                    .fold(sum, |sum, share| sum + f64::from(*share));
                true
            });
        Ok(f64::from(logit) - f64::from(largest) - ln(sum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_logarithm_of_the_softmax() {
        let logits: Vec<f32> = (0..1000)
            .map(|i| ((i * 7919) % 1000) as f32 * 0.013 - 6.0)
            .collect();
        let sum: f64 = logits.iter().map(|logit| f64::from(*logit).exp()).sum();
        for token in [0u32, 1, 63, 64, 999] {
            let want = f64::from(logits[token as usize]) - sum.ln();
            let got = LogProbability::new().of(&logits, token).unwrap();
            assert!((got - want).abs() < 2e-7, "{got} {want}");
        }
    }

    #[test]
    fn far_apart_logits_and_faulty_ones_are_no_surprise() {
        let of = |logits: &[f32], token| LogProbability::new().of(logits, token);
        assert_eq!(of(&[f32::MAX, f32::MIN], 0).unwrap(), 0.0);
        assert_eq!(
            of(&[f32::MAX, f32::MIN], 1).unwrap(),
            2.0 * f64::from(f32::MIN)
        );
        assert_eq!(of(&[-3.5], 0).unwrap(), 0.0);
        let faulty = of(&[0.0, f32::NAN], 0);
        assert!(matches!(
            faulty,
            Err(EngineError::LogitNotFinite { token: 1, .. })
        ));
        let outside = of(&[0.0], 1);
        assert!(matches!(
            outside,
            Err(EngineError::TokenOutOfRange {
                token: 1,
                vocabulary: 1
            })
        ));
        assert!(of(&[], 0).is_err());
    }
}
