//! The best token: the largest logit, the lower id on a tie.

/// Logits in a block of [`largest`], which has that many running maxima.
const LANES: usize = 16;

/// The best token; `None` where every one is forbidden.
pub(super) fn best(logits: &[f32]) -> Option<u32> {
    let largest = largest(logits);
    if largest == f32::NEG_INFINITY {
        return None;
    }
    logits
        .iter()
        .position(|logit| *logit == largest)
        .map(|token| token as u32)
}

/// The best of `ids`, which ascend.
pub(super) fn best_of(logits: &[f32], ids: &[u32]) -> Option<u32> {
    let largest = largest_of(logits, ids);
    ids.iter()
        .copied()
        .find(|id| logits[*id as usize] == largest)
}

/// The largest value; minus infinity for none. No value is NaN.
pub(crate) fn largest(values: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let blocks = values.chunks_exact(LANES);
    let rest = blocks.remainder();
    for block in blocks {
        for (lane, value) in lanes.iter_mut().zip(block) {
            *lane = if *value > *lane { *value } else { *lane };
        }
    }
    lanes
        .iter()
        .chain(rest)
        .fold(f32::NEG_INFINITY, |a, b| if *b > a { *b } else { a })
}

/// The largest logit of `ids`.
pub(super) fn largest_of(logits: &[f32], ids: &[u32]) -> f32 {
    let values = ids.iter().map(|id| logits[*id as usize]);
    values.fold(f32::NEG_INFINITY, |a, b| if b > a { b } else { a })
}
