//! Temperature and draw: the last stages. A token's weight is `exp((logit - largest) / temperature)`.
//!
//! The 64 bits that the stream gives are scaled to a number below the sum of all weights. The chosen
//! token is the first one, in ascending id, up to which the weights sum to more than that.

use super::greedy::{largest, largest_of};
use super::weights::{Weigher, fixed};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

/// Draws from all tokens; `None` where every one is forbidden.
pub(super) fn from_all(
    logits: &[f32],
    temperature: f32,
    weigher: &Weigher,
    stream: &mut ChaCha8Rng,
) -> Option<u32> {
    let largest = largest(logits);
    if largest == f32::NEG_INFINITY {
        return None;
    }
    let mut total = 0u64;
    weigher.each_of_all(logits, largest, temperature, |_, _, sum| {
        total += sum;
        true
    });
    let mut search = Search::new(stream, total);
    weigher.each_of_all(logits, largest, temperature, |first, shares, sum| {
        search.goes_on(first.., shares, sum)
    });
    search.found
}

/// Draws from `ids`, which ascend; `None` for none.
pub(super) fn from_some(
    logits: &[f32],
    ids: &[u32],
    temperature: f32,
    weigher: &Weigher,
    stream: &mut ChaCha8Rng,
) -> Option<u32> {
    if ids.is_empty() {
        return None;
    }
    let largest = largest_of(logits, ids);
    let mut total = 0u64;
    weigher.each(logits, ids, largest, temperature, |_, _, sum| {
        total += sum;
        true
    });
    let mut search = Search::new(stream, total);
    weigher.each(logits, ids, largest, temperature, |ids, shares, sum| {
        search.goes_on(ids.iter().copied(), shares, sum)
    });
    search.found
}

/// The walk to the drawn token.
struct Search {
    target: u64,
    running: u64,
    found: Option<u32>,
}

impl Search {
    fn new(stream: &mut ChaCha8Rng, total: u64) -> Search {
        // The high half of a product with a number below 2^64 is below `total`.
        let product = u128::from(stream.next_u64()) * u128::from(total);
        Search {
            target: (product >> 64) as u64,
            running: 0,
            found: None,
        }
    }

    /// Steps over a block, or into the one that holds the target; false then.
    fn goes_on(&mut self, ids: impl IntoIterator<Item = u32>, shares: &[f32], sum: u64) -> bool {
        if self.running + sum <= self.target {
            self.running += sum;
            return true;
        }
        self.found = ids.into_iter().zip(shares).find_map(|(id, share)| {
            self.running += fixed(*share);
            (self.running > self.target).then_some(id)
        });
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_ends_at_the_first_token_that_passes_the_target() {
        let one = fixed(1.0);
        let walk = |target| {
            let (running, found) = (0, None);
            let mut search = Search {
                target,
                running,
                found,
            };
            let goes_on = search.goes_on(10.., &[1.0, 0.0], one)
                && search.goes_on([5, 6, 7], &[0.0, 0.5, 0.25], fixed(0.75));
            (search.found, goes_on)
        };
        assert_eq!(walk(0), (Some(10), false));
        assert_eq!(walk(one - 1), (Some(10), false));
        assert_eq!(walk(one), (Some(6), false));
        assert_eq!(walk(one + one / 2 - 1), (Some(6), false));
        assert_eq!(walk(one + one / 2), (Some(7), false));
        assert_eq!(walk(one + one / 4 * 3), (None, true));
    }
}
