//! `guild.core.gated_delta@1`: the gated delta rule. Parallel over value heads.
//!
//! A head's value columns don't meet each other, so a head runs through all rows for a block of
//! columns. That part of the state is copied together, since lines that are a whole row apart share
//! few places of the nearest cache: it enters with the first row's pass and leaves with the last's.
//! The arithmetic is then all there is: four operations an element, which is what the contract asks.

use super::{check_counts, check_f32};
use crate::isa::{Isa, LANES, vectorized};
use guild_numerics::exp::{exp, sigmoid};
use guild_numerics::log1p::softplus;
use guild_sdk::abi::core_ops::{GUILD_HEADS_TILED, guild_delta_params};
use guild_sdk::abi::formats::GUILD_FORMAT_F32;
use guild_sdk::{
    Bounds, Exec, Failure, Instance, Refusal, Request, ScratchSlots, Sequence, Tensor, Tile,
};

/// Vectors of value columns that go through the rows together, at most.
const COLUMN_VECTORS: usize = 4;
/// Rows ahead whose operands are asked for.
const ROWS_AHEAD: usize = 2;

struct GatedDelta<S> {
    isa: S,
    tiled: bool,
    key_dim: usize,
    rows_max: usize,
}

/// Whether the request keeps the contract.
///
/// # Errors
/// The operand or parameter that doesn't.
pub fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check_counts(request, 7, 1, 1)?;
    let [q, k, v, alpha, beta, a, dt] = &request.inputs[..] else {
        return Err(Refusal::shape(0, 0, "gated_delta has seven inputs"));
    };
    if [q.rank, k.rank, v.rank] != [3; 3] {
        return Err(Refusal::shape(0, q.rank as u64, "q, k and v have rank 3"));
    }
    let (key_heads, value_heads) = (q.shape[1], v.shape[1]);
    for (at, tensor, dim) in [
        (0, q, q.dim()),
        (1, k, q.dim()),
        (2, v, v.dim()),
        (3, alpha, value_heads),
        (4, beta, value_heads),
        (5, a, value_heads),
        (6, dt, value_heads),
        (7, &request.outputs[0], v.dim()),
    ] {
        check_f32(at, tensor, dim)?;
    }
    if k.shape[1] != key_heads || key_heads == 0 || !value_heads.is_multiple_of(key_heads) {
        let text = "value heads aren't a multiple of key heads";
        return Err(Refusal::shape(1, k.shape[1] as u64, text));
    }
    let memory = &request.states[0];
    if memory.format != GUILD_FORMAT_F32 {
        return Err(Refusal::format(8, memory.format, "the memory isn't f32"));
    }
    if memory.shape != [value_heads, q.dim(), v.dim(), 1] {
        let text = "the memory isn't [value_heads, key_dim, value_dim]";
        return Err(Refusal::shape(8, memory.shape[0] as u64, text));
    }
    match request.params::<guild_delta_params>() {
        Ok(params) if params.head_order <= GUILD_HEADS_TILED => Ok(()),
        Ok(params) => Err(Refusal::params(
            params.head_order.into(),
            "an unknown head order",
        )),
        Err(_) => Err(Refusal::params(0, "the parameters are missing")),
    }
}

/// Binds a request that [`supports`] accepted.
///
/// # Errors
/// Parameters are missing.
pub fn create<S: Isa>(isa: S, request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
    let params: guild_delta_params = request.params()?;
    Ok(Box::new(GatedDelta {
        isa,
        tiled: params.head_order == GUILD_HEADS_TILED,
        key_dim: request.inputs[0].dim(),
        rows_max: request.inputs[0].shape[0],
    }))
}

impl<S: Isa> Instance for GatedDelta<S> {
    fn scratch(&self, bounds: &Bounds) -> ScratchSlots {
        let rows = self.rows_max.max(bounds.max_rows);
        let elems = worker_elems(self.key_dim, rows) * bounds.workers.max(1);
        ScratchSlots::NONE.call((elems * size_of::<f32>()) as u64, 64)
    }

