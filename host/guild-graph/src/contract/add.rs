//! `guild.core.add@1`: the sum of two tensors.

use guild_abi::contract::{ADD, CoreOp};
use guild_abi::formats::GUILD_FORMAT_F32;

use super::Contract;
use super::operands::{Formats, Operands};
use crate::error::Mismatch;

pub(super) struct Add;

impl Contract for Add {
    fn op(&self) -> &'static CoreOp {
        &ADD
    }

    fn check(&self, node: &mut Operands<'_>) -> Result<(), Mismatch> {
        node.counts(2..=2, 1..=1, 0)?;
        node.no_params()?;
        node.input(0, "a", Formats::One(GUILD_FORMAT_F32), &["n", "..."])?;
        node.input(1, "b", Formats::One(GUILD_FORMAT_F32), &["n", "..."])?;
        node.output(0, "y", Formats::One(GUILD_FORMAT_F32), &["n", "..."])
    }

    fn alias(&self) -> Option<(usize, usize)> {
        Some((0, 0))
    }
}
