//! Logit bias: the first stage.

use super::parameters::LogitBias;

/// Biases by token.
pub(super) struct Biases(Box<[LogitBias]>);

impl Biases {
    /// Biases that `Sampling::check` has accepted.
    pub(super) fn new(biases: Vec<LogitBias>) -> Biases {
        Biases(biases.into_boxed_slice())
    }

    /// Bytes that it holds.
    #[cfg(test)]
    pub(super) fn held_bytes(&self) -> usize {
        size_of_val(&*self.0)
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds each bias. A sum stays finite, except that a bias of minus infinity forbids its token.
    pub(super) fn apply(&self, logits: &mut [f32]) {
        for LogitBias { token, bias } in self.0.iter() {
            if let Some(logit) = logits.get_mut(*token as usize) {
                *logit = match *bias == f32::NEG_INFINITY {
                    true => f32::NEG_INFINITY,
                    false => finite(*logit + bias),
                };
            }
        }
    }
}

/// A value that has overflowed, at the end of the finite range.
pub(super) fn finite(value: f32) -> f32 {
    value.clamp(f32::MIN, f32::MAX)
}
