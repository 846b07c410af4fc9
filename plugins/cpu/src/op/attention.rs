//! `guild.core.attention@1`: causal grouped-query attention over a paged cache (rule 6). Parallel
//! over rows and heads.

use super::{check_counts, check_f32};
use crate::isa::{Isa, LANES, vectorized};
use guild_numerics::exp::exp;
use guild_numerics::lanes::Scalar;
use guild_sdk::abi::abi::GUILD_PAGE_POSITIONS;
use guild_sdk::abi::core_ops::guild_attention_params;
use guild_sdk::abi::formats::{GUILD_FORMAT_F16, GUILD_FORMAT_F32};
use guild_sdk::{
    Batch, Bounds, Element, Exec, Failure, Instance, Refusal, Request, ScratchSlots, Sequence,
    State, Tensor,
};

/// Positions of a page, and of a block of rule 6.
const PAGE: usize = GUILD_PAGE_POSITIONS as usize;
/// Vectors of value elements that are summed together.
const VALUE_VECTORS: usize = 8;

struct Attention<S> {
    isa: S,
    scale: f32,
    half: bool,
}

/// An element of the cache.
trait CacheElement: Element {
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

/// Whether the request keeps the contract.
///
/// # Errors
/// The operand or parameter that doesn't.
pub fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check_counts(request, 3, 1, 2)?;
    let [q, k, v] = &request.inputs[..] else {
        return Err(Refusal::shape(0, 0, "attention has three inputs"));
    };
    let dim = q.dim();
    for (at, tensor) in [q, k, v, &request.outputs[0]].into_iter().enumerate() {
        check_f32(at, tensor, dim)?;
        if tensor.rank != 3 {
            let text = "q, k, v and the output have rank 3";
            return Err(Refusal::shape(at, tensor.rank as u64, text));
        }
    }
    let (heads, kv_heads) = (q.shape[1], k.shape[1]);
    if kv_heads == 0 || !heads.is_multiple_of(kv_heads) || v.shape[1] != kv_heads {
        let text = "query heads aren't a multiple of KV heads";
        return Err(Refusal::shape(1, kv_heads as u64, text));
    }
    let format = request.states[0].format;
    for (at, state) in request.states.iter().enumerate() {
        if state.format != format || ![GUILD_FORMAT_F16, GUILD_FORMAT_F32].contains(&format) {
            let text = "keys and values are both f16 or both f32";
            return Err(Refusal::format(4 + at, state.format, text));
        }
        if state.shape != [kv_heads, PAGE, dim, 1] {
            let text = "a page isn't [kv_heads, 256, dim]";
            return Err(Refusal::shape(4 + at, state.shape[0] as u64, text));
        }
    }
    if request.params::<guild_attention_params>().is_err() {
        return Err(Refusal::params(0, "attention's parameters are missing"));
    }
    Ok(())
}

/// Binds a request that [`supports`] accepted.
///
/// # Errors
/// Parameters are missing.
pub fn create<S: Isa>(isa: S, request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
    let params: guild_attention_params = request.params()?;
    Ok(Box::new(Attention {
        isa,
        scale: params.scale,
        half: request.states[0].format == GUILD_FORMAT_F16,
    }))
}

impl<S: Isa> Instance for Attention<S> {
    fn scratch(&self, _bounds: &Bounds) -> ScratchSlots {
        ScratchSlots::NONE
    }

    fn execute(&self, x: &Exec<'_>) -> Result<(), Failure> {
        if self.half {
            self.run::<u16>(x)
        } else {
            self.run::<f32>(x)
        }
    }
}

