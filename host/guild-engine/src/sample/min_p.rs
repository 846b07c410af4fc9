//! Min-p (Nguyen et al., "Turning Up the Heat: Min-p Sampling for Creative and Coherent LLM Outputs",
//! 2024, section 3): the tokens whose probability is at least a share of the largest one's.

use super::candidates::{Candidates, key};
use super::greedy::largest_of;
use super::parameters::Sampling;
use super::weights::Weigher;

/// Keeps the tokens that are likely enough, and the best `min_keep` in any case.
pub(super) fn keep(
    candidates: &mut Candidates,
    logits: &[f32],
    sampling: &Sampling,
    weigher: &Weigher,
) {
    let largest = largest_of(logits, candidates.ids());
    let at_least = sampling.min_keep.max(1) as usize;
    let (ids, keys) = candidates.parts();
    weigher.each(logits, ids, largest, 1.0, |ids, shares, _| {
        let pairs = ids.iter().zip(shares);
        let likely = pairs.filter(|(_, share)| **share >= sampling.min_p);
        keys.extend(likely.map(|(id, _)| key(logits[*id as usize], *id)));
        true
    });
    let likely = keys.len();
    if likely >= at_least {
        candidates.keep_keys(likely);
    } else {
        let mut kept = 0;
        candidates.keep_ranked(
            |id| logits[id as usize],
            |_| {
                kept += 1;
                kept >= at_least
            },
        );
    }
}
