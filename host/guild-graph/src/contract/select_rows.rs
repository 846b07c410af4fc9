//! `guild.core.select_rows@1`: the rows whose logits are wanted.

use guild_abi::contract::{CoreOp, SELECT_ROWS};
use guild_abi::formats::{GUILD_FORMAT_F32, GUILD_FORMAT_I32};

use super::Contract;
use super::operands::{Formats, Operands};
use crate::error::Mismatch;

pub(super) struct SelectRows;

impl Contract for SelectRows {
    fn op(&self) -> &'static CoreOp {
        &SELECT_ROWS
    }

    fn check(&self, node: &mut Operands<'_>) -> Result<(), Mismatch> {
        node.counts(2..=2, 1..=1, 0)?;
        node.no_params()?;
        node.input(0, "x", Formats::One(GUILD_FORMAT_F32), &["rows", "hidden"])?;
        node.input(1, "ids", Formats::One(GUILD_FORMAT_I32), &["outputs"])?;
        node.output(
            0,
            "y",
            Formats::One(GUILD_FORMAT_F32),
            &["outputs", "hidden"],
        )
    }
}
