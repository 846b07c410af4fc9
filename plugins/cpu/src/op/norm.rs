//! What the norms share: the loop over vectors of the last axis.

use super::rows_plan;
use crate::isa::{Isa, vectorized};
use core::marker::PhantomData;
use guild_sdk::abi::core_ops::guild_norm_params;
use guild_sdk::{Bounds, Exec, Failure, Instance, Refusal, Request, ScratchSlots, Tensor};

/// The norm, `y` (which holds `x`), the weight and `z`; the last two are empty where the operation has
/// none.
pub(super) type NormArguments<'a, N> = (&'a N, &'a mut [f32], &'a [f32], &'a [f32]);

/// The arithmetic of one norm on one vector.
pub(super) trait Norm: Sized + Send + Sync + 'static {
    /// Inputs of the operation: `x`, then a weight where there are two, then `z`.
    const INPUTS: usize;
    /// Replaces `y`.
    fn vector<S: Isa>(isa: S, arguments: NormArguments<'_, Self>);
}

/// Names [`Norm::vector`] of one norm.
struct Apply<N>(PhantomData<N>);

vectorized!(impl [N: Norm] Apply<N> = N::vector, NormArguments<'a, N>);

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
            for row in y.rows() {
                for head in y.heads() {
                    let z = z.as_ref().map_or(&[][..], |z| z.vector(row, head));
                    let arguments = (&self.norm, y.vector_mut(row, head), weight, z);
                    self.isa.vectorize::<Apply<N>, _>(arguments);
                }
            }
        })
    }
}
