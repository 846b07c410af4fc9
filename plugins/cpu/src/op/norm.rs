//! What the norms share: the loop over vectors of the last axis.

use super::rows_plan;
use crate::isa::{Isa, LANES, vectorized};
use core::marker::PhantomData;
use guild_sdk::abi::core_ops::guild_norm_params;
use guild_sdk::{Bounds, Exec, Failure, Instance, Refusal, Request, ScratchSlots, Tensor, Tile};

/// Elements of the vectors that are summed before the first of them is replaced: they stay in the
/// nearest cache.
const GROUP_ELEMS: usize = 4096;

/// The arithmetic of one norm.
pub(super) trait Norm: Sized + Send + Sync + 'static {
    /// Inputs of the operation: `x`, then a weight where there are two, then `z`.
    const INPUTS: usize;
    /// Each vector's factor, from its sum of squares; `dim` elements have a vector.
    fn factor<S: Isa>(&self, isa: S, squares: S::F, dim: usize) -> S::F;
    /// The output's lanes. `weight` and `z` aren't looked at where the operation has none.
    fn lanes<S: Isa>(&self, isa: S, x: S::F, factor: S::F, weight: S::F, z: S::F) -> S::F;
}

/// `1 / sqrt(x)`, by `sqrt` then `div`.
#[inline(always)]
pub(super) fn inverse_root<S: Isa>(isa: S, x: S::F) -> S::F {
    isa.div(isa.splat(1.0), isa.sqrt(x))
}

/// The norm, its vectors (which hold `x`), the weight and `z`; the last two are empty where the
/// operation has none.
type NormArguments<'a, 'b, N> = (
    &'a N,
    &'a mut Tile<'b, f32>,
    &'a [f32],
    Option<&'a Tensor<'a, f32>>,
);

/// Names [`normalise`] of one norm.
struct Apply<N>(PhantomData<N>);

vectorized!(impl [N: Norm] Apply<N> = normalise::<S, N>, NormArguments<'a, 'b, N>);

/// Replaces all vectors of a tile. Sixteen at a time, where they are short, so that their sums and roots
/// aren't waited for one by one.
#[inline(always)]
fn normalise<S: Isa, N: Norm>(isa: S, (norm, y, weight, z): NormArguments<'_, '_, N>) {
    let (rows, heads, dim) = (y.rows(), y.heads(), y.columns().len());
    let vectors = rows.len() * heads.len();
    let group = (GROUP_ELEMS / dim.max(1)).clamp(1, LANES);
    let place = |i: usize| (rows.start + i / heads.len(), heads.start + i % heads.len());
    for first in (0..vectors).step_by(group) {
        let end = (first + group).min(vectors);
        let mut squares = [isa.splat(0.0); LANES];
        for (i, squares) in (first..end).zip(&mut squares) {
            let (row, head) = place(i);
            for x in y.vector(row, head).chunks(LANES) {
                let x = isa.load_part(x);
                *squares = isa.fma(x, x, *squares);
            }
        }
        let factors = isa.array(norm.factor(isa, isa.tree_16(&squares), dim));
        for (i, factor) in (first..end).zip(factors) {
            let (row, head) = place(i);
            let z = z.map_or(&[][..], |z| z.vector(row, head));
            apply(isa, norm, factor, (y.vector_mut(row, head), weight, z));
        }
    }
}

/// Replaces one vector.
#[inline(always)]
fn apply<S: Isa, N: Norm>(
    isa: S,
    norm: &N,
    factor: f32,
    (y, weight, z): (&mut [f32], &[f32], &[f32]),
) {
    let factor = isa.splat(factor);
    for (at, y) in (0..).step_by(LANES).zip(y.chunks_mut(LANES)) {
        let (mut weights, mut gates) = (isa.splat(0.0), isa.splat(0.0));
        if N::INPUTS > 1 {
            weights = isa.load_part(&weight[at..]);
        }
        if N::INPUTS > 2 {
            gates = isa.load_part(&z[at..]);
        }
        let value = norm.lanes(isa, isa.load_part(y), factor, weights, gates);
        isa.store_part(y, value);
    }
}

struct Instanced<S, N> {
    isa: S,
    norm: N,
}

/// `x`, the weight, `z` and the output belong together.
pub(super) fn supports<N: Norm>(request: &Request<'_>) -> Result<(), Refusal> {
    super::check_counts(request, N::INPUTS, 1, 0)?;
    let x = &request.inputs[0];
    let all = request.inputs.iter().chain(&request.outputs);
    for (at, tensor) in all.enumerate() {
        super::check_f32(at, tensor, x.dim())?;
        let is_weight = at == 1 && N::INPUTS > 1;
        if !is_weight && tensor.axes() != x.axes() {
            let text = "the operands have different shapes";
            return Err(Refusal::shape(at, tensor.rank as u64, text));
        }
    }
    if request.params::<guild_norm_params>().is_err() {
        return Err(Refusal::params(0, "the norm's parameters are missing"));
    }
    Ok(())
}

/// Binds the operation.
pub(super) fn create<S: Isa, N: Norm>(isa: S, norm: N) -> Result<Box<dyn Instance>, Failure> {
    Ok(Box::new(Instanced { isa, norm }))
}

impl<S: Isa, N: Norm> Instance for Instanced<S, N> {
    fn scratch(&self, _bounds: &Bounds) -> ScratchSlots {
        ScratchSlots::NONE
    }

    fn execute(&self, x: &Exec<'_>) -> Result<(), Failure> {
        let y = x.update()?;
        let mut weight: &[f32] = &[];
        if N::INPUTS > 1 {
            weight = x.weight(1)?.elements().ok_or_else(super::unknown_format)?;
        }
        let z: Option<Tensor<'_, f32>> = if N::INPUTS > 2 {
            Some(x.input(2)?)
        } else {
            None
        };
        let (heads, dim) = (y.heads(), y.dim());
        let fits = |z: &Tensor<'_, f32>| [z.rows(), z.heads(), z.dim()] == [y.rows(), heads, dim];
        if (N::INPUTS > 1 && weight.len() != dim) || !z.as_ref().is_none_or(fits) {
            return Err(super::lengths_differ());
        }
        let (par, row_block) = rows_plan(x.par(), y.rows(), heads * dim);
        par.split(y.tiles(row_block, heads), 1, |_, mut y| {
            let arguments = (&self.norm, &mut y, weight, z.as_ref());
            self.isa.vectorize::<Apply<N>, _>(arguments);
        })
    }
}
