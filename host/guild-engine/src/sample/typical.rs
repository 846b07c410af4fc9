//! Locally typical sampling (Meister et al., "Locally Typical Sampling", 2022, equation 10): the
//! smallest set, of tokens whose information is closest to the distribution's entropy, that holds the
//! probability asked for.
//!
//! With `d = logit - largest` and `Z = sum e^d`, a token's information is `ln Z - d` and the entropy is
//! `ln Z - mean d`. Their distance is `|mean d - d|`: the logarithm isn't needed.

use super::candidates::Candidates;
use super::greedy::largest_of;
use super::parameters::Sampling;
use super::weights::{Weigher, fixed};

/// Keeps the typical set. The mean is an f64 sum in ascending id.
pub(super) fn keep(
    candidates: &mut Candidates,
    logits: &[f32],
    sampling: &Sampling,
    weigher: &Weigher,
) {
    let largest = largest_of(logits, candidates.ids());
    let (mut total, mut moment) = (0u64, 0.0f64);
    weigher.each(
        logits,
        candidates.ids(),
        largest,
        1.0,
        |ids, shares, sum| {
            total += sum;
            for (id, share) in ids.iter().zip(shares) {
                let weight = fixed(*share);
                // A token without weight may lie infinitely far down; it adds nothing.
                if weight > 0 {
                    moment += weight as f64 * f64::from(logits[*id as usize] - largest);
                }
            }
            true
        },
    );
    let mean = (moment / total as f64) as f32;
    let wanted = f64::from(sampling.typical) * total as f64;
    let at_least = sampling.min_keep as usize;
    let (mut held, mut kept) = (0u64, 0usize);
    candidates.keep_ranked(
        |id| -(mean - (logits[id as usize] - largest)).abs(),
        |id| {
            held += fixed(weigher.one(logits[id as usize], largest));
            kept += 1;
            kept >= at_least && held as f64 >= wanted
        },
    );
}
