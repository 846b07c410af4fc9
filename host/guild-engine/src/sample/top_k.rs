//! Top-k: the tokens with the `k` largest logits (Fan et al., "Hierarchical Neural Story Generation",
//! 2018, section 5.3).

use super::candidates::{Candidates, key, select_largest};
use super::greedy::largest;

/// Logits that are compared at once with what is needed to get in.
const BLOCK: usize = 64;

/// Starts with the best `k` tokens that aren't forbidden, in one walk over the logits. A logit that is
/// below the `k` best so far costs a comparison.
pub(super) fn start(candidates: &mut Candidates, logits: &[f32], k: usize) {
    let (_, keys) = candidates.parts();
    // A later token needs more than this: ids ascend, and the lower one wins a tie.
    let mut floor = f32::NEG_INFINITY;
    for (block, first) in logits.chunks(BLOCK).zip((0u32..).step_by(BLOCK)) {
        if largest(block) <= floor {
            continue;
        }
        for (logit, id) in block.iter().zip(first..) {
            if *logit > floor {
                keys.push(key(*logit, id));
                if keys.len() == 2 * k {
                    select_largest(keys, k);
                    keys.truncate(k);
                    floor = logits[worst(keys)];
                }
            }
        }
    }
    select_largest(keys, k);
    let kept = keys.len().min(k);
    candidates.keep_keys(kept);
}

/// The token of the last selected key, which is the worst of them.
fn worst(keys: &[u64]) -> usize {
    keys.last().map_or(0, |key| !(*key as u32) as usize)
}
