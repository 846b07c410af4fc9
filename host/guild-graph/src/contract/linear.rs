//! `guild.core.linear@1`: matrix products with one input; several weights share its encoding.

use guild_abi::contract::{CoreOp, LINEAR};
use guild_abi::formats::GUILD_FORMAT_F32;

use super::Contract;
use super::operands::{Formats, Operands};
use crate::error::Mismatch;

pub(super) struct Linear;

impl Contract for Linear {
    fn op(&self) -> &'static CoreOp {
        &LINEAR
    }

    fn check(&self, node: &mut Operands<'_>) -> Result<(), Mismatch> {
        let matrices = node.input_count().saturating_sub(1);
        node.counts(2..=LINEAR_INPUTS_MAX, matrices..=matrices, 0)?;
        node.no_params()?;
        node.input(0, "x", Formats::One(GUILD_FORMAT_F32), &["n", "k"])?;
        for i in 0..matrices {
            let rows = format!("m_{i}");
            node.input(i + 1, &format!("weight {i}"), Formats::Any, &[&rows, "k"])?;
            node.output(
                i,
                &format!("y {i}"),
                Formats::One(GUILD_FORMAT_F32),
                &["n", &rows],
            )?;
        }
        Ok(())
    }
}

/// The input and at most eight matrices.
const LINEAR_INPUTS_MAX: usize = 9;
