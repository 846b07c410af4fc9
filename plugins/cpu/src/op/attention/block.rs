//! One block of 256 positions for a group of queries: scores, softmax and the weighted sum of values,
//! as two small products whose operands stand in the nearest caches.
//!
//! Sixteen keys are widened once and multiplied with all queries, four by four, so that one
//! transposition sums sixteen dots. Values are widened in panels of two vectors and all 256 positions;
//! a panel goes through the queries with the sums of eight of them in registers. Positions ascend in
//! each sum, and no query's sum takes a position beyond its own.

use super::PAGE;
use super::cache::{CacheElement, load_part};
use crate::isa::{Isa, LANES};
use guild_numerics::exp::exp;
use guild_numerics::lanes::Scalar;

/// Vectors of a panel of values.
const PANEL: usize = 2;

/// Sizes that all parts of one attention share.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// Elements of a head.
    pub dim: usize,
    /// Elements that a head takes here: whole panels.
    pub padded: usize,
    /// Queries that go through a block together, at most.
    pub queries: usize,
}

impl Layout {
    pub(super) fn new(dim: usize, queries: usize) -> Layout {
        Layout {
            dim,
            padded: dim.next_multiple_of(PANEL * LANES),
            queries,
        }
    }

    /// Elements of a query's result of a block: the sums, the maximum and the sum of the weights.
    pub(super) const fn partial(&self) -> usize {
        self.padded + LANES
    }

    /// Elements of a worker's scratch.
    pub(super) const fn work(&self) -> usize {
        let query = self.padded + PAGE + 2 * self.partial();
        self.queries * query + LANES * self.padded + PAGE * PANEL * LANES
    }
}

/// A worker's scratch.
pub(super) struct Work<'w> {
    /// `[queries][padded]`.
    pub queries: &'w mut [f32],
    /// Scores, then weights: `[queries]`.
    weights: &'w mut [[f32; PAGE]],
    /// Sixteen keys, `[16][padded]`.
    keys: &'w mut [f32],
    panel: &'w mut [[[f32; LANES]; PANEL]],
    /// Results of one block and of all up to it, `[queries][partial]`.
    pub results: [&'w mut [f32]; 2],
}

impl<'w> Work<'w> {
    /// Cuts scratch of [`Layout::work`] elements.
    pub(super) fn new(layout: &Layout, scratch: &'w mut [f32]) -> Work<'w> {
        let (queries, rest) = scratch.split_at_mut(layout.queries * layout.padded);
        let (weights, rest) = rest.split_at_mut(layout.queries * PAGE);
        let (keys, rest) = rest.split_at_mut(LANES * layout.padded);
        let (panel, rest) = rest.split_at_mut(PAGE * PANEL * LANES);
        let (block, rest) = rest.split_at_mut(layout.queries * layout.partial());
        let total = &mut rest[..layout.queries * layout.partial()];
        Work {
            queries,
            weights: weights.as_chunks_mut().0,
            keys,
            panel: panel.as_chunks_mut().0.as_chunks_mut().0,
            results: [block, total],
        }
    }
}

/// The queries that a block's positions are for: some rows of one sequence, each with some heads.
#[derive(Clone, Copy)]
pub(super) struct Queries {
    pub rows: usize,
    /// Heads of a row.
    pub heads: usize,
    /// Positions that the first row sees in the block, at least 1; each next row sees one more.
    pub seen: usize,
}

impl Queries {
    /// Positions that a query sees.
    #[inline(always)]
    fn count(&self, query: usize) -> usize {
        (self.seen + query / self.heads).min(PAGE)
    }

    /// Positions that the last row sees.
    #[inline(always)]
    pub(super) fn most(&self) -> usize {
        (self.seen + self.rows - 1).min(PAGE)
    }
}

/// A block's keys and values, as many as the last row sees, and the factor on the scores.
pub(super) struct Block<'a, T> {
    pub keys: &'a [T],
    pub values: &'a [T],
    pub scale: f32,
}

