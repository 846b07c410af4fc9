//! `guild.core.embedding@1`: rows of a table, by token id.

use guild_abi::contract::{CoreOp, EMBEDDING};
use guild_abi::formats::{GUILD_FORMAT_F32, GUILD_FORMAT_I32};

use super::Contract;
use super::operands::{Formats, Operands};
use crate::error::Mismatch;

pub(super) struct Embedding;

impl Contract for Embedding {
    fn op(&self) -> &'static CoreOp {
        &EMBEDDING
    }

    fn check(&self, node: &mut Operands<'_>) -> Result<(), Mismatch> {
        node.counts(2..=2, 1..=1, 0)?;
        node.no_params()?;
        node.input(0, "table", Formats::Any, &["vocabulary", "hidden"])?;
        node.input(1, "ids", Formats::One(GUILD_FORMAT_I32), &["rows"])?;
        node.output(0, "y", Formats::One(GUILD_FORMAT_F32), &["rows", "hidden"])
    }
}
