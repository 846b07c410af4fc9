//! `guild.core.gated_delta@1`: the gated delta rule. Parallel over value heads.
//!
//! A head's value columns don't meet each other, so a head runs through all rows for a block of
//! columns whose part of the state stays in the nearest cache.

use super::{check_counts, check_f32};
use crate::isa::{Isa, LANES, vectorized};
use guild_numerics::exp::{exp, sigmoid};
use guild_numerics::lanes::Scalar;
use guild_numerics::log1p::softplus;
use guild_sdk::abi::core_ops::{GUILD_HEADS_TILED, guild_delta_params};
use guild_sdk::abi::formats::GUILD_FORMAT_F32;
use guild_sdk::{
    Bounds, Exec, Failure, Instance, Refusal, Request, ScratchSlots, Sequence, Tensor, Tile,
};

/// Vectors of value columns that go through the rows together.
const COLUMN_VECTORS: usize = 4;

struct GatedDelta<S> {
    isa: S,
    tiled: bool,
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
    }))
}

impl<S: Isa> Instance for GatedDelta<S> {
    fn scratch(&self, _bounds: &Bounds) -> ScratchSlots {
        ScratchSlots::NONE
    }

    fn execute(&self, x: &Exec<'_>) -> Result<(), Failure> {
        let (q, k, v) = (x.input(0)?, x.input(1)?, x.input(2)?);
        let (alpha, beta) = (super::packed(x.input(3)?)?, super::packed(x.input(4)?)?);
        let (a, dt) = (super::packed(x.input(5)?)?, super::packed(x.input(6)?)?);
        let batch = x.batch()?;
        let y = x.output(0)?;
        let mut memory = x.state::<f32>(0)?;
        let (rows, heads, key_dim, value_dim) = (y.rows(), y.heads(), q.dim(), y.dim());
        let same = [
            v.heads(),
            v.dim(),
            alpha.dim(),
            beta.dim(),
            a.dim(),
            dt.dim(),
        ] == [heads, value_dim, heads, heads, heads, heads]
            && [k.heads(), k.dim()] == [q.heads(), key_dim]
            && memory.shape() == [heads, key_dim, value_dim, 1]
            && [
                q.rows(),
                k.rows(),
                v.rows(),
                alpha.rows(),
                beta.rows(),
                batch.rows(),
            ] == [rows; 6];
        if !same {
            return Err(super::lengths_differ());
        }
        let per_key = (heads / q.heads().max(1)).max(1);
        let states = memory.column_tiles(key_dim * value_dim);
        let outputs = y.tiles(rows.max(1), 1);
        x.par()
            .split((outputs, states), 1, |index, (mut y, mut state)| {
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
                    let arguments = (&head, &sequence, &mut y, &mut state);
                    self.isa.vectorize::<RunHead, _>(arguments);
                }
            })
    }
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
        &'a mut Tile<'b, f32>
    )
);

impl Head<'_> {
    #[inline(always)]
    fn run<S: Isa>(
        isa: S,
        (head, sequence, y, state): (
            &Head<'_>,
            &Sequence<'_>,
            &mut Tile<'_, f32>,
            &mut Tile<'_, f32>,
        ),
    ) {
        let dim = head.v.dim();
        let mut first = 0;
        while dim - first >= COLUMN_VECTORS * LANES {
            head.columns::<S, COLUMN_VECTORS>(isa, sequence, first, y, state);
            first += COLUMN_VECTORS * LANES;
        }
        while first < dim {
            head.columns::<S, 1>(isa, sequence, first, y, state);
            first += LANES;
        }
    }

    /// Runs all rows for `C` vectors of columns from `first` on; one vector may be part of one.
    #[inline(always)]
    fn columns<S: Isa, const C: usize>(
        &self,
        isa: S,
        sequence: &Sequence<'_>,
        first: usize,
        y: &mut Tile<'_, f32>,
        state: &mut Tile<'_, f32>,
    ) {
        let dim = self.v.dim();
        let end = (first + C * LANES).min(dim);
        let (head, rows) = (y.heads().start, sequence.rows);
        let columns = Columns {
            dim,
            width: end - first,
        };
        // What the next row reads from the decayed state, where the last pass worked that out.
        let mut ahead: Option<[S::F; C]> = None;
        for row in 0..rows {
            let at = sequence.first_row + row;
            let step = self.step(at);
            let memory = &mut state.row_mut(sequence.slot)[first..];
            let read = match ahead.take() {
                Some(read) => read,
                None => columns.decay(isa, memory, &step),
            };
            let delta = columns.delta(isa, &self.v.vector(at, self.index)[first..end], read, &step);
            let snapshot = sequence.snapshot_slots.and_then(|slots| slots.get(row));
            // A snapshot needs the state before it decays.
            let sums = if snapshot.is_none() && row + 1 < rows {
                let next = self.step(at + 1);
                let (sums, read) = columns.update_and_decay(isa, memory, &step, delta, &next);
                ahead = Some(read);
                sums
            } else {
                columns.update(isa, memory, &step, delta)
            };
            let y = &mut y.vector_mut(at, head)[first..end];
            for (y, sum) in y.chunks_mut(LANES).zip(sums) {
                isa.store_part(y, sum);
            }
            if let Some(&slot) = snapshot {
                copy_columns(state, sequence.slot, slot as usize, dim, first..end);
            }
        }
    }

    /// One row's operands.
    #[inline(always)]
    fn step(&self, row: usize) -> Step<'_> {
        let decay = softplus(Scalar, self.alpha.row(row)[self.index] + self.dt);
        Step {
            q: self.q.vector(row, self.key_head),
            k: self.k.vector(row, self.key_head),
            g: exp(Scalar, self.a * decay),
            b: sigmoid(Scalar, self.beta.row(row)[self.index]),
        }
    }
}

