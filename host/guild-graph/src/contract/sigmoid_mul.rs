//! `guild.core.sigmoid_mul@1`: a tensor times the sigmoid of a gate.

use guild_abi::contract::{CoreOp, SIGMOID_MUL};
use guild_abi::formats::GUILD_FORMAT_F32;

use super::Contract;
use super::operands::{Formats, Operands};
use crate::error::Mismatch;

pub(super) struct SigmoidMul;

impl Contract for SigmoidMul {
    fn op(&self) -> &'static CoreOp {
        &SIGMOID_MUL
    }

    fn check(&self, node: &mut Operands<'_>) -> Result<(), Mismatch> {
        node.counts(2..=2, 1..=1, 0)?;
        node.no_params()?;
        node.input(0, "x", Formats::One(GUILD_FORMAT_F32), &["n", "..."])?;
        node.input(1, "gate", Formats::One(GUILD_FORMAT_F32), &["n", "..."])?;
        node.output(0, "y", Formats::One(GUILD_FORMAT_F32), &["n", "..."])
    }

    fn alias(&self) -> Option<(usize, usize)> {
        Some((0, 0))
    }
}
