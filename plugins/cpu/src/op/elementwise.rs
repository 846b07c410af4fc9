//! What `add`, `swiglu` and `sigmoid_mul` share: one output element from two input elements.

use super::rows_plan;
use crate::isa::{Isa, LANES, vectorized};
use core::marker::PhantomData;
use guild_sdk::{Bounds, Exec, Failure, Instance, Refusal, Request, ScratchSlots, Tensor, Tile};

/// The arithmetic of one operation.
pub(super) trait Binary: Send + Sync + 'static {
    /// The output's lanes, from input 0 and input 1.
    fn lanes<S: Isa>(isa: S, x: S::F, other: S::F) -> S::F;
}

struct Elementwise<S, B> {
    isa: S,
    binary: PhantomData<B>,
}

/// Two f32 inputs and an output of one shape.
pub(super) fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    super::check_counts(request, 2, 1, 0)?;
    let x = &request.inputs[0];
    super::check_f32(0, x, x.dim())?;
    for (at, other) in [(1, &request.inputs[1]), (2, &request.outputs[0])] {
        super::check_f32(at, other, x.dim())?;
        if other.axes() != x.axes() {
            let text = "the operands have different shapes";
            return Err(Refusal::shape(at, other.rank as u64, text));
        }
    }
    Ok(())
}

/// Binds the operation.
pub(super) fn create<S: Isa, B: Binary>(isa: S) -> Result<Box<dyn Instance>, Failure> {
    Ok(Box::new(Elementwise {
        isa,
        binary: PhantomData::<B>,
    }))
}

impl<S: Isa, B: Binary> Instance for Elementwise<S, B> {
    fn scratch(&self, _bounds: &Bounds) -> ScratchSlots {
        ScratchSlots::NONE
    }

    fn execute(&self, x: &Exec<'_>) -> Result<(), Failure> {
        let other = x.input(1)?;
        let y = x.update()?;
        if [y.rows(), y.heads(), y.dim()] != [other.rows(), other.heads(), other.dim()] {
            return Err(super::lengths_differ());
        }
        let heads = y.heads();
        let (par, row_block) = rows_plan(x.par(), y.rows(), heads * y.dim());
        par.split(y.tiles(row_block, heads), 1, |_, mut y| {
            self.isa.vectorize::<Apply<B>, _>((&mut y, &other));
        })
    }
}

/// Names [`apply`] of one operation.
struct Apply<B>(PhantomData<B>);

vectorized!(impl [B: Binary] Apply<B> = apply::<S, B>, (&'a mut Tile<'b, f32>, &'a Tensor<'a, f32>));

#[inline(always)]
fn apply<S: Isa, B: Binary>(isa: S, (y, other): (&mut Tile<'_, f32>, &Tensor<'_, f32>)) {
    for row in y.rows() {
        for head in y.heads() {
            let (y, other) = (y.vector_mut(row, head), other.vector(row, head));
            for (y, other) in y.chunks_mut(LANES).zip(other.chunks(LANES)) {
                let value = B::lanes(isa, isa.load_part(y), isa.load_part(other));
                isa.store_part(y, value);
            }
        }
    }
}
