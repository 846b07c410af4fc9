//! The paged cache: its elements, and writing to it.

use super::PAGE;
use crate::isa::{Isa, LANES, vectorized};
use guild_sdk::{Element, Sequence, State, Tensor};

/// An element of the cache.
pub(super) trait CacheElement: Element {
    /// The element of +0.
    const ZERO: Self;
    /// Sixteen elements, widened.
    fn load<S: Isa>(isa: S, from: &[Self; LANES]) -> S::F;
    /// Rounds sixteen values.
    fn store<S: Isa>(isa: S, to: &mut [Self; LANES], x: S::F);
}

impl CacheElement for f32 {
    const ZERO: f32 = 0.0;
    #[inline(always)]
    fn load<S: Isa>(isa: S, from: &[f32; LANES]) -> S::F {
        isa.load(from)
    }
    #[inline(always)]
    fn store<S: Isa>(isa: S, to: &mut [f32; LANES], x: S::F) {
        isa.store(to, x);
    }
}

impl CacheElement for u16 {
    const ZERO: u16 = 0;
    #[inline(always)]
    fn load<S: Isa>(isa: S, from: &[u16; LANES]) -> S::F {
        isa.widen_f16(from)
    }
    #[inline(always)]
    fn store<S: Isa>(isa: S, to: &mut [u16; LANES], x: S::F) {
        isa.narrow_f16(to, x);
    }
}

/// Keys and values of all pages, as rows of one page each.
pub(super) struct Cache<'a, T> {
    pub keys: Tensor<'a, T>,
    pub values: Tensor<'a, T>,
    pub dim: usize,
}

impl<T: CacheElement> Cache<'_, T> {
    /// The first `count` keys and values of one KV head in a page.
    #[inline(always)]
    pub(super) fn entries(&self, page: usize, kv_head: usize, count: usize) -> [&[T]; 2] {
        [&self.keys, &self.values].map(|of| {
            let head = &of.vector(page, 0)[kv_head * PAGE * self.dim..];
            &head[..count * self.dim]
        })
    }
}

/// Names [`write_cache`].
pub(super) struct WriteCache;

vectorized!(impl [T: CacheElement] WriteCache = write_cache::<S, T>, (&'a Sequence<'a>, &'a Tensor<'a, f32>, &'a mut State<'b, T>));

/// Rounds the new rows of a sequence to the cache's format and writes them to its pages.
#[inline(always)]
fn write_cache<S: Isa, T: CacheElement>(
    isa: S,
    (sequence, from, state): (&Sequence<'_>, &Tensor<'_, f32>, &mut State<'_, T>),
) {
    let dim = from.dim();
    for row in 0..sequence.rows {
        let position = sequence.position as usize + row;
        let page = state.slot_mut(sequence.pages[position / PAGE] as usize);
        for head in 0..from.heads() {
            let to = &mut page[(head * PAGE + position % PAGE) * dim..][..dim];
            let from = from.vector(sequence.first_row + row, head);
            for (to, from) in to.chunks_mut(LANES).zip(from.chunks(LANES)) {
                if let Some(to) = to.first_chunk_mut() {
                    T::store(isa, to, isa.load_part(from));
                    continue;
                }
                let mut whole = [T::ZERO; LANES];
                T::store(isa, &mut whole, isa.load_part(from));
                to.copy_from_slice(&whole[..to.len()]);
            }
        }
    }
}

/// Up to sixteen elements of the cache; absent lanes are +0.
#[inline(always)]
pub(super) fn load_part<S: Isa, T: CacheElement>(isa: S, from: &[T]) -> S::F {
    if let Some(from) = from.first_chunk() {
        return T::load(isa, from);
    }
    let mut whole = [T::ZERO; LANES];
    whole[..from.len()].copy_from_slice(from);
    T::load(isa, &whole)
}
