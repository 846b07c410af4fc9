//! Penalties on tokens of the history: the second stage.
//!
//! The repetition penalty is Keskar et al., "CTRL" (2019), section 4.1, with the change that everybody
//! makes: a logit that isn't above 0 is multiplied, since a division would raise it. Presence and
//! frequency penalties are those of the OpenAI API: one for being there, one for each time.

use super::bias::finite;
use super::parameters::Sampling;

/// Marks a count whose token the current pass has dealt with.
const DONE: u32 = 1 << 31;

/// The history and how often each token is in it.
pub(super) struct Penalties {
    repeat: f32,
    presence: f32,
    frequency: f32,
    /// The last tokens, as a ring of fixed length; `next` is where the oldest one lies.
    ring: Vec<u32>,
    length: usize,
    next: usize,
    /// `[vocabulary]`, how often each token is in the ring.
    counts: Vec<u32>,
}

impl Penalties {
    /// `None` where every penalty is off.
    pub(super) fn new(sampling: &Sampling, vocabulary: usize) -> Option<Penalties> {
        sampling.has_penalty().then(|| Penalties {
            repeat: sampling.repeat_penalty,
            presence: sampling.presence_penalty,
            frequency: sampling.frequency_penalty,
            ring: vec![0; sampling.repeat_last_n as usize],
            length: 0,
            next: 0,
            counts: vec![0; vocabulary],
        })
    }

    /// Bytes of the tables that [`Penalties::new`] makes: the history and the counts.
    pub(super) fn table_bytes(sampling: &Sampling, vocabulary: usize) -> u64 {
        match sampling.has_penalty() {
            true => (vocabulary as u64)
                .saturating_add(sampling.repeat_last_n.into())
                .saturating_mul(size_of::<u32>() as u64),
            false => 0,
        }
    }

    /// Bytes that it holds.
    #[cfg(test)]
    pub(super) fn held_bytes(&self) -> usize {
        (self.ring.capacity() + self.counts.capacity()) * size_of::<u32>()
    }

    /// Adds a token and drops the oldest one of a full history. One outside the vocabulary is no token.
    pub(super) fn remember(&mut self, token: u32) {
        let Some(count) = self.counts.get_mut(token as usize) else {
            return;
        };
        *count += 1;
        let oldest = std::mem::replace(&mut self.ring[self.next], token);
        if self.length == self.ring.len() {
            self.counts[oldest as usize] -= 1;
        } else {
            self.length += 1;
        }
        self.next = (self.next + 1) % self.ring.len();
    }

    /// Empties the history.
    pub(super) fn forget(&mut self) {
        for token in &self.ring[..self.length] {
            self.counts[*token as usize] = 0;
        }
        (self.length, self.next) = (0, 0);
    }

    /// Lowers the logits of the history's tokens, each once. The cost is the history's length.
    pub(super) fn apply(&mut self, logits: &mut [f32]) {
        for token in &self.ring[..self.length] {
            let count = &mut self.counts[*token as usize];
            if *count & DONE == 0 {
                let logit = &mut logits[*token as usize];
                *logit = penalised(*logit, *count, self.repeat, self.presence, self.frequency);
                *count |= DONE;
            }
        }
        for token in &self.ring[..self.length] {
            self.counts[*token as usize] &= !DONE;
        }
    }
}

/// A forbidden token stays forbidden; any other logit stays finite.
fn penalised(logit: f32, count: u32, repeat: f32, presence: f32, frequency: f32) -> f32 {
    if logit == f32::NEG_INFINITY {
        return logit;
    }
    let repeated = match logit > 0.0 {
        true => logit / repeat,
        false => logit * repeat,
    };
    finite(finite(repeated) - (count as f32 * frequency + presence))
}
