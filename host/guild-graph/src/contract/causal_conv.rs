//! `guild.core.causal_conv@1`: a short convolution along positions, one filter a channel.

use core::mem::offset_of;

use guild_abi::contract::{CAUSAL_CONV, CoreOp};
use guild_abi::core_ops::{GUILD_ACTIVATION_NONE, GUILD_ACTIVATION_SILU, guild_conv_params};
use guild_abi::formats::GUILD_FORMAT_F32;

use super::Contract;
use super::operands::{Formats, Operands, require};
use crate::error::Mismatch;
use crate::graph::StateKind;

pub(super) struct CausalConv;

impl Contract for CausalConv {
    fn op(&self) -> &'static CoreOp {
        &CAUSAL_CONV
    }

    fn check(&self, node: &mut Operands<'_>) -> Result<(), Mismatch> {
        node.counts(2..=2, 1..=1, 1)?;
        node.input(
            0,
            "x",
            Formats::One(GUILD_FORMAT_F32),
            &["rows", "channels"],
        )?;
        node.input(
            1,
            "weight",
            Formats::One(GUILD_FORMAT_F32),
            &["channels", "width"],
        )?;
        node.output(
            0,
            "y",
            Formats::One(GUILD_FORMAT_F32),
            &["rows", "channels"],
        )?;
        let width = node.number("width");
        require(width >= 2, "width", "2 or more", width)?;
        node.bind("width-1", width - 1);
        node.state(0, "window", StateKind::Recurrent, &["width-1", "channels"])?;
        let params = node.params(size_of::<guild_conv_params>())?;
        let activation = params.u32_at(offset_of!(guild_conv_params, activation));
        let known = [GUILD_ACTIVATION_NONE, GUILD_ACTIVATION_SILU].contains(&activation);
        require(known, "activation", "none (0) or SiLU (1)", activation)
    }
}