impl<S: Isa> Attention<S> {
    fn run<T: CacheElement>(&self, x: &Exec<'_>) -> Result<(), Failure> {
        let (q, k, v) = (x.input(0)?, x.input(1)?, x.input(2)?);
        let (mut keys, mut values) = (x.state::<T>(0)?, x.state::<T>(1)?);
        let (batch, y) = (x.batch()?, x.output(0)?);
        let (rows, heads, dim, kv_heads) = (y.rows(), y.heads(), y.dim(), k.heads());
        let page = [kv_heads, PAGE, dim, 1];
        let same = [q.heads(), q.dim(), k.dim(), v.heads(), v.dim()]
            == [heads, dim, dim, kv_heads, dim]
            && [q.rows(), k.rows(), v.rows(), batch.rows()] == [rows; 4]
            && [keys.shape(), values.shape()] == [page; 2]
            && kv_heads > 0;
        if !same {
            return Err(super::lengths_differ());
        }
        for sequence in batch.sequences() {
            self.isa
                .vectorize::<WriteCache, _>((&sequence, &k, &mut keys));
            self.isa
                .vectorize::<WriteCache, _>((&sequence, &v, &mut values));
        }
        let group = (heads / kv_heads).max(1);
        // The heads of a group read the same keys; few rows are cut further to feed all workers.
        let par = x.par();
        let head_block = if rows * kv_heads >= 4 * par.workers() {
            group
        } else {
            1
        };
        let (keys, values) = (keys.rows(), values.rows());
        par.split(y.tiles(1, head_block), 1, |_, mut y| {
            let row = y.rows().start;
            let Some(query) = Query::of(&batch, row) else {
                return;
            };
            for head in y.heads() {
                let cache = Cache {
                    keys: &keys,
                    values: &values,
                    kv_head: head / group,
                    dim,
                };
                let y = y.vector_mut(row, head);
                let arguments = (&query, q.vector(row, head), &cache, self.scale, y);
                self.isa.vectorize::<Attend, _>(arguments);
            }
        })
    }
}

/// Names [`write_cache`].
struct WriteCache;

vectorized!(impl [T: CacheElement] WriteCache = write_cache::<S, T>, (&'a Sequence<'a>, &'a Tensor<'a, f32>, &'a mut State<'b, T>));

/// Names [`Query::attend`].
struct Attend;

vectorized!(impl [T: CacheElement] Attend = Query::attend::<S, T>, (&'a Query<'a>, &'a [f32], &'a Cache<'a, T>, f32, &'a mut [f32]));

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
                let mut whole = [T::ZERO; LANES];
                T::store(isa, &mut whole, isa.load_part(from));
                to.copy_from_slice(&whole[..to.len()]);
            }
        }
    }
}

/// The cache as one KV head sees it.
struct Cache<'a, T> {
    keys: &'a Tensor<'a, T>,
    values: &'a Tensor<'a, T>,
    kv_head: usize,
    dim: usize,
}

impl<T: CacheElement> Cache<'_, T> {
    /// The first `count` entries of a page.
    #[inline(always)]
    fn entries<'p>(&self, of: &Tensor<'p, T>, page: usize, count: usize) -> &'p [T] {
        let head = &of.vector(page, 0)[self.kv_head * PAGE * self.dim..];
        &head[..count * self.dim]
    }
}

/// Where a row stands.
struct Query<'a> {
    pages: &'a [u32],
    position: usize,
}

