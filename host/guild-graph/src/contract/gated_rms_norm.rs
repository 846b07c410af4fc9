//! `guild.core.gated_rms_norm@1`: root-mean-square norm times the SiLU of a gate.

use guild_abi::contract::{CoreOp, GATED_RMS_NORM};
use guild_abi::formats::GUILD_FORMAT_F32;

use super::Contract;
use super::norm_params::{self, Scale};
use super::operands::{Formats, Operands};
use crate::error::Mismatch;

pub(super) struct GatedRmsNorm;

impl Contract for GatedRmsNorm {
    fn op(&self) -> &'static CoreOp {
        &GATED_RMS_NORM
    }

    fn check(&self, node: &mut Operands<'_>) -> Result<(), Mismatch> {
        node.counts(3..=3, 1..=1, 0)?;
        norm_params::check(node, Scale::One)?;
        node.input(
            0,
            "x",
            Formats::One(GUILD_FORMAT_F32),
            &["n", "heads", "dim"],
        )?;
        node.input(1, "weight", Formats::One(GUILD_FORMAT_F32), &["dim"])?;
        node.input(
            2,
            "z",
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
