//! `guild.core.concat@1`: each row of `a` followed by that of `b`.

use super::{check_counts, check_f32, rows_plan};
use crate::isa::Isa;
use guild_sdk::{Bounds, Exec, Failure, Instance, Refusal, Request, ScratchSlots};

struct Concat;

/// Whether the request keeps the contract.
///
/// # Errors
/// The operand that doesn't.
pub fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check_counts(request, 2, 1, 0)?;
    let (a, b) = (&request.inputs[0], &request.inputs[1]);
    check_f32(0, a, a.dim())?;
    check_f32(1, b, b.dim())?;
    check_f32(2, &request.outputs[0], a.dim() + b.dim())
}

/// Binds a request that [`supports`] accepted.
///
/// # Errors
/// None.
pub fn create<S: Isa>(_isa: S, _request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
    Ok(Box::new(Concat))
}

impl Instance for Concat {
    fn scratch(&self, _bounds: &Bounds) -> ScratchSlots {
        ScratchSlots::NONE
    }

    fn execute(&self, x: &Exec<'_>) -> Result<(), Failure> {
        let (a, b, y) = (x.input(0)?, x.input(1)?, x.output(0)?);
        if a.dim() + b.dim() != y.dim() || a.rows() != y.rows() || b.rows() != y.rows() {
            return Err(super::lengths_differ());
        }
        let (par, row_block) = rows_plan(x.par(), y.rows(), y.dim());
        par.split(y.tiles(row_block, 1), 1, |_, mut y| {
            for row in y.rows() {
                let (left, right) = y.row_mut(row).split_at_mut(a.dim());
                left.copy_from_slice(a.vector(row, 0));
                right.copy_from_slice(b.vector(row, 0));
            }
        })
    }
}