    fn execute(&self, x: &Exec<'_>) -> Result<(), Failure> {
        let (q, k, v) = (x.input(0)?, x.input(1)?, x.input(2)?);
        let (alpha, beta) = (super::packed(x.input(3)?)?, super::packed(x.input(4)?)?);
        let (a, dt) = (super::packed(x.input(5)?)?, super::packed(x.input(6)?)?);
        let batch = x.batch()?;
        let y = x.output(0)?;
        let mut memory = x.state::<f32>(0)?;
        let (rows, heads, key_dim, value_dim) = (y.rows(), y.heads(), q.dim(), y.dim());
        let dims = [v.heads(), v.dim(), alpha.dim(), beta.dim()];
        let all_rows = [q.rows(), k.rows(), v.rows(), alpha.rows(), beta.rows()];
        let same = dims == [heads, value_dim, heads, heads]
            && [a.dim(), dt.dim()] == [heads; 2]
            && [k.heads(), k.dim()] == [q.heads(), key_dim]
            && memory.shape() == [heads, key_dim, value_dim, 1]
            && all_rows == [rows; 5]
            && batch.rows() == rows;
        if !same {
            return Err(super::lengths_differ());
        }
        let per_key = (heads / q.heads().max(1)).max(1);
        let states = memory.column_tiles(key_dim * value_dim);
        let outputs = y.tiles(rows.max(1), 1);
        let par = x.par();
        let own = worker_elems(key_dim, rows);
        let scratch = x.scratch(0)?.per_worker::<f32>(par.workers(), own)?;
        let parts = (outputs, states, scratch);
        par.split(parts, 1, |index, (mut y, mut state, scratch)| {
            let key_head = if self.tiled {
                index % q.heads()
            } else {
                index / per_key
            };
            let head = Head {
                q: &q,
                k: &k,
                v: &v,
                alpha: &alpha,
                beta: &beta,
                a: a.row(0)[index],
                dt: dt.row(0)[index],
                index,
                key_head,
            };
            for sequence in batch.sequences() {
                let arguments = (&head, &sequence, &mut y, &mut state, &mut *scratch);
                self.isa.vectorize::<RunHead, _>(arguments);
            }
        })
    }
}

/// Elements of a worker's scratch: a block of columns, and each row's decay and rate.
fn worker_elems(key_dim: usize, rows: usize) -> usize {
    key_dim * COLUMN_VECTORS * LANES + 2 * rows.next_multiple_of(LANES)
}

/// One value head.
struct Head<'a> {
    q: &'a Tensor<'a, f32>,
    k: &'a Tensor<'a, f32>,
    v: &'a Tensor<'a, f32>,
    alpha: &'a Tensor<'a, f32>,
    beta: &'a Tensor<'a, f32>,
    a: f32,
    dt: f32,
    index: usize,
    key_head: usize,
}

vectorized!(
    RunHead = Head::run,
    (
        &'a Head<'a>,
        &'a Sequence<'a>,
        &'a mut Tile<'b, f32>,
        &'a mut Tile<'b, f32>,
        &'a mut [f32]
    )
);

/// Each row's decay `g` and rate `b`.
struct Gates<'a> {
    g: &'a [f32],
    b: &'a [f32],
}

