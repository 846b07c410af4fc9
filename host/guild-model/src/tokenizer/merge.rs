//! Joins neighbouring symbols into tokens, the best pair first: the loop that byte-level BPE and SentencePiece share.
//!
//! A text of `n` symbols costs `O(n log n)`: each join makes at most two new pairs, and the pairs wait in a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// A piece of the text that is one token so far, or none yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbol {
    /// First byte in the text.
    pub start: u32,
    /// Length in bytes; 0 when another symbol has taken it in.
    pub bytes: u32,
    /// The token, if the text is one.
    pub token: Option<u32>,
    /// Index of the neighbour on the left; [`NONE`] at the start.
    left: u32,
    /// Index of the neighbour on the right; [`NONE`] at the end.
    right: u32,
}

const NONE: u32 = u32::MAX;

impl Symbol {
    /// Where the symbol lies in the text.
    pub(super) fn range(&self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.bytes as usize
    }
}

/// What a pair of neighbours becomes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Join {
    /// The lowest rank is joined first; of equal ranks the leftmost pair.
    pub rank: u32,
    /// The token that the two become.
    pub token: u32,
}

/// Which neighbours may be joined: the difference between the two families.
pub(super) trait Joins {
    /// What `left` and `right`, which touch, become together; `None` when they stay apart.
    fn join(&mut self, left: &Symbol, right: &Symbol) -> Option<Join>;
}

/// A pair that waits. Ordered by rank, then by place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    rank: u32,
    left: u32,
    right: u32,
    /// Bytes of both when the pair was found: if they differ later, one of the two has grown and the pair is void.
    bytes: u32,
    token: u32,
}

/// The symbols of a piece of text and the pairs that wait, kept so that the next piece allocates nothing.
#[derive(Debug, Default)]
pub(super) struct Chain {
    symbols: Vec<Symbol>,
    pairs: BinaryHeap<Reverse<Pair>>,
}

impl Chain {
    /// Forgets the last piece.
    pub(super) fn clear(&mut self) {
        self.symbols.clear();
        self.pairs.clear();
    }

    /// Appends a symbol of `bytes` bytes. Callers keep texts below 2^32 bytes.
    pub(super) fn push(&mut self, bytes: u32, token: Option<u32>) {
        let index = self.symbols.len() as u32;
        let (start, left) = match self.symbols.last_mut() {
            None => (0, NONE),
            Some(last) => {
                last.right = index;
                (last.start + last.bytes, index - 1)
            }
        };
        self.symbols.push(Symbol {
            start,
            bytes,
            token,
            left,
            right: NONE,
        });
    }

    /// Joins until nothing more can be joined.
    pub(super) fn merge(&mut self, joins: &mut impl Joins) {
        for right in 1..self.symbols.len() as u32 {
            self.offer(right - 1, right, joins);
        }
        while let Some(Reverse(pair)) = self.pairs.pop() {
            let (Some(left), Some(right)) = (self.symbol(pair.left), self.symbol(pair.right))
            else {
                continue;
            };
            let alive = left.bytes > 0 && right.bytes > 0;
            if !alive || left.bytes + right.bytes != pair.bytes {
                continue;
            }
            let (before, after) = (left.left, right.right);
            if let Some(left) = self.symbols.get_mut(pair.left as usize) {
                left.bytes = pair.bytes;
                left.token = Some(pair.token);
                left.right = after;
            }
            if let Some(right) = self.symbols.get_mut(pair.right as usize) {
                right.bytes = 0;
            }
            if let Some(after) = self.symbols.get_mut(after as usize) {
                after.left = pair.left;
            }
            self.offer(before, pair.left, joins);
            self.offer(pair.left, after, joins);
        }
    }

    /// What is left, in order.
    pub(super) fn symbols(&self) -> impl Iterator<Item = &Symbol> {
        self.symbols.iter().filter(|symbol| symbol.bytes > 0)
    }

    fn symbol(&self, index: u32) -> Option<Symbol> {
        self.symbols.get(index as usize).copied()
    }

    /// Lets a pair wait if it can be joined. Either index may be [`NONE`].
    fn offer(&mut self, left: u32, right: u32, joins: &mut impl Joins) {
        let (Some(first), Some(second)) = (self.symbol(left), self.symbol(right)) else {
            return;
        };
        if let Some(join) = joins.join(&first, &second) {
            self.pairs.push(Reverse(Pair {
                rank: join.rank,
                left,
                right,
                bytes: first.bytes + second.bytes,
                token: join.token,
            }));
        }
    }
}
