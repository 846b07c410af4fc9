//! `guild.core.select_rows@1`: copies the rows that the ids name.

use super::embedding::read_ids;
use super::{check_counts, check_f32, check_ids, rows_plan};
use crate::isa::Isa;
use guild_sdk::{Bounds, Exec, Failure, Instance, Refusal, Request, ScratchSlots};

struct SelectRows;

/// Whether the request keeps the contract.
///
/// # Errors
/// The operand that doesn't.
pub fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check_counts(request, 2, 1, 0)?;
    let x = &request.inputs[0];
    check_f32(0, x, x.dim())?;
    check_ids(1, &request.inputs[1])?;
    check_f32(2, &request.outputs[0], x.dim())
}

/// Binds a request that [`supports`] accepted.
///
/// # Errors
/// None.
pub fn create<S: Isa>(_isa: S, _request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
    Ok(Box::new(SelectRows))
}

impl Instance for SelectRows {
    fn scratch(&self, _bounds: &Bounds) -> ScratchSlots {
        ScratchSlots::NONE
    }

    fn execute(&self, x: &Exec<'_>) -> Result<(), Failure> {
        let from = x.input(0)?;
        let ids = read_ids(x, 1, from.rows())?;
        let y = x.output(0)?;
        if y.rows() != ids.len() {
            return Err(super::lengths_differ());
        }
        let (par, row_block) = rows_plan(x.par(), y.rows(), y.dim());
        par.split(y.tiles(row_block, 1), 1, |_, mut y| {
            for row in y.rows() {
                y.row_mut(row)
                    .copy_from_slice(from.vector(ids[row] as usize, 0));
            }
        })
    }
}