/// One row of one head.
struct Step<'a> {
    q: &'a [f32],
    k: &'a [f32],
    g: f32,
    b: f32,
}

/// Some columns of a head's state, which starts at the first of them in the first key's row.
struct Columns {
    /// Elements from one key's row to the next.
    dim: usize,
    /// Columns: whole vectors, or part of one.
    width: usize,
}

impl Columns {
    /// `S = S * g`; gives `sum of S * k`.
    #[inline(always)]
    fn decay<S: Isa, const C: usize>(
        &self,
        isa: S,
        state: &mut [f32],
        step: &Step<'_>,
    ) -> [S::F; C] {
        let g = isa.splat(step.g);
        let mut read = [isa.splat(0.0); C];
        for (k, row) in step.k.iter().zip(state.chunks_mut(self.dim)) {
            let row = &mut row[..self.width];
            let k = isa.splat(*k);
            let mut values = load::<S, C>(isa, row);
            for (value, read) in values.iter_mut().zip(&mut read) {
                *value = isa.mul(*value, g);
                *read = isa.fma(*value, k, *read);
            }
            store(isa, row, values);
        }
        read
    }

    /// `(v - read) * b`.
    #[inline(always)]
    fn delta<S: Isa, const C: usize>(
        &self,
        isa: S,
        v: &[f32],
        read: [S::F; C],
        step: &Step<'_>,
    ) -> [S::F; C] {
        let b = isa.splat(step.b);
        let mut delta = load::<S, C>(isa, v);
        for (delta, read) in delta.iter_mut().zip(read) {
            *delta = isa.mul(isa.sub(*delta, read), b);
        }
        delta
    }

    /// `S = fma(k, delta, S)`; gives `sum of S * q`.
    #[inline(always)]
    fn update<S: Isa, const C: usize>(
        &self,
        isa: S,
        state: &mut [f32],
        step: &Step<'_>,
        delta: [S::F; C],
    ) -> [S::F; C] {
        let mut sums = [isa.splat(0.0); C];
        let keys = step.k.iter().zip(step.q);
        for ((k, q), row) in keys.zip(state.chunks_mut(self.dim)) {
            let row = &mut row[..self.width];
            let (k, q) = (isa.splat(*k), isa.splat(*q));
            let mut values = load::<S, C>(isa, row);
            for ((value, delta), sum) in values.iter_mut().zip(delta).zip(&mut sums) {
                *value = isa.fma(k, delta, *value);
                *sum = isa.fma(*value, q, *sum);
            }
            store(isa, row, values);
        }
        sums
    }

    /// [`Columns::update`] for this row and [`Columns::decay`] for the next in one pass over the state.
    #[inline(always)]
    fn update_and_decay<S: Isa, const C: usize>(
        &self,
        isa: S,
        state: &mut [f32],
        step: &Step<'_>,
        delta: [S::F; C],
        next: &Step<'_>,
    ) -> ([S::F; C], [S::F; C]) {
        let g = isa.splat(next.g);
        let mut sums = [isa.splat(0.0); C];
        let mut read = sums;
        let keys = step.k.iter().zip(step.q).zip(next.k);
        for (((k, q), next_k), row) in keys.zip(state.chunks_mut(self.dim)) {
            let row = &mut row[..self.width];
            let (k, q, next_k) = (isa.splat(*k), isa.splat(*q), isa.splat(*next_k));
            let mut values = load::<S, C>(isa, row);
            for (c, value) in values.iter_mut().enumerate() {
                let updated = isa.fma(k, delta[c], *value);
                sums[c] = isa.fma(updated, q, sums[c]);
                *value = isa.mul(updated, g);
                read[c] = isa.fma(*value, next_k, read[c]);
            }
            store(isa, row, values);
        }
        (sums, read)
    }
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
