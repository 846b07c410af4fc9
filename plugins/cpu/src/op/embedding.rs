//! `guild.core.embedding@1`: decodes the rows that the ids name.

use super::{check_counts, check_f32, check_ids, check_weight, rows_plan};
use crate::isa::Isa;
use guild_sdk::{Bounds, Exec, Failure, Instance, Refusal, Request, ScratchSlots};
use std::sync::atomic::{AtomicBool, Ordering};

/// Decodes a row's bytes; `false` where the lengths don't fit.
type Decode = fn(&[u8], &mut [f32]) -> bool;

struct Embedding {
    decode: Decode,
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
    let decode = decode(request.inputs[0].format).ok_or_else(super::unknown_format)?;
    Ok(Box::new(Embedding { decode }))
}

/// The decoder of a format.
fn decode(format: u32) -> Option<Decode> {
    use guild_quant::format::{Bf16, F16, F32, Q4_0, Q4K, Q5K, Q6K, Q8_0};
    use guild_sdk::abi::abi as numbers;

    fn of<F: guild_quant::BlockFormat>() -> Option<Decode> {
        Some(|bytes, y| guild_quant::decode_row::<F>(bytes, y).is_ok())
    }
    match format {
        numbers::GUILD_FORMAT_F32 => of::<F32>(),
        numbers::GUILD_FORMAT_F16 => of::<F16>(),
        numbers::GUILD_FORMAT_BF16 => of::<Bf16>(),
        numbers::GUILD_FORMAT_Q4_0 => of::<Q4_0>(),
        numbers::GUILD_FORMAT_Q8_0 => of::<Q8_0>(),
        numbers::GUILD_FORMAT_Q4_K => of::<Q4K>(),
        numbers::GUILD_FORMAT_Q5_K => of::<Q5K>(),
        numbers::GUILD_FORMAT_Q6_K => of::<Q6K>(),
        _ => None,
    }
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
                if !(self.decode)(table.row(ids[row] as usize), y.row_mut(row)) {
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
