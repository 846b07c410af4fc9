//! The dense feed-forward part: SwiGLU between two projections.

use crate::tensors::Description;
use guild_sdk::Failure;
use guild_sdk::runner::Value;

/// Describes block `block`'s projections on the normalised `x` `[rows, hidden]`; gives
/// `[rows, hidden]`.
///
/// # Errors
/// The first tensor that is wrong.
pub(crate) fn describe(
    d: &mut Description<'_, '_>,
    block: u32,
    x: Value,
    ff: u64,
) -> Result<Value, Failure> {
    let hidden = d.hyperparameters.hidden;
    let projections = [
        d.block_weight(block, "ffn_gate.weight", &[ff, hidden])?,
        d.block_weight(block, "ffn_up.weight", &[ff, hidden])?,
    ];
    let [gate, up] = d.builder.linear("ffn_input", x, projections)?;
    let y = d.builder.swiglu("ffn_swiglu", gate, up)?;
    let down = d.block_weight(block, "ffn_down.weight", &[hidden, ff])?;
    let [y] = d.builder.linear("ffn_output", y, [down])?;
    Ok(y)
}
