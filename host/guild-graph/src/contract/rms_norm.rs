//! `guild.core.rms_norm@1`: root-mean-square norm along the last axis.

use guild_abi::contract::{CoreOp, RMS_NORM};
use guild_abi::formats::GUILD_FORMAT_F32;

use super::Contract;
use super::norm_params::{self, Scale};
use super::operands::{Formats, Operands};
use crate::error::Mismatch;

pub(super) struct RmsNorm;

impl Contract for RmsNorm {
    fn op(&self) -> &'static CoreOp {
        &RMS_NORM
    }

    fn check(&self, node: &mut Operands<'_>) -> Result<(), Mismatch> {
        node.counts(2..=2, 1..=1, 0)?;
        norm_params::check(node, Scale::One)?;
        node.input(0, "x", Formats::One(GUILD_FORMAT_F32), &["n", "...", "dim"])?;
        node.input(1, "weight", Formats::One(GUILD_FORMAT_F32), &["dim"])?;
        node.output(0, "y", Formats::One(GUILD_FORMAT_F32), &["n", "...", "dim"])
    }

    fn alias(&self) -> Option<(usize, usize)> {
        Some((0, 0))
    }
}
