//! `guild.core.linear@1` with BF16 weights in tile registers that multiply BF16 numbers: the tolerant class
//! (`docs/numerics.md`, rule 10).
//!
//! Activations are rounded to BF16, so it is for a policy that accepts this. Few rows are multiplied in the exact
//! class: there memory is what takes the time.

use super::linear::{self, Linear};
use crate::block::tolerant_products;
use crate::isa::Isa;
use guild_sdk::abi::formats::GUILD_FORMAT_BF16;
use guild_sdk::{Bounds, Exec, Failure, Instance, Refusal, Request, ScratchSlots};

/// Rows from which tiles are quicker.
const ROWS_MIN: usize = 4;

/// One step's binding.
struct LinearBf16Tiles<S: Isa> {
    few: Linear<S>,
    many: Linear<S>,
}

/// Whether the request keeps the contract and all weights are BF16.
///
/// # Errors
/// The operand that isn't served.
pub fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    linear::supports(request)?;
    let mut weights = request.inputs.iter().enumerate().skip(1);
    match weights.find(|(_, weight)| weight.format != GUILD_FORMAT_BF16) {
        Some((at, weight)) => {
            let text = "a weight isn't BF16, which these tiles multiply alone";
            Err(Refusal::format(at, weight.format, text))
        }
        None => Ok(()),
    }
}

/// Binds a request that [`supports`] accepted.
///
/// # Errors
/// The set has no tiles for BF16.
pub fn create<S: Isa>(isa: S, request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
    Ok(Box::new(LinearBf16Tiles {
        few: Linear::new(isa, request, |format| {
            tolerant_products(format).map(|[few, _]| few)
        })?,
        many: Linear::new(isa, request, |format| {
            tolerant_products(format).map(|[_, many]| many)
        })?,
    }))
}

impl<S: Isa> Instance for LinearBf16Tiles<S> {
    fn scratch(&self, bounds: &Bounds) -> ScratchSlots {
        let rows = self.many.rows_max(bounds);
        let few = self.few.scratch_bytes(rows.min(ROWS_MIN - 1));
        ScratchSlots::NONE.call(few.max(self.many.scratch_bytes(rows)), 64)
    }

    fn execute(&self, x: &Exec<'_>) -> Result<(), Failure> {
        if x.input(0)?.rows() < ROWS_MIN {
            self.few.execute(x)
        } else {
            self.many.execute(x)
        }
    }
}
