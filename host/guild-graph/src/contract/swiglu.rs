//! `guild.core.swiglu@1`: the SiLU of a gate times another tensor.

use guild_abi::contract::{CoreOp, SWIGLU};
use guild_abi::formats::GUILD_FORMAT_F32;

use super::Contract;
use super::operands::{Formats, Operands};
use crate::error::Mismatch;

pub(super) struct Swiglu;

impl Contract for Swiglu {
    fn op(&self) -> &'static CoreOp {
        &SWIGLU
    }

    fn check(&self, node: &mut Operands<'_>) -> Result<(), Mismatch> {
        node.counts(2..=2, 1..=1, 0)?;
        node.no_params()?;
        node.input(0, "gate", Formats::One(GUILD_FORMAT_F32), &["n", "dim"])?;
        node.input(1, "up", Formats::One(GUILD_FORMAT_F32), &["n", "dim"])?;
        node.output(0, "y", Formats::One(GUILD_FORMAT_F32), &["n", "dim"])
    }

    fn alias(&self) -> Option<(usize, usize)> {
        Some((0, 0))
    }
}
