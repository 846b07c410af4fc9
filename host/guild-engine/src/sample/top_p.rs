//! Top-p, or nucleus sampling (Holtzman et al., "The Curious Case of Neural Text Degeneration", 2020,
//! section 3.1): the smallest set of the most likely tokens that holds the probability asked for.

use super::candidates::Candidates;
use super::greedy::largest_of;
use super::parameters::Sampling;
use super::weights::{Weigher, fixed};

/// Keeps the nucleus.
pub(super) fn keep(
    candidates: &mut Candidates,
    logits: &[f32],
    sampling: &Sampling,
    weigher: &Weigher,
) {
    let largest = largest_of(logits, candidates.ids());
    let mut total = 0u64;
    weigher.each(logits, candidates.ids(), largest, 1.0, |_, _, sum| {
        total += sum;
        true
    });
    let wanted = f64::from(sampling.top_p) * total as f64;
    let at_least = sampling.min_keep as usize;
    let (mut held, mut kept) = (0u64, 0usize);
    candidates.keep_ranked(
        |id| logits[id as usize],
        |id| {
            held += fixed(weigher.one(logits[id as usize], largest));
            kept += 1;
            kept >= at_least && held as f64 >= wanted
        },
    );
}
