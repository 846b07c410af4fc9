//! Choosing the next token from logits: the same choice on every machine.
//!
//! The stages run in one order, which `docs/sampling.md` explains: logit bias, penalties, top-k, locally
//! typical, top-p, min-p, temperature, draw. One file a stage. Arithmetic is the exact class's
//! (`docs/numerics.md`, rule 1); probabilities are compared and summed as integers (`weights`), so that
//! the order of a sum can't matter.

mod bias;
mod candidates;
mod draw;
mod greedy;
mod min_p;
mod parameters;
mod penalties;
mod top_k;
mod top_p;
mod typical;
#[cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "calls a function that is compiled for another instruction set"
    )
)]
mod weights;

pub(crate) use greedy::largest;
pub use parameters::{LogitBias, Sampling};
pub(crate) use weights::Weigher;

use crate::error::EngineError;
use bias::Biases;
use candidates::Candidates;
use penalties::Penalties;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// A sampler with its history, its random stream and its buffers. It allocates only when it is made.
/// One thread uses it at a time.
pub struct Sampler {
    sampling: Sampling,
    biases: Biases,
    penalties: Option<Penalties>,
    stream: ChaCha8Rng,
    weigher: Weigher,
    candidates: Candidates,
    /// The logits after bias and penalties, where there are any.
    adjusted: Vec<f32>,
}

impl Sampler {
    /// A sampler for `vocabulary` tokens.
    ///
    /// # Errors
    /// [`EngineError::SamplingParameter`] names a parameter outside its range;
    /// [`EngineError::VocabularyTooLarge`] a vocabulary of more than 2^23 tokens;
    /// [`EngineError::BiasToken`] and [`EngineError::BiasTwice`] a bias on a token that isn't there, or
    /// on one that has one already.
    pub fn new(mut sampling: Sampling, vocabulary: usize) -> Result<Sampler, EngineError> {
        sampling.check()?;
        sampling.check_tokens(vocabulary)?;
        let biases = Biases::new(std::mem::take(&mut sampling.logit_bias));
        let penalties = Penalties::new(&sampling, vocabulary);
        let adjusts = adjusts(penalties.is_some(), !biases.is_empty());
        Ok(Sampler {
            stream: seeded(sampling.seed),
            weigher: Weigher::new(),
            candidates: Candidates::new(&sampling, vocabulary),
            adjusted: vec![0.0; if adjusts { vocabulary } else { 0 }],
            biases,
            penalties,
            sampling,
        })
    }

    /// Bytes that a sampler for `vocabulary` tokens allocates when it is made, exactly; it allocates no
    /// more later. A number beyond 64 bits is the largest one. Nothing is checked: what
    /// [`Sampler::new`] refuses has a size too.
    #[must_use]
    pub fn table_bytes(sampling: &Sampling, vocabulary: u64) -> u64 {
        let tokens = usize::try_from(vocabulary).unwrap_or(usize::MAX);
        let adjusted = match adjusts(sampling.has_penalty(), !sampling.logit_bias.is_empty()) {
            true => vocabulary.saturating_mul(size_of::<f32>() as u64),
            false => 0,
        };
        Candidates::table_bytes(sampling, tokens)
            .saturating_add(Penalties::table_bytes(sampling, tokens))
            .saturating_add(adjusted)
            .saturating_add(size_of_val(sampling.logit_bias.as_slice()) as u64)
    }

    /// Adds tokens to the history that didn't come from [`Sampler::sample`]: a prompt's. The penalties
    /// look at the last `repeat_last_n` tokens of the history.
    pub fn remember(&mut self, tokens: &[u32]) {
        if let Some(penalties) = &mut self.penalties {
            tokens.iter().for_each(|token| penalties.remember(*token));
        }
    }

    /// Empties the history; the random stream goes on.
    pub fn forget(&mut self) {
        if let Some(penalties) = &mut self.penalties {
            penalties.forget();
        }
    }

    /// The next token for one row of logits; it joins the history.
    ///
    /// # Errors
    /// [`EngineError::LogitNotFinite`] names the first token whose logit isn't finite;
    /// [`EngineError::LogitCount`] a row that hasn't the vocabulary's length;
    /// [`EngineError::NoCandidate`] says that biases forbid every token.
    pub fn sample(&mut self, logits: &[f32]) -> Result<u32, EngineError> {
        check_logits(logits, self.candidates.vocabulary())?;
        let token = self.choose(logits).ok_or(EngineError::NoCandidate)?;
        self.remember(&[token]);
        Ok(token)
    }

    /// Runs the chain; `None` where no token is left. Of the stages, only typical can take the best
    /// token away, so that without it temperature 0 needs no candidates.
    fn choose(&mut self, logits: &[f32]) -> Option<u32> {
        let sampling = &self.sampling;
        let logits = match self.adjusted.is_empty() {
            true => logits,
            false => {
                self.adjusted.copy_from_slice(logits);
                self.biases.apply(&mut self.adjusted);
                if let Some(penalties) = &mut self.penalties {
                    penalties.apply(&mut self.adjusted);
                }
                &self.adjusted
            }
        };
        if sampling.temperature == 0.0 && !sampling.has_typical() {
            return greedy::best(logits);
        }
        if !sampling.has_filter() {
            let stream = &mut self.stream;
            return draw::from_all(logits, sampling.temperature, &self.weigher, stream);
        }
        let (candidates, weigher) = (&mut self.candidates, &self.weigher);
        narrow(candidates, logits, sampling, weigher);
        if sampling.temperature == 0.0 {
            return greedy::best_of(logits, candidates.ids());
        }
        let (ids, temperature) = (candidates.ids(), sampling.temperature);
        draw::from_some(logits, ids, temperature, weigher, &mut self.stream)
    }
}

/// Whether logits are changed before the stages that take tokens away.
const fn adjusts(has_penalty: bool, has_bias: bool) -> bool {
    has_penalty || has_bias
}

/// The stages that take tokens away.
fn narrow(candidates: &mut Candidates, logits: &[f32], sampling: &Sampling, weigher: &Weigher) {
    if sampling.has_top_k(logits.len()) {
        top_k::start(candidates, logits, sampling.top_k as usize);
    } else {
        candidates.start(logits);
    }
    if sampling.has_typical() {
        typical::keep(candidates, logits, sampling, weigher);
    }
    if sampling.top_p < 1.0 {
        top_p::keep(candidates, logits, sampling, weigher);
    }
    if sampling.min_p > 0.0 {
        min_p::keep(candidates, logits, sampling, weigher);
    }
}

/// The ChaCha8 stream whose key is the seed's eight bytes, the least significant first, and then
/// zeros; counter and nonce start at 0.
fn seeded(seed: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

/// Checks that a row has the vocabulary's length and finite values.
pub(crate) fn check_logits(logits: &[f32], vocabulary: usize) -> Result<(), EngineError> {
    if logits.len() != vocabulary {
        return Err(EngineError::LogitCount {
            found: logits.len(),
            vocabulary,
        });
    }
    // Whole blocks without an early exit, so that the compiler can compare several at once.
    let is_sound = |block: &[f32]| block.iter().fold(true, |sound, x| sound & x.is_finite());
    if logits.chunks(256).all(is_sound) {
        return Ok(());
    }
    let found = logits.iter().position(|logit| !logit.is_finite());
    let token = found.unwrap_or_default();
    Err(EngineError::LogitNotFinite {
        token,
        value: logits[token],
    })
}

#[cfg(test)]
mod tests;