impl Head<'_> {
    #[inline(always)]
    fn run<S: Isa>(
        isa: S,
        (head, sequence, y, state, scratch): (
            &Head<'_>,
            &Sequence<'_>,
            &mut Tile<'_, f32>,
            &mut Tile<'_, f32>,
            &mut [f32],
        ),
    ) {
        let rows = sequence.rows.next_multiple_of(LANES);
        let (g, rest) = scratch.split_at_mut(rows);
        let (b, packed) = rest.split_at_mut(rows);
        head.gates(isa, sequence, g, b);
        let gates = Gates { g, b };
        let dim = head.v.dim();
        let mut first = 0;
        // As many columns as leave the registers room for sums, reads and deltas.
        if S::ROWS_AT_ONCE >= 8 {
            while dim - first >= COLUMN_VECTORS * LANES {
                head.columns::<S, COLUMN_VECTORS>(isa, sequence, first, &gates, y, state, packed);
                first += COLUMN_VECTORS * LANES;
            }
        }
        while dim - first >= 2 * LANES {
            head.columns::<S, 2>(isa, sequence, first, &gates, y, state, packed);
            first += 2 * LANES;
        }
        while first < dim {
            head.columns::<S, 1>(isa, sequence, first, &gates, y, state, packed);
            first += LANES;
        }
    }

    /// `g = exp(a * softplus(alpha + dt))` and `b = sigmoid(beta)` for all rows of the sequence.
    #[inline(always)]
    fn gates<S: Isa>(&self, isa: S, sequence: &Sequence<'_>, g: &mut [f32], b: &mut [f32]) {
        let (a, dt) = (isa.splat(self.a), isa.splat(self.dt));
        let pairs = g.as_chunks_mut().0.iter_mut().zip(b.as_chunks_mut().0);
        for (at, (g, b)) in (0..).step_by(LANES).zip(pairs) {
            let (mut alpha, mut beta) = ([0.0; LANES], [0.0; LANES]);
            let count = (sequence.rows - at).min(LANES);
            for i in 0..count {
                let row = sequence.first_row + at + i;
                alpha[i] = self.alpha.row(row)[self.index];
                beta[i] = self.beta.row(row)[self.index];
            }
            let decay = softplus(isa, isa.add(isa.load(&alpha), dt));
            isa.store(g, exp(isa, isa.mul(a, decay)));
            isa.store(b, sigmoid(isa, isa.load(&beta)));
        }
    }

    /// Runs all rows for `C` vectors of columns from `first` on; one vector may be part of one.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn columns<S: Isa, const C: usize>(
        &self,
        isa: S,
        sequence: &Sequence<'_>,
        first: usize,
        gates: &Gates<'_>,
        y: &mut Tile<'_, f32>,
        state: &mut Tile<'_, f32>,
        packed: &mut [f32],
    ) {
        let dim = self.v.dim();
        let end = (first + C * LANES).min(dim);
        let head = y.heads().start;
        let columns = Columns {
            dim,
            width: end - first,
        };
        let packed = packed.as_chunks_mut::<LANES>().0.as_chunks_mut::<C>().0;
        let packed = &mut packed[..self.k.dim()];
        // What the next row reads from the decayed state, where the last pass worked that out.
        let mut ahead: Option<[S::F; C]> = None;
        for row in 0..sequence.rows {
            let at = sequence.first_row + row;
            self.ask_for(isa, at + ROWS_AHEAD, first..end, y);
            let step = self.step(at);
            let read = match ahead.take() {
                Some(read) => read,
                None => {
                    let memory = &state.row(sequence.slot)[first..];
                    columns.enter(isa, memory, packed, &step, gates.g[row])
                }
            };
            let v = &self.v.vector(at, self.index)[first..end];
            let delta = delta::<S, C>(isa, v, read, gates.b[row]);
            let snapshot = sequence.snapshot_slots.and_then(|slots| slots.get(row));
            // A snapshot needs the state before it decays.
            let sums = if snapshot.is_none() && row + 1 < sequence.rows {
                let next = (self.k.vector(at + 1, self.key_head), gates.g[row + 1]);
                let (sums, read) = pass(isa, packed, &step, delta, next);
                ahead = Some(read);
                sums
            } else {
                let memory = &mut state.row_mut(sequence.slot)[first..];
                columns.leave(isa, packed, memory, &step, delta)
            };
            store(isa, &mut y.vector_mut(at, head)[first..end], sums);
            if let Some(&slot) = snapshot {
                copy_columns(state, sequence.slot, slot as usize, dim, first..end);
            }
        }
    }

    /// One row's operands.
    #[inline(always)]
    fn step(&self, row: usize) -> Step<'_> {
        Step {
            q: self.q.vector(row, self.key_head),
            k: self.k.vector(row, self.key_head),
        }
    }

    /// Has the operands of a row come into a near cache, if there is such a row. Its output too: stores
    /// that wait for their line hold up the state's, which are many.
    #[inline(always)]
    fn ask_for<S: Isa>(
        &self,
        isa: S,
        row: usize,
        columns: core::ops::Range<usize>,
        y: &Tile<'_, f32>,
    ) {
        if row < self.q.rows() {
            let step = self.step(row);
            let v = &self.v.vector(row, self.index)[columns.clone()];
            let y = &y.vector(row, self.index)[columns];
            for part in [step.q, step.k, v, y] {
                isa.prefetch_all(part);
            }
        }
    }
}

/// One row of one head.
struct Step<'a> {
    q: &'a [f32],
    k: &'a [f32],
}

/// Some columns of a head's state, which starts at the first of them in the first key's row.
struct Columns {
    /// Elements from one key's row to the next.
    dim: usize,
    /// Columns: whole vectors, or part of one.
    width: usize,
}

impl Columns {
    /// `packed = S * g`; gives `sum of S * k`.
    #[inline(always)]
    fn enter<S: Isa, const C: usize>(
        &self,
        isa: S,
        state: &[f32],
        packed: &mut [[[f32; LANES]; C]],
        step: &Step<'_>,
        g: f32,
    ) -> [S::F; C] {
        let g = isa.splat(g);
        let mut read = [isa.splat(0.0); C];
        let rows = state.chunks(self.dim).zip(packed);
        for (k, (row, packed)) in step.k.iter().zip(rows) {
            let k = isa.splat(*k);
            let mut values = load::<S, C>(isa, &row[..self.width]);
            for (c, value) in values.iter_mut().enumerate() {
                *value = isa.mul(*value, g);
                read[c] = isa.fma(*value, k, read[c]);
                isa.store(&mut packed[c], *value);
            }
        }
        read
    }

