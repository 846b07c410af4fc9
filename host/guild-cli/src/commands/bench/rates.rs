//! The rates of a test's repetitions.

use serde::Serialize;

/// Tokens per second of every repetition, and what they come to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rates {
    /// The middle one, or the mean of the two in the middle.
    pub median: f64,
    /// The slowest.
    pub min: f64,
    /// The fastest.
    pub max: f64,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, of a sample; 0 for a single one.
    pub standard_deviation: f64,
    /// All of them, in the order of the runs.
    pub samples: Vec<f64>,
}

impl Rates {
    /// Of one repetition or more.
    pub fn new(samples: Vec<f64>) -> Rates {
        let mut sorted = samples.clone();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len();
        let at = |index: usize| sorted.get(index).copied().unwrap_or(0.0);
        let mean = sorted.iter().sum::<f64>() / count.max(1) as f64;
        let squares: f64 = sorted.iter().map(|rate| (rate - mean).powi(2)).sum();
        Rates {
            median: (at(count.saturating_sub(1) / 2) + at(count / 2)) / 2.0,
            min: at(0),
            max: at(count.saturating_sub(1)),
            mean,
            standard_deviation: (squares / count.saturating_sub(1).max(1) as f64).sqrt(),
            samples,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from Python's `statistics`: `median`, `mean`, `stdev`.
    #[test]
    fn rates_are_summed_up() {
        let rates = Rates::new(vec![4.0, 1.0, 3.0, 9.0]);
        assert_eq!((rates.median, rates.min, rates.max), (3.5, 1.0, 9.0));
        assert_eq!(rates.mean, 4.25);
        assert!((rates.standard_deviation - 3.403_429_642_777_023).abs() < 1e-12);
        assert_eq!(rates.samples, [4.0, 1.0, 3.0, 9.0]);
        let rates = Rates::new(vec![2.0, 7.0, 3.0]);
        assert_eq!(rates.median, 3.0);
        let one = Rates::new(vec![5.0]);
        assert_eq!(
            (one.median, one.mean, one.standard_deviation),
            (5.0, 5.0, 0.0)
        );
    }
}
