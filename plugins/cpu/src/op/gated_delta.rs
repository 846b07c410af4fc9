//! `guild.core.gated_delta@1`: the gated delta rule. Parallel over value heads.
//!
//! A head's value columns don't meet each other, so a head runs through all rows for a block of
//! columns whose part of the state stays in the nearest cache.

use super::{check_counts, check_f32};
use crate::isa::{Isa, LANES, vectorized};
use guild_numerics::exp::{exp, sigmoid};
use guild_numerics::lanes::Scalar;
use guild_numerics::log1p::softplus;
use guild_sdk::abi::abi::GUILD_FORMAT_F32;
use guild_sdk::abi::core_ops::{GUILD_HEADS_TILED, guild_delta_params};
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
        let head = y.heads().start;
        for row in 0..sequence.rows {
            let at = sequence.first_row + row;
            let decay = softplus(Scalar, self.alpha.row(at)[self.index] + self.dt);
            let step = Step {
                q: self.q.vector(at, self.key_head),
                k: self.k.vector(at, self.key_head),
                v: &self.v.vector(at, self.index)[first..end],
                g: exp(Scalar, self.a * decay),
                b: sigmoid(Scalar, self.beta.row(at)[self.index]),
                dim,
            };
            let y = &mut y.vector_mut(at, head)[first..end];
            step.run::<S, C>(isa, &mut state.row_mut(sequence.slot)[first..], y);
            if let Some(&slot) = sequence.snapshot_slots.and_then(|slots| slots.get(row)) {
                copy_columns(state, sequence.slot, slot as usize, dim, first..end);
            }
        }
    }
}

/// One row of one head, for some columns.
struct Step<'a> {
    q: &'a [f32],
    k: &'a [f32],
    v: &'a [f32],
    g: f32,
    b: f32,
    /// Elements from one key's row of the state to the next.
    dim: usize,
}

impl Step<'_> {
    /// `state` starts at the first column of the first key.
    #[inline(always)]
    fn run<S: Isa, const C: usize>(&self, isa: S, state: &mut [f32], y: &mut [f32]) {
        let width = self.v.len();
        let part = |c: usize| c * LANES..((c + 1) * LANES).min(width);
        let zero = isa.splat(0.0);
        let (g, b) = (isa.splat(self.g), isa.splat(self.b));
        let mut read = [zero; C];
        for (k, state) in self.k.iter().zip(state.chunks_mut(self.dim)) {
            let k = isa.splat(*k);
            for (c, read) in read.iter_mut().enumerate() {
                let state = &mut state[part(c)];
                let decayed = isa.mul(isa.load_part(state), g);
                isa.store_part(state, decayed);
                *read = isa.fma(decayed, k, *read);
            }
        }
        let mut delta = read;
        for (c, delta) in delta.iter_mut().enumerate() {
            *delta = isa.mul(isa.sub(isa.load_part(&self.v[part(c)]), *delta), b);
        }
        let mut sums = [zero; C];
        let keys = self.k.iter().zip(self.q);
        for ((k, q), state) in keys.zip(state.chunks_mut(self.dim)) {
            let (k, q) = (isa.splat(*k), isa.splat(*q));
            for (c, sum) in sums.iter_mut().enumerate() {
                let state = &mut state[part(c)];
                let next = isa.fma(k, delta[c], isa.load_part(state));
                isa.store_part(state, next);
                *sum = isa.fma(next, q, *sum);
            }
        }
        for (c, sum) in sums.into_iter().enumerate() {
            isa.store_part(&mut y[part(c)], sum);
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