impl<T: CacheElement> Block<'_, T> {
    /// Writes each query's result of this block to `results`, `[queries][partial]`. The queries stand
    /// in `work.queries` from query `first` on.
    #[inline(always)]
    pub(super) fn attend<S: Isa>(
        &self,
        isa: S,
        layout: &Layout,
        queries: Queries,
        first: usize,
        (work, results): (&mut Work<'_>, &mut [f32]),
    ) {
        let count = queries.rows * queries.heads;
        let vectors = layout.padded / LANES;
        let q = &work.queries.as_chunks().0[first * vectors..][..count * vectors];
        let weights = &mut work.weights[..count];
        self.scores(isa, layout, queries, q, work.keys, weights);
        let results = &mut results[..count * layout.partial()];
        let lines = results.chunks_exact_mut(layout.partial());
        for (query, (weights, result)) in weights.iter_mut().zip(lines).enumerate() {
            let (m, l) = softmax(isa, weights, queries.count(query));
            result[layout.padded] = m;
            result[layout.padded + 1] = l;
        }
        let panels = layout.dim.div_ceil(PANEL * LANES);
        for panel in 0..panels {
            let at = panel * PANEL * LANES;
            self.widen_panel(isa, layout.dim, at, work.panel);
            let target = Target {
                layout,
                queries,
                at,
                results: &mut *results,
            };
            sum_panel(isa, work.panel, weights, target);
        }
    }

    /// `weights[query][j] = dot(query, key j) * scale`; entries beyond a query's positions hold
    /// anything.
    #[inline(always)]
    fn scores<S: Isa>(
        &self,
        isa: S,
        layout: &Layout,
        queries: Queries,
        q: &[[f32; LANES]],
        keys: &mut [f32],
        weights: &mut [[f32; PAGE]],
    ) {
        let (dim, vectors) = (layout.dim, layout.padded / LANES);
        let scale = isa.splat(self.scale);
        let keys = &mut keys.as_chunks_mut::<LANES>().0[..LANES * vectors];
        for at in (0..queries.most()).step_by(LANES) {
            // The values at these positions are wanted soon.
            let end = ((at + LANES) * dim).min(self.values.len());
            isa.prefetch_all(&self.values[at * dim..end]);
            for (j, key) in keys.chunks_exact_mut(vectors).enumerate() {
                let from = ((at + j) * dim).min(self.keys.len());
                let from = &self.keys[from..];
                widen(isa, &from[..dim.min(from.len())], key);
            }
            // Whole rows that see none of these positions come first.
            let blind = (at + 1).saturating_sub(queries.seen) * queries.heads;
            let (fours, rest) = (
                q[blind * vectors..].chunks_exact(4 * vectors),
                &mut *weights,
            );
            let single = fours.remainder();
            let (lines, last) = rest[blind..].as_chunks_mut::<4>();
            for (q, lines) in fours.zip(lines) {
                for part in 0..4 {
                    let keys = &keys[4 * part * vectors..][..4 * vectors];
                    let four = isa.mul(dots_4_by_4(isa, q, keys, vectors), scale);
                    let four = isa.array(four);
                    for (line, dots) in lines.iter_mut().zip(four.as_chunks::<4>().0) {
                        line[at + 4 * part..][..4].copy_from_slice(dots);
                    }
                }
            }
            for (q, line) in single.chunks_exact(vectors).zip(last) {
                let dots = isa.mul(dots_1_by_16(isa, q, keys, vectors), scale);
                isa.store_part(&mut line[at..at + LANES], dots);
            }
        }
    }

    /// Widens the values' elements from `at` on to a panel; absent ones are +0.
    #[inline(always)]
    fn widen_panel<S: Isa>(
        &self,
        isa: S,
        dim: usize,
        at: usize,
        panel: &mut [[[f32; LANES]; PANEL]],
    ) {
        let end = (at + PANEL * LANES).min(dim);
        for (value, to) in self.values.chunks_exact(dim).zip(panel) {
            widen(isa, &value[at..end], to);
        }
    }
}

