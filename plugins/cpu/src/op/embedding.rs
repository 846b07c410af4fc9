//! `guild.core.embedding@1`: decodes the rows that the ids name.

use super::{check_counts, check_f32, check_ids, check_weight, rows_plan};
use crate::isa::Isa;
use guild_quant::LengthMismatch;
use guild_sdk::format::weight_format;
use guild_sdk::{Bounds, Exec, Failure, Instance, Refusal, Request, ScratchSlots};
use std::sync::atomic::{AtomicBool, Ordering};

/// Decodes a row's bytes; fails where the lengths don't fit.
type DecodeRow = fn(&[u8], &mut [f32]) -> Result<(), LengthMismatch>;

struct Embedding {
    decode_row: DecodeRow,
}

/// Whether the request keeps the contract.
///
/// # Errors
/// The operand that doesn't.
pub fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check_counts(request, 2, 1, 0)?;
    let table = &request.inputs[0];
    check_weight(0, table, 2, table.dim())?;
    check_ids(1, &request.inputs[1])?;
    check_f32(2, &request.outputs[0], table.dim())
}

/// Binds a request that [`supports`] accepted.
///
/// # Errors
/// The table's format can't be decoded.
pub fn create<S: Isa>(_isa: S, request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
    let table = weight_format(request.inputs[0].format).ok_or_else(super::unknown_format)?;
    Ok(Box::new(Embedding {
        decode_row: table.decode_row,
    }))
}

impl Instance for Embedding {
    fn scratch(&self, _bounds: &Bounds) -> ScratchSlots {
        ScratchSlots::NONE
    }

    fn execute(&self, x: &Exec<'_>) -> Result<(), Failure> {
        let table = x.weight(0)?;
        let ids = read_ids(x, 1, table.rows())?;
        let y = x.output(0)?;
        if y.rows() != ids.len() {
            return Err(super::lengths_differ());
        }
        let (par, row_block) = rows_plan(x.par(), y.rows(), y.dim());
        let fault = AtomicBool::new(false);
        par.split(y.tiles(row_block, 1), 1, |_, mut y| {
            for row in y.rows() {
                if (self.decode_row)(table.row(ids[row] as usize), y.row_mut(row)).is_err() {
                    fault.store(true, Ordering::Relaxed);
                }
            }
        })?;
        if fault.into_inner() {
            return Err(super::lengths_differ());
        }
        Ok(())
    }
}

/// Input `index` as ids, all of which are below `limit`.
pub(super) fn read_ids<'a>(x: &Exec<'a>, index: usize, limit: usize) -> Result<&'a [i32], Failure> {
    let ids = x.ids(index)?.vector(0, 0);
    for &id in ids {
        if !usize::try_from(id).is_ok_and(|id| id < limit) {
            return Err(Failure::invalid(format!("id {id} isn't below {limit}")));
        }
    }
    Ok(ids)
}
