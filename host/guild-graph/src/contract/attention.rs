//! `guild.core.attention@1`: causal attention over the pages of each sequence.

use core::mem::offset_of;

use guild_abi::contract::{ATTENTION, CoreOp};
use guild_abi::core_ops::guild_attention_params;
use guild_abi::formats::GUILD_FORMAT_F32;

use super::Contract;
use super::operands::{Formats, Operands, require};
use crate::error::Mismatch;
use crate::graph::StateKind;

pub(super) struct Attention;

impl Contract for Attention {
    fn op(&self) -> &'static CoreOp {
        &ATTENTION
    }

    fn check(&self, node: &mut Operands<'_>) -> Result<(), Mismatch> {
        node.counts(3..=3, 1..=1, 2)?;
        node.input(
            0,
            "q",
            Formats::One(GUILD_FORMAT_F32),
            &["rows", "heads", "dim"],
        )?;
        node.input(
            1,
            "k",
            Formats::One(GUILD_FORMAT_F32),
            &["rows", "kv_heads", "dim"],
        )?;
        node.input(
            2,
            "v",
            Formats::One(GUILD_FORMAT_F32),
            &["rows", "kv_heads", "dim"],
        )?;
        node.output(
            0,
            "y",
            Formats::One(GUILD_FORMAT_F32),
            &["rows", "heads", "dim"],
        )?;
        node.state(0, "keys", StateKind::Append, &["kv_heads", "dim"])?;
        node.state(1, "values", StateKind::Append, &["kv_heads", "dim"])?;
        let (heads, kv_heads) = (node.number("heads"), node.number("kv_heads"));
        let wanted = format!("a multiple of kv_heads = {kv_heads}");
        require(heads.is_multiple_of(kv_heads), "heads", &wanted, heads)?;
        let params = node.params(size_of::<guild_attention_params>())?;
        let scale = params.f32_at(offset_of!(guild_attention_params, scale));
        require(
            scale.is_finite() && scale > 0.0,
            "scale",
            "a number above 0",
            scale,
        )
    }
}
