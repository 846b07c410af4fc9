//! Gated attention: grouped queries, norms on queries and keys, partial RoPE, and a sigmoid gate that
//! comes out of the query projection.

use crate::decoder::rms_norm;
use crate::tensors::Description;
use guild_sdk::Failure;
use guild_sdk::runner::{Axis, Value};

/// Describes block `block`'s mixer on the normalised `x` `[rows, hidden]`; gives `[rows, hidden]`.
///
/// # Errors
/// The first tensor that is wrong.
pub(crate) fn describe(
    d: &mut Description<'_, '_>,
    block: u32,
    x: Value,
) -> Result<Value, Failure> {
    let hidden = d.hyperparameters.hidden;
    let a = d.hyperparameters.attention;
    let kv_len = a.kv_heads * a.head_dim;
    let projections = [
        d.block_weight(block, "attn_q.weight", &[2 * a.heads * a.head_dim, hidden])?,
        d.block_weight(block, "attn_k.weight", &[kv_len, hidden])?,
        d.block_weight(block, "attn_v.weight", &[kv_len, hidden])?,
    ];
    let [queries_and_gates, k, v] = d.builder.linear("attn_input", x, projections)?;

    // A head's rows of `attn_q` are its query, then its gate.
    let per_head = 2 * a.head_dim;
    let q = heads(d, queries_and_gates, 0, a.heads, a.head_dim, per_head)?;
    let gate = heads(
        d,
        queries_and_gates,
        a.head_dim,
        a.heads,
        a.head_dim,
        per_head,
    )?;
    let k = heads(d, k, 0, a.kv_heads, a.head_dim, a.head_dim)?;
    let v = heads(d, v, 0, a.kv_heads, a.head_dim, a.head_dim)?;

    let q_norm = d.block_weight(block, "attn_q_norm.weight", &[a.head_dim])?;
    let k_norm = d.block_weight(block, "attn_k_norm.weight", &[a.head_dim])?;
    let q = rms_norm(d, "attn_q_norm", q, q_norm)?;
    let k = rms_norm(d, "attn_k_norm", k, k_norm)?;
    let q = d.builder.rope("attn_q_rope", q, None, a.rope)?;
    let k = d.builder.rope("attn_k_rope", k, None, a.rope)?;

    let keys = d
        .builder
        .append_state(&format!("blk.{block}.keys"), a.kv_heads, a.head_dim)?;
    let values = d
        .builder
        .append_state(&format!("blk.{block}.values"), a.kv_heads, a.head_dim)?;
    let scale = (1.0 / (a.head_dim as f64).sqrt()) as f32;
    let y = d
        .builder
        .attention("attention", [q, k, v], [keys, values], scale)?;
    let y = d.builder.sigmoid_mul("attn_gate", y, gate)?;
    let y = d.builder.flatten(y)?;
    let output = d.block_weight(block, "attn_output.weight", &[hidden, a.heads * a.head_dim])?;
    let [y] = d.builder.linear("attn_output", y, [output])?;
    Ok(y)
}

/// A view `[rows, heads, dim]` on rows in which a head starts every `stride` elements.
///
/// # Errors
/// The host's.
pub(crate) fn heads(
    d: &mut Description<'_, '_>,
    source: Value,
    offset: u64,
    heads: u64,
    dim: u64,
    stride: u64,
) -> Result<Value, Failure> {
    let axes = [
        Axis {
            length: heads,
            stride,
        },
        Axis {
            length: dim,
            stride: 1,
        },
    ];
    d.builder.view(source, offset, &axes)
}