/// Widens elements of the cache; absent ones are +0.
#[inline(always)]
fn widen<S: Isa, T: CacheElement>(isa: S, from: &[T], to: &mut [[f32; LANES]]) {
    let whole = from.len() / LANES;
    let (vectors, rest) = from.as_chunks::<LANES>();
    for (to, from) in to.iter_mut().zip(vectors) {
        isa.store(to, T::load(isa, from));
    }
    for (i, to) in to.iter_mut().enumerate().skip(whole) {
        let from = if i == whole { rest } else { &[] };
        isa.store(to, load_part(isa, from));
    }
}

/// Sixteen dots by rule 2 of four queries with four keys: dot `4 * x + m` is that of query `x` and
/// key `m`.
#[inline(always)]
fn dots_4_by_4<S: Isa>(
    isa: S,
    queries: &[[f32; LANES]],
    keys: &[[f32; LANES]],
    vectors: usize,
) -> S::F {
    let queries: [&[[f32; LANES]]; 4] =
        core::array::from_fn(|x| &queries[x * vectors..][..vectors]);
    let keys: [&[[f32; LANES]]; 4] = core::array::from_fn(|m| &keys[m * vectors..][..vectors]);
    let mut sums = [isa.splat(0.0); LANES];
    for c in 0..vectors {
        let mut values = [isa.splat(0.0); 4];
        for (value, key) in values.iter_mut().zip(&keys) {
            *value = isa.load(&key[c]);
        }
        for (x, query) in queries.iter().enumerate() {
            let query = isa.load(&query[c]);
            for (m, key) in values.iter().enumerate() {
                sums[4 * x + m] = isa.fma(query, *key, sums[4 * x + m]);
            }
        }
    }
    isa.tree_16(&sums)
}

/// The dots by rule 2 of one query with sixteen keys.
#[inline(always)]
fn dots_1_by_16<S: Isa>(
    isa: S,
    query: &[[f32; LANES]],
    keys: &[[f32; LANES]],
    vectors: usize,
) -> S::F {
    let keys: [&[[f32; LANES]]; LANES] = core::array::from_fn(|m| &keys[m * vectors..][..vectors]);
    let query = &query[..vectors];
    let mut sums = [isa.splat(0.0); LANES];
    for c in 0..vectors {
        let query = isa.load(&query[c]);
        for (sum, key) in sums.iter_mut().zip(&keys) {
            *sum = isa.fma(query, isa.load(&key[c]), *sum);
        }
    }
    isa.tree_16(&sums)
}

/// Scores become weights `exp(s - m)`; gives `m`, their maximum, and the sum of the weights.
#[inline(always)]
fn softmax<S: Isa>(isa: S, weights: &mut [f32; PAGE], count: usize) -> (f32, f32) {
    let whole = count.next_multiple_of(LANES).min(PAGE);
    // The weight of a score of minus infinity is +0, which leaves a lane of the sum as it is.
    weights[count..whole].fill(f32::NEG_INFINITY);
    let scores = weights[..whole].as_chunks_mut::<LANES>().0;
    let mut largest = isa.splat(f32::NEG_INFINITY);
    for scores in scores.iter() {
        let scores = isa.load(scores);
        largest = isa.select(isa.greater(scores, largest), scores, largest);
    }
    let m = isa
        .array(largest)
        .into_iter()
        .fold(f32::NEG_INFINITY, |m, x| if x > m { x } else { m });
    let (subtract, mut sum) = (isa.splat(m), isa.splat(0.0));
    for scores in scores {
        let weight = exp(isa, isa.sub(isa.load(scores), subtract));
        isa.store(scores, weight);
        sum = isa.add(sum, weight);
    }
    (m, isa.tree(sum))
}

/// Where the sums of a panel go.
struct Target<'a> {
    layout: &'a Layout,
    queries: Queries,
    /// First element of the panel.
    at: usize,
    results: &'a mut [f32],
}

