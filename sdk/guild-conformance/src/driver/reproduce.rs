//! One case on a plugin that somebody else has started: a host that runs golden vectors.
#![allow(unsafe_code)]

use super::{Operation, Plugin, Run};
use crate::case::Case;
use crate::report::Verdict;
use crate::tolerance::Allowed;
use guild_abi::abi::guild_plugin_v1;
use guild_abi::formats::GUILD_FORMAT_F32;

/// Runs one case on one operation of a plugin that is started already. Outputs must have the case's bits,
/// or where `relative` isn't 0, f32 outputs must be that near to them.
///
/// # Safety
/// `table` is the table of a plugin that obeys the ABI, between `init` and `shutdown`, and nothing else
/// calls it meanwhile.
#[must_use]
pub unsafe fn reproduce(
    table: &guild_plugin_v1,
    operation: &Operation,
    case: &Case,
    relative: f64,
) -> Verdict {
    let plugin = Plugin { table: *table };
    let ran = Run::new(case, operation).and_then(|mut run| {
        run.is_golden = true;
        if relative > 0.0 {
            run.hold_to_relative(relative);
        }
        run.go(&plugin)
    });
    ran.unwrap_or_else(Verdict::Failed)
}

impl Run<'_> {
    /// Lets f32 outputs be within a relative error of the case's numbers.
    fn hold_to_relative(&mut self, relative: f64) {
        for (placed, operand) in self.outputs.iter_mut().zip(&self.case.outputs) {
            if operand.format != GUILD_FORMAT_F32 {
                continue;
            }
            let numbers = operand.bytes.as_chunks().0.iter();
            let allowed = numbers.map(|bytes| {
                let value = f64::from(f32::from_le_bytes(*bytes));
                match (value.is_nan(), value.is_infinite()) {
                    (true, _) => Allowed::Nan,
                    (_, true) => Allowed::NotFinite,
                    _ => Allowed::Within {
                        value,
                        error: relative * value.abs(),
                    },
                }
            });
            placed.hold_to(allowed.collect(), false);
        }
    }
}
