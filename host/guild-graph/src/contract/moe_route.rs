//! `guild.core.moe_route@1`: the experts of each row and their weights.

use core::mem::offset_of;

use guild_abi::contract::{CoreOp, MOE_ROUTE};
use guild_abi::core_ops::{GUILD_ROUTE_RENORMALISE, guild_route_params};
use guild_abi::formats::{GUILD_FORMAT_BF16, GUILD_FORMAT_F16, GUILD_FORMAT_F32, GUILD_FORMAT_I32};

use super::Contract;
use super::operands::{Formats, Operands, require};
use crate::error::Mismatch;

pub(super) struct MoeRoute;

impl Contract for MoeRoute {
    fn op(&self) -> &'static CoreOp {
        &MOE_ROUTE
    }

    fn check(&self, node: &mut Operands<'_>) -> Result<(), Mismatch> {
        node.counts(2..=2, 2..=2, 0)?;
        node.input(0, "x", Formats::One(GUILD_FORMAT_F32), &["n", "hidden"])?;
        node.input(
            1,
            "weight",
            Formats::Listed(WEIGHT_FORMATS),
            &["experts", "hidden"],
        )?;
        let params = node.params(size_of::<guild_route_params>())?;
        let top_k = params.u32_at(offset_of!(guild_route_params, top_k));
        let experts = node.number("experts");
        require(experts <= EXPERTS_MAX, "experts", "at most 1024", experts)?;
        let fits = (1..=TOP_K_MAX).contains(&top_k) && u64::from(top_k) <= experts;
        let wanted = format!("1 to {TOP_K_MAX}, at most experts = {experts}");
        require(fits, "top_k", &wanted, top_k)?;
        let flags = params.u32_at(offset_of!(guild_route_params, flags));
        let known = flags & !GUILD_ROUTE_RENORMALISE == 0;
        require(known, "flags", "known bits (1)", flags)?;
        node.bind("top_k", top_k.into());
        node.output(0, "ids", Formats::One(GUILD_FORMAT_I32), &["n", "top_k"])?;
        node.output(
            1,
            "weights",
            Formats::One(GUILD_FORMAT_F32),
            &["n", "top_k"],
        )
    }
}

const WEIGHT_FORMATS: &[u32] = &[GUILD_FORMAT_F32, GUILD_FORMAT_BF16, GUILD_FORMAT_F16];

/// The most experts of a layer.
const EXPERTS_MAX: u64 = 1024;

/// The most experts for a row.
const TOP_K_MAX: u32 = 32;
