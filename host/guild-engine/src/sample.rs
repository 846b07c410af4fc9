//! Choosing the next token from logits: the same choice on every machine.
//!
//! Greedy takes the largest logit, the lower id on a tie. With a temperature, the softmax of
//! `logits / temperature` (exact-class `exp`, `docs/numerics.md` rule 1) is walked in ascending id
//! until the running f64 sum passes a uniform number from a seeded ChaCha8 stream.

use crate::error::EngineError;
use guild_numerics::exp::exp_f32;
use guild_numerics::reduce::maximum;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// How tokens are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampling {
    /// The most likely token.
    Greedy,
    /// A draw from the softmax at this temperature.
    Temperature {
        /// Above 0; 1 leaves the model's distribution as it is.
        temperature: f32,
        /// Seed of the random stream.
        seed: u64,
    },
}

/// A sampler with its random stream and its buffer; it allocates only when made.
pub struct Sampler {
    sampling: Sampling,
    stream: ChaCha8Rng,
    weights: Vec<f32>,
}

impl Sampler {
    /// A sampler for `vocabulary` tokens.
    ///
    /// # Errors
    /// [`EngineError::Temperature`] for a temperature that isn't above 0 and finite.
    pub fn new(sampling: Sampling, vocabulary: usize) -> Result<Sampler, EngineError> {
        let (seed, weights) = match sampling {
            Sampling::Greedy => (0, 0),
            Sampling::Temperature { temperature, seed } => {
                if !(temperature > 0.0 && temperature.is_finite()) {
                    return Err(EngineError::Temperature { temperature });
                }
                (seed, vocabulary)
            }
        };
        Ok(Sampler {
            sampling,
            stream: ChaCha8Rng::seed_from_u64(seed),
            weights: vec![0.0; weights],
        })
    }

    /// The next token for one row of logits.
    ///
    /// # Errors
    /// [`EngineError::LogitNotFinite`] names the first token whose logit isn't finite.
    pub fn sample(&mut self, logits: &[f32]) -> Result<u32, EngineError> {
        if let Some(token) = logits.iter().position(|logit| !logit.is_finite()) {
            return Err(EngineError::LogitNotFinite {
                token,
                value: logits[token],
            });
        }
        Ok(match self.sampling {
            Sampling::Greedy => argmax(logits),
            Sampling::Temperature { temperature, .. } => self.draw(logits, temperature),
        })
    }

    fn draw(&mut self, logits: &[f32], temperature: f32) -> u32 {
        let largest = maximum(logits);
        let mut total = 0.0f64;
        for (weight, logit) in self.weights.iter_mut().zip(logits) {
            *weight = exp_f32((logit - largest) / temperature);
            total += f64::from(*weight);
        }
        let uniform = (self.stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let target = uniform * total;
        let mut running = 0.0f64;
        for (token, weight) in self.weights.iter().enumerate() {
            running += f64::from(*weight);
            if running > target {
                return token as u32;
            }
        }
        // `uniform` is below 1, so the sum passes the target unless rounding eats the difference.
        argmax(logits)
    }
}

/// The index of the largest value; the lower one on a tie; 0 for none.
fn argmax(logits: &[f32]) -> u32 {
    let mut best = 0;
    for (token, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = token;
        }
    }
    best as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greedy_takes_the_lower_id_on_a_tie() {
        let mut sampler = Sampler::new(Sampling::Greedy, 4).unwrap();
        assert_eq!(sampler.sample(&[1.0, 3.0, 3.0, -1.0]).unwrap(), 1);
    }

    #[test]
    fn logits_that_are_not_finite_are_refused_with_the_token() {
        let mut sampler = Sampler::new(Sampling::Greedy, 3).unwrap();
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let error = sampler.sample(&[0.0, bad, 1.0]).unwrap_err();
            assert!(matches!(
                error,
                EngineError::LogitNotFinite { token: 1, .. }
            ));
        }
    }

    #[test]
    fn a_seed_fixes_the_draws_and_their_share_follows_the_softmax() {
        let logits = [0.0, std::f32::consts::LN_2, f32::MIN];
        let sampling = Sampling::Temperature {
            temperature: 1.0,
            seed: 42,
        };
        let draws = |sampling| {
            let mut sampler = Sampler::new(sampling, 3).unwrap();
            (0..30_000)
                .map(|_| sampler.sample(&logits).unwrap())
                .collect::<Vec<_>>()
        };
        let first = draws(sampling);
        assert_eq!(first, draws(sampling));
        assert_ne!(
            first,
            draws(Sampling::Temperature {
                temperature: 1.0,
                seed: 43
            })
        );
        let ones = first.iter().filter(|token| **token == 1).count() as f64 / 30_000.0;
        // Two thirds, with a standard deviation of 0.0027.
        assert!((ones - 2.0 / 3.0).abs() < 0.014, "{ones}");
        assert!(!first.contains(&2));
    }

    #[test]
    fn a_temperature_must_be_positive_and_finite() {
        for temperature in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let sampling = Sampling::Temperature {
                temperature,
                seed: 0,
            };
            assert!(Sampler::new(sampling, 2).is_err());
        }
    }
}