impl<'a> Query<'a> {
    fn of(batch: &Batch<'a>, row: usize) -> Option<Query<'a>> {
        let mut sequences = batch.sequences();
        let sequence = sequences.find(|sequence| row < sequence.first_row + sequence.rows)?;
        Some(Query {
            pages: sequence.pages,
            position: sequence.position as usize + row - sequence.first_row,
        })
    }

    /// Attends to all positions up to the row's own; `y` and `q` are `[dim]`.
    #[inline(always)]
    fn attend<S: Isa, T: CacheElement>(
        isa: S,
        (query, q, cache, scale, y): (&Query<'_>, &[f32], &Cache<'_, T>, f32, &mut [f32]),
    ) {
        let (mut m, mut l) = (0.0, 0.0);
        for block in 0..=query.position / PAGE {
            let count = (query.position + 1 - block * PAGE).min(PAGE);
            let page = query.pages[block] as usize;
            let keys = cache.entries(cache.keys, page, count);
            let mut p = [0.0; PAGE];
            let p = &mut p[..count];
            scores(isa, q, keys, scale, p);
            let m_b = super::maximum(isa, p);
            let l_b = exponentials(isa, m_b, p);
            let values = cache.entries(cache.values, page, count);
            let merge = if block == 0 {
                (m, l) = (m_b, l_b);
                None
            } else {
                let larger = if m_b > m { m_b } else { m };
                let (a, c) = (exp(Scalar, m - larger), exp(Scalar, m_b - larger));
                l = l.mul_add(a, l_b * c);
                m = larger;
                Some((a, c))
            };
            weighted_sum(isa, p, values, merge, y);
        }
        let l = isa.splat(l);
        super::map_in_place(isa, y, |y| isa.div(y, l));
    }
}

/// `p[j] = dot(q, keys[j]) * scale`.
#[inline(always)]
fn scores<S: Isa, T: CacheElement>(isa: S, q: &[f32], keys: &[T], scale: f32, p: &mut [f32]) {
    let dim = q.len();
    let scale = isa.splat(scale);
    for (sixteen, p) in p.chunks_mut(LANES).enumerate() {
        let last = p.len() - 1;
        let keys = &keys[sixteen * LANES * dim..];
        let rows: [&[T]; LANES] = core::array::from_fn(|j| &keys[j.min(last) * dim..][..dim]);
        let mut sums = [isa.splat(0.0); LANES];
        for at in (0..dim).step_by(LANES) {
            let part = at..(at + LANES).min(dim);
            let q = isa.load_part(&q[part.clone()]);
            for (sum, row) in sums.iter_mut().zip(&rows) {
                *sum = isa.fma(q, load_part(isa, &row[part.clone()]), *sum);
            }
        }
        isa.store_part(p, isa.mul(isa.tree_16(&sums), scale));
    }
}

/// `p[j] = exp(p[j] - m)`; gives their sum by rule 2.
#[inline(always)]
fn exponentials<S: Isa>(isa: S, m: f32, p: &mut [f32]) -> f32 {
    let m = isa.splat(m);
    let mut sum = isa.splat(0.0);
    for p in p.chunks_mut(LANES) {
        let value = exp(isa, isa.sub(isa.load_part(p), m));
        isa.store_part(p, value);
        sum = isa.add(sum, isa.load_part(p));
    }
    isa.tree(sum)
}

/// `y = sum of p[j] * values[j]`, or with `merge` `(a, c)` `y = fma(y, a, sum * c)`.
#[inline(always)]
fn weighted_sum<S: Isa, T: CacheElement>(
    isa: S,
    p: &[f32],
    values: &[T],
    merge: Option<(f32, f32)>,
    y: &mut [f32],
) {
    let dim = y.len();
    let mut at = 0;
    while dim - at >= VALUE_VECTORS * LANES {
        sum_columns::<S, T, VALUE_VECTORS>(isa, p, values, dim, at, merge, y);
        at += VALUE_VECTORS * LANES;
    }
    while at < dim {
        sum_columns::<S, T, 1>(isa, p, values, dim, at, merge, y);
        at += LANES;
    }
}

#[inline(always)]
fn sum_columns<S: Isa, T: CacheElement, const C: usize>(
    isa: S,
    p: &[f32],
    values: &[T],
    dim: usize,
    first: usize,
    merge: Option<(f32, f32)>,
    y: &mut [f32],
) {
    let end = (first + C * LANES).min(dim);
    let width = end - first;
    let part = |c: usize| c * LANES..((c + 1) * LANES).min(width);
    let mut sums = [isa.splat(0.0); C];
    for (p, values) in p.iter().zip(values.chunks_exact(dim)) {
        let p = isa.splat(*p);
        let values = &values[first..end];
        for (c, sum) in sums.iter_mut().enumerate() {
            *sum = isa.fma(p, load_part(isa, &values[part(c)]), *sum);
        }
    }
    let y = &mut y[first..end];
    for (c, sum) in sums.into_iter().enumerate() {
        let y = &mut y[part(c)];
        let value = match merge {
            None => sum,
            Some((a, b)) => {
                let scaled = isa.mul(sum, isa.splat(b));
                isa.fma(isa.load_part(y), isa.splat(a), scaled)
            }
        };
        isa.store_part(y, value);
    }
}

/// Up to sixteen elements of the cache; absent lanes are +0.
#[inline(always)]
fn load_part<S: Isa, T: CacheElement>(isa: S, from: &[T]) -> S::F {
    if let Some(from) = from.first_chunk() {
        return T::load(isa, from);
    }
    let mut whole = [T::ZERO; LANES];
    whole[..from.len()].copy_from_slice(from);
    T::load(isa, &whole)
}
