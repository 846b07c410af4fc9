//! `guild.core.moe_experts@1`: the chosen experts of each row, combined, and the shared expert.

use core::mem::offset_of;

use guild_abi::contract::{CoreOp, MOE_EXPERTS};
use guild_abi::core_ops::{
    GUILD_MOE_FUSED_GATE_UP, GUILD_MOE_SHARED, GUILD_MOE_SHARED_GATE, guild_experts_params,
};
use guild_abi::formats::{GUILD_FORMAT_F32, GUILD_FORMAT_I32};

use super::Contract;
use super::operands::{Formats, Operands, require};
use crate::error::Mismatch;

pub(super) struct MoeExperts;

impl Contract for MoeExperts {
    fn op(&self) -> &'static CoreOp {
        &MOE_EXPERTS
    }

    fn check(&self, node: &mut Operands<'_>) -> Result<(), Mismatch> {
        let params = node.params(size_of::<guild_experts_params>())?;
        let flags = params.u32_at(offset_of!(guild_experts_params, flags));
        check_flags(flags)?;
        let weights = weights(flags);
        let inputs = 3 + weights.len();
        node.counts(inputs..=inputs, 1..=1, 0)?;
        node.input(0, "x", Formats::One(GUILD_FORMAT_F32), &["n", "hidden"])?;
        node.input(1, "ids", Formats::One(GUILD_FORMAT_I32), &["n", "top_k"])?;
        node.input(
            2,
            "weights",
            Formats::One(GUILD_FORMAT_F32),
            &["n", "top_k"],
        )?;
        node.bind("1", 1);
        for (i, (name, formats, pattern)) in weights.into_iter().enumerate() {
            // Converters write this row with or without a leading axis of 1.
            let with_axis = name == "shared_gate_input" && node.input_rank(3 + i) == 2;
            let pattern = if with_axis { &["1", "hidden"] } else { pattern };
            node.input(3 + i, name, formats, pattern)?;
            if name == "down" && flags & GUILD_MOE_FUSED_GATE_UP != 0 {
                let (ff, fused) = (node.number("ff"), node.number("2ff"));
                let wanted = format!("2 ff = {} rows an expert", 2 * ff);
                require(fused == 2 * ff, "gate_up", &wanted, fused)?;
            }
        }
        node.output(0, "y", Formats::One(GUILD_FORMAT_F32), &["n", "hidden"])
    }
}

type Weight = (&'static str, Formats, &'static [&'static str]);

fn check_flags(flags: u32) -> Result<(), Mismatch> {
    let all = GUILD_MOE_FUSED_GATE_UP | GUILD_MOE_SHARED | GUILD_MOE_SHARED_GATE;
    require(flags & !all == 0, "flags", "known bits (7)", flags)?;
    let gate_alone = flags & GUILD_MOE_SHARED_GATE != 0 && flags & GUILD_MOE_SHARED == 0;
    let wanted = "a shared expert (2) where there is a gate for it (4)";
    require(!gate_alone, "flags", wanted, flags)
}

/// The weights that the flags announce, in the contract's order.
fn weights(flags: u32) -> Vec<Weight> {
    let mut list: Vec<Weight> = Vec::new();
    if flags & GUILD_MOE_FUSED_GATE_UP != 0 {
        list.push(("gate_up", Formats::Any, &["experts", "2ff", "hidden"]));
    } else {
        list.push(("gate", Formats::Any, &["experts", "ff", "hidden"]));
        list.push(("up", Formats::Any, &["experts", "ff", "hidden"]));
    }
    list.push(("down", Formats::Any, &["experts", "hidden", "ff"]));
    if flags & GUILD_MOE_SHARED != 0 {
        list.push(("shared_gate", Formats::Any, &["sff", "hidden"]));
        list.push(("shared_up", Formats::Any, &["sff", "hidden"]));
        list.push(("shared_down", Formats::Any, &["hidden", "sff"]));
    }
    if flags & GUILD_MOE_SHARED_GATE != 0 {
        let gate = Formats::One(GUILD_FORMAT_F32);
        list.push(("shared_gate_input", gate, &["hidden"]));
    }
    list
}
