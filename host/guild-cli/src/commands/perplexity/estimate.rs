//! The running estimate: sums in the order of the tokens, in f64, the same bits on every machine.

use guild_numerics::double::exp;

/// Negative log-likelihoods so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Estimate {
    sum: f64,
    sum_of_squares: f64,
    count: u64,
}

impl Estimate {
    /// Adds one token's negative log-likelihood.
    pub fn add(&mut self, nll: f64) {
        self.sum += nll;
        self.sum_of_squares += nll * nll;
        self.count += 1;
    }

    /// Tokens so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean negative log-likelihood.
    pub fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// `e^mean`; infinite above `e^690`.
    pub fn perplexity(&self) -> f64 {
        exp(self.mean())
    }

    /// The standard error of the mean, times the perplexity: what a small change of the mean makes of it.
    /// 0 for one token.
    pub fn error(&self) -> f64 {
        let mean = self.mean();
        let variance = self.sum_of_squares / self.count as f64 - mean * mean;
        match variance > 0.0 && self.count > 1 {
            true => (variance / (self.count - 1) as f64).sqrt() * self.perplexity(),
            false => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Python: `x = [0.5, 2.25, 1.0, 4.0]; m = sum(x) / 4; s = sum(v * v for v in x) / 4 - m * m`,
    /// `math.exp(m), math.sqrt(s / 3) * math.exp(m)`.
    #[test]
    fn mean_and_error_are_those_of_the_formula() {
        let mut estimate = Estimate::default();
        for nll in [0.5, 2.25, 1.0, 4.0] {
            estimate.add(nll);
        }
        assert_eq!((estimate.count(), estimate.mean()), (4, 1.9375));
        assert!((estimate.perplexity() - 6.941375821197036).abs() < 1e-12);
        assert!(
            (estimate.error() - 5.412817554909687).abs() < 1e-12,
            "{}",
            estimate.error()
        );
    }

    #[test]
    fn one_token_and_a_hopeless_model_are_no_surprise() {
        let mut estimate = Estimate::default();
        estimate.add(1e30);
        assert_eq!(
            (estimate.perplexity(), estimate.error()),
            (f64::INFINITY, 0.0)
        );
    }
}
