//! `guild.core.l2_norm@1`: Euclidean norm along the last axis.

use guild_abi::contract::{CoreOp, L2_NORM};
use guild_abi::formats::GUILD_FORMAT_F32;

use super::Contract;
use super::norm_params::{self, Scale};
use super::operands::{Formats, Operands};
use crate::error::Mismatch;

pub(super) struct L2Norm;

impl Contract for L2Norm {
    fn op(&self) -> &'static CoreOp {
        &L2_NORM
    }

    fn check(&self, node: &mut Operands<'_>) -> Result<(), Mismatch> {
        node.counts(1..=1, 1..=1, 0)?;
        norm_params::check(node, Scale::Any)?;
        node.input(
            0,
            "x",
            Formats::One(GUILD_FORMAT_F32),
            &["n", "heads", "dim"],
        )?;
        node.output(
            0,
            "y",
            Formats::One(GUILD_FORMAT_F32),
            &["n", "heads", "dim"],
        )
    }

    fn alias(&self) -> Option<(usize, usize)> {
        Some((0, 0))
    }
}
