//! The expert pool: a softmax router that renormalises its choice, and a shared expert with a sigmoid
//! gate.

use crate::tensors::Description;
use guild_sdk::Failure;
use guild_sdk::abi::core_ops::GUILD_ROUTE_RENORMALISE;
use guild_sdk::runner::{Experts, GateUp, SharedExpert, Value};

/// Describes block `block`'s experts on the normalised `x` `[rows, hidden]`; gives `[rows, hidden]`.
///
/// # Errors
/// The first tensor that is wrong.
pub(crate) fn describe(
    d: &mut Description<'_, '_>,
    block: u32,
    x: Value,
    [experts, ff, shared_ff]: [u64; 3],
    top_k: u32,
) -> Result<Value, Failure> {
    let hidden = d.hyperparameters.hidden;
    let router = d.block_weight(block, "ffn_gate_inp.weight", &[experts, hidden])?;
    let chosen = d
        .builder
        .moe_route("ffn_route", x, router, top_k, GUILD_ROUTE_RENORMALISE)?;
    let pool = Experts {
        gate_up: gate_up(d, block, [experts, ff, hidden])?,
        down: d.block_weight(block, "ffn_down_exps.weight", &[experts, hidden, ff])?,
        shared: Some(shared(d, block, shared_ff, hidden)?),
    };
    d.builder.moe_experts("ffn_experts", x, chosen, pool)
}

fn gate_up(
    d: &mut Description<'_, '_>,
    block: u32,
    [experts, ff, hidden]: [u64; 3],
) -> Result<GateUp, Failure> {
    const FUSED: &str = "ffn_gate_up_exps.weight";
    if d.has_block_tensor(block, FUSED)? {
        let fused = d.block_weight(block, FUSED, &[experts, 2 * ff, hidden])?;
        return Ok(GateUp::Fused(fused));
    }
    let gate = d.block_weight(block, "ffn_gate_exps.weight", &[experts, ff, hidden])?;
    let up = d.block_weight(block, "ffn_up_exps.weight", &[experts, ff, hidden])?;
    Ok(GateUp::Apart(gate, up))
}

fn shared(
    d: &mut Description<'_, '_>,
    block: u32,
    ff: u64,
    hidden: u64,
) -> Result<SharedExpert, Failure> {
    const INPUT_GATE: &str = "ffn_gate_inp_shexp.weight";
    let gate = d.block_weight(block, "ffn_gate_shexp.weight", &[ff, hidden])?;
    let up = d.block_weight(block, "ffn_up_shexp.weight", &[ff, hidden])?;
    let down = d.block_weight(block, "ffn_down_shexp.weight", &[hidden, ff])?;
    // Converters write this row with or without a leading axis of 1.
    let name = format!("blk.{block}.{INPUT_GATE}");
    let flat = d.model.tensor(&name)?.shape.axes().len() == 1;
    let axes: &[u64] = if flat { &[hidden] } else { &[1, hidden] };
    Ok(SharedExpert {
        gate,
        up,
        down,
        input_gate: Some(d.weight(&name, axes)?),
    })
}