    /// `S = fma(k, delta, packed)`; gives `sum of S * q`.
    #[inline(always)]
    fn leave<S: Isa, const C: usize>(
        &self,
        isa: S,
        packed: &[[[f32; LANES]; C]],
        state: &mut [f32],
        step: &Step<'_>,
        delta: [S::F; C],
    ) -> [S::F; C] {
        let mut sums = [isa.splat(0.0); C];
        let rows = state.chunks_mut(self.dim).zip(packed);
        for ((k, q), (row, packed)) in step.k.iter().zip(step.q).zip(rows) {
            let (k, q) = (isa.splat(*k), isa.splat(*q));
            let mut values = delta;
            for (c, value) in values.iter_mut().enumerate() {
                *value = isa.fma(k, delta[c], isa.load(&packed[c]));
                sums[c] = isa.fma(*value, q, sums[c]);
            }
            store(isa, &mut row[..self.width], values);
        }
        sums
    }
}

/// This row's update and the next row's decay, for `next` its `k` and `g`, in one pass over the state.
/// Gives this row's `sum of S * q` and the next one's `sum of S * k`.
#[inline(always)]
fn pass<S: Isa, const C: usize>(
    isa: S,
    packed: &mut [[[f32; LANES]; C]],
    step: &Step<'_>,
    delta: [S::F; C],
    next: (&[f32], f32),
) -> ([S::F; C], [S::F; C]) {
    let g = isa.splat(next.1);
    let mut sums = [isa.splat(0.0); C];
    let mut read = sums;
    let keys = step.k.iter().zip(step.q).zip(next.0);
    for (((k, q), next_k), packed) in keys.zip(packed) {
        let (k, q, next_k) = (isa.splat(*k), isa.splat(*q), isa.splat(*next_k));
        for (c, value) in packed.iter_mut().enumerate() {
            let updated = isa.fma(k, delta[c], isa.load(value));
            sums[c] = isa.fma(updated, q, sums[c]);
            let decayed = isa.mul(updated, g);
            read[c] = isa.fma(decayed, next_k, read[c]);
            isa.store(value, decayed);
        }
    }
    (sums, read)
}

/// `(v - read) * b`.
#[inline(always)]
fn delta<S: Isa, const C: usize>(isa: S, v: &[f32], read: [S::F; C], b: f32) -> [S::F; C] {
    let b = isa.splat(b);
    let mut delta = load::<S, C>(isa, v);
    for (delta, read) in delta.iter_mut().zip(read) {
        *delta = isa.mul(isa.sub(*delta, read), b);
    }
    delta
}

/// `C` vectors, or part of one.
#[inline(always)]
fn load<S: Isa, const C: usize>(isa: S, from: &[f32]) -> [S::F; C] {
    let mut values = [isa.splat(0.0); C];
    if let Some(from) = from.as_chunks().0.first_chunk::<C>() {
        for (value, from) in values.iter_mut().zip(from) {
            *value = isa.load(from);
        }
    } else {
        values[0] = isa.load_part(from);
    }
    values
}

/// Writes `C` vectors, or part of one.
#[inline(always)]
fn store<S: Isa, const C: usize>(isa: S, to: &mut [f32], values: [S::F; C]) {
    if to.len() < C * LANES {
        isa.store_part(to, values[0]);
    } else if let Some(to) = to.as_chunks_mut().0.first_chunk_mut::<C>() {
        for (to, value) in to.iter_mut().zip(values) {
            isa.store(to, value);
        }
    }
}

/// Copies columns of every key's row from one slot to another.
fn copy_columns(
    state: &mut Tile<'_, f32>,
    from: usize,
    to: usize,
    dim: usize,
    columns: core::ops::Range<usize>,
) {
    if from == to {
        return;
    }
    let keys = state.row(from).len() / dim.max(1);
    let mut piece = [0.0; COLUMN_VECTORS * LANES];
    let piece = &mut piece[..columns.len()];
    for key in 0..keys {
        let part = key * dim + columns.start..key * dim + columns.end;
        piece.copy_from_slice(&state.row(from)[part.clone()]);
        state.row_mut(to)[part].copy_from_slice(piece);
    }
}
