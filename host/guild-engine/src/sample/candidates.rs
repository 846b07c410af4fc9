//! The tokens that are left, and ranking no more of them than is needed.

use super::parameters::Sampling;
use std::cmp::Reverse;

/// The tokens that are left, in ascending id before and after every stage.
pub(super) struct Candidates {
    ids: Vec<u32>,
    /// Ranking keys of a stage under way.
    keys: Vec<u64>,
    vocabulary: usize,
}

/// Keys that are sorted first; then four times as many, and so on.
const FIRST_SORTED: usize = 128;

impl Candidates {
    /// Room for what the stages can hold.
    pub(super) fn new(sampling: &Sampling, vocabulary: usize) -> Candidates {
        let (ids, keys) = room(sampling, vocabulary);
        Candidates {
            ids: Vec::with_capacity(ids),
            keys: Vec::with_capacity(keys),
            vocabulary,
        }
    }

    /// Bytes of the buffers that [`Candidates::new`] makes.
    pub(super) fn table_bytes(sampling: &Sampling, vocabulary: usize) -> u64 {
        let (ids, keys) = room(sampling, vocabulary);
        let bytes = |count: usize, each: usize| (count as u64).saturating_mul(each as u64);
        bytes(ids, size_of::<u32>()).saturating_add(bytes(keys, size_of::<u64>()))
    }

    /// Bytes that it holds.
    #[cfg(test)]
    pub(super) fn held_bytes(&self) -> usize {
        self.ids.capacity() * size_of::<u32>() + self.keys.capacity() * size_of::<u64>()
    }

    /// Tokens of the vocabulary.
    pub(super) fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// The tokens that are left, in ascending id.
    pub(super) fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Starts with every token that isn't forbidden.
    pub(super) fn start(&mut self, logits: &[f32]) {
        self.ids.clear();
        let all = logits.iter().zip(0u32..);
        let allowed = all.filter(|(logit, _)| **logit > f32::NEG_INFINITY);
        self.ids.extend(allowed.map(|(_, id)| id));
    }

    /// The tokens that are left and an empty buffer of keys, for a stage that fills and cuts that itself
    /// and then calls [`Candidates::keep_keys`].
    pub(super) fn parts(&mut self) -> (&[u32], &mut Vec<u64>) {
        self.keys.clear();
        (&self.ids, &mut self.keys)
    }

    /// Keeps the tokens of the first `kept` keys.
    pub(super) fn keep_keys(&mut self, kept: usize) {
        self.ids.clear();
        self.ids
            .extend(self.keys[..kept].iter().map(|key| id_of(*key)));
        self.ids.sort_unstable();
    }

    /// Ranks the tokens by `value`, largest first, the lower id on a tie, and keeps the tokens up to and
    /// with the first one at which `enough` says yes; all where it never does.
    pub(super) fn keep_ranked(
        &mut self,
        value: impl Fn(u32) -> f32,
        mut enough: impl FnMut(u32) -> bool,
    ) {
        self.keys.clear();
        let keys = self.ids.iter().map(|id| key(value(*id), *id));
        self.keys.extend(keys);
        let kept = ranked_prefix(&mut self.keys, |key| enough(id_of(key)));
        self.keep_keys(kept);
    }
}

/// Ids and keys that the stages hold at most.
fn room(sampling: &Sampling, vocabulary: usize) -> (usize, usize) {
    if !sampling.has_filter() {
        (0, 0)
    } else if sampling.has_top_k(vocabulary) {
        // Top-k gathers twice as many keys before it drops the worse half.
        let kept = sampling.top_k as usize;
        (kept, 2 * kept)
    } else {
        (vocabulary, vocabulary)
    }
}

/// A ranking key: a larger key is a larger value or, where two are equal, a lower id. Plus and minus
/// zero are equal.
pub(super) fn key(value: f32, id: u32) -> u64 {
    let bits = (value + 0.0).to_bits();
    let ordered = match bits >> 31 {
        0 => bits | 0x8000_0000,
        _ => !bits,
    };
    u64::from(ordered) << 32 | u64::from(!id)
}

/// The id in a ranking key.
fn id_of(key: u64) -> u32 {
    !(key as u32)
}

/// Moves the `count` largest keys to the front, in no particular order.
pub(super) fn select_largest(keys: &mut [u64], count: usize) {
    if 0 < count && count < keys.len() {
        keys.select_nth_unstable_by_key(count - 1, |key| Reverse(*key));
    }
}

/// Sorts the keys in descending order, but no more of them than are looked at, and returns how many
/// stand up to and with the first one at which `enough` says yes.
fn ranked_prefix(keys: &mut [u64], mut enough: impl FnMut(u64) -> bool) -> usize {
    let (mut sorted, mut step) = (0, FIRST_SORTED);
    while sorted < keys.len() {
        let end = keys.len().min(sorted + step);
        select_largest(&mut keys[sorted..], step);
        keys[sorted..end].sort_unstable_by_key(|key| Reverse(*key));
        let found = keys[sorted..end].iter().position(|key| enough(*key));
        if let Some(index) = found {
            return sorted + index + 1;
        }
        (sorted, step) = (end, 4 * step);
    }
    keys.len()
}
