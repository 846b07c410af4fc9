//! `guild.core.gated_delta@1`: the gated delta rule, sequential in positions.

use core::mem::offset_of;

use guild_abi::contract::{CoreOp, GATED_DELTA};
use guild_abi::core_ops::{GUILD_HEADS_GROUPED, GUILD_HEADS_TILED, guild_delta_params};
use guild_abi::formats::GUILD_FORMAT_F32;

use super::Contract;
use super::operands::{Formats, Operands, require};
use crate::error::Mismatch;
use crate::graph::StateKind;

pub(super) struct GatedDelta;

impl Contract for GatedDelta {
    fn op(&self) -> &'static CoreOp {
        &GATED_DELTA
    }

    fn check(&self, node: &mut Operands<'_>) -> Result<(), Mismatch> {
        node.counts(7..=7, 1..=1, 1)?;
        node.input(
            0,
            "q",
            Formats::One(GUILD_FORMAT_F32),
            &["rows", "key_heads", "key_dim"],
        )?;
        node.input(
            1,
            "k",
            Formats::One(GUILD_FORMAT_F32),
            &["rows", "key_heads", "key_dim"],
        )?;
        node.input(
            2,
            "v",
            Formats::One(GUILD_FORMAT_F32),
            &["rows", "value_heads", "value_dim"],
        )?;
        node.input(
            3,
            "alpha",
            Formats::One(GUILD_FORMAT_F32),
            &["rows", "value_heads"],
        )?;
        node.input(
            4,
            "beta",
            Formats::One(GUILD_FORMAT_F32),
            &["rows", "value_heads"],
        )?;
        node.input(5, "a", Formats::One(GUILD_FORMAT_F32), &["value_heads"])?;
        node.input(6, "dt", Formats::One(GUILD_FORMAT_F32), &["value_heads"])?;
        node.output(
            0,
            "y",
            Formats::One(GUILD_FORMAT_F32),
            &["rows", "value_heads", "value_dim"],
        )?;
        let memory = &["value_heads", "key_dim", "value_dim"];
        node.state(0, "memory", StateKind::Recurrent, memory)?;
        let (value_heads, key_heads) = (node.number("value_heads"), node.number("key_heads"));
        let wanted = format!("a multiple of key_heads = {key_heads}");
        require(
            value_heads.is_multiple_of(key_heads),
            "value_heads",
            &wanted,
            value_heads,
        )?;
        let params = node.params(size_of::<guild_delta_params>())?;
        let order = params.u32_at(offset_of!(guild_delta_params, head_order));
        let known = [GUILD_HEADS_GROUPED, GUILD_HEADS_TILED].contains(&order);
        require(known, "head_order", "grouped (0) or tiled (1)", order)
    }
}
