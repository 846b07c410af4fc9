//! `guild.core.concat@1`: two tensors side by side.

use guild_abi::contract::{CONCAT, CoreOp};
use guild_abi::formats::GUILD_FORMAT_F32;

use super::Contract;
use super::operands::{Formats, Operands};
use crate::error::Mismatch;

pub(super) struct Concat;

impl Contract for Concat {
    fn op(&self) -> &'static CoreOp {
        &CONCAT
    }

    fn check(&self, node: &mut Operands<'_>) -> Result<(), Mismatch> {
        node.counts(2..=2, 1..=1, 0)?;
        node.no_params()?;
        node.input(0, "a", Formats::One(GUILD_FORMAT_F32), &["n", "p"])?;
        node.input(1, "b", Formats::One(GUILD_FORMAT_F32), &["n", "q"])?;
        node.bind("p+q", node.number("p") + node.number("q"));
        node.output(0, "y", Formats::One(GUILD_FORMAT_F32), &["n", "p+q"])
    }
}