/// `results[query][at..] = sum of weights[query][j] * panel[j]` for all queries.
#[inline(always)]
fn sum_panel<S: Isa>(
    isa: S,
    panel: &[[[f32; LANES]; PANEL]],
    weights: &[[f32; PAGE]],
    mut target: Target<'_>,
) {
    let mut done = 0;
    if S::ROWS_AT_ONCE >= 8 {
        done = sum_queries::<S, 8>(isa, panel, weights, &mut target, done);
        done = sum_queries::<S, 4>(isa, panel, weights, &mut target, done);
    }
    done = sum_queries::<S, 2>(isa, panel, weights, &mut target, done);
    sum_queries::<S, 1>(isa, panel, weights, &mut target, done);
}

/// Queries `done..` in groups of `X`; gives how many are done then.
#[inline(always)]
fn sum_queries<S: Isa, const X: usize>(
    isa: S,
    panel: &[[[f32; LANES]; PANEL]],
    weights: &[[f32; PAGE]],
    target: &mut Target<'_>,
    mut done: usize,
) -> usize {
    for weights in weights[done..].as_chunks::<X>().0 {
        let mut sums = [[isa.splat(0.0); PANEL]; X];
        // What all of them see, then what the later rows see besides.
        let common = target.queries.count(done);
        for (j, values) in panel[..common].iter().enumerate() {
            let mut loaded = [isa.splat(0.0); PANEL];
            for (loaded, value) in loaded.iter_mut().zip(values) {
                *loaded = isa.load(value);
            }
            for (weights, sums) in weights.iter().zip(&mut sums) {
                let weight = isa.splat(weights[j % PAGE]);
                for (value, sum) in loaded.iter().zip(sums) {
                    *sum = isa.fma(weight, *value, *sum);
                }
            }
        }
        for (x, (weights, sums)) in weights.iter().zip(&mut sums).enumerate() {
            let count = target.queries.count(done + x);
            for (weight, values) in weights[common..count].iter().zip(&panel[common..count]) {
                let weight = isa.splat(*weight);
                for (value, sum) in values.iter().zip(&mut *sums) {
                    *sum = isa.fma(weight, isa.load(value), *sum);
                }
            }
        }
        let partial = target.layout.partial();
        let lines = target.results[done * partial..].chunks_exact_mut(partial);
        for (line, sums) in lines.zip(sums) {
            let line = line[target.at..].as_chunks_mut().0;
            for (to, sum) in line.iter_mut().zip(sums) {
                isa.store(to, sum);
            }
        }
        done += X;
    }
    done
}

/// Combines the result of all blocks so far with that of the next one.
#[inline(always)]
pub(super) fn merge<S: Isa>(isa: S, layout: &Layout, total: &mut [f32], next: &[f32]) {
    let (sums, rest) = total.split_at_mut(layout.padded);
    let (next_sums, next_rest) = next.split_at(layout.padded);
    let (m, m_b) = (rest[0], next_rest[0]);
    let larger = if m_b > m { m_b } else { m };
    let (a, c) = (exp(Scalar, m - larger), exp(Scalar, m_b - larger));
    rest[0] = larger;
    rest[1] = rest[1].mul_add(a, next_rest[1] * c);
    let (a, c) = (isa.splat(a), isa.splat(c));
    let pairs = sums.as_chunks_mut().0.iter_mut();
    for (sum, next) in pairs.zip(next_sums.as_chunks().0) {
        let value = isa.fma(isa.load(sum), a, isa.mul(isa.load(next), c));
        isa.store(sum, value);
    }
}

/// `y`, the sums of all blocks by the sum of the weights.
#[inline(always)]
pub(super) fn finish<S: Isa>(isa: S, layout: &Layout, total: &[f32], y: &mut [f32]) {
    let l = isa.splat(total[layout.padded + 1]);
    for (y, sum) in y.chunks_mut(LANES).zip(total.as_chunks::<LANES>().0) {
        isa.store_part(y, isa.div(isa.load(sum), l));
    }
}
