//! The gated delta rule with its convolution, norms and output gate.

use crate::attention_layer::heads;
use crate::tensors::Description;
use guild_sdk::Failure;
use guild_sdk::abi::core_ops::{GUILD_ACTIVATION_SILU, GUILD_HEADS_TILED};
use guild_sdk::runner::{Delta, Value};

/// Added under the square root when queries and keys are normalised. The published models fix it; it
/// isn't the RMS norm's epsilon and no metadata key holds it.
const L2_EPSILON: f32 = 1e-6;

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
    let s = d.hyperparameters.delta;
    let projections = [
        d.block_weight(block, "attn_qkv.weight", &[s.channels(), hidden])?,
        d.block_weight(block, "attn_gate.weight", &[s.values_len(), hidden])?,
        d.block_weight(block, "ssm_alpha.weight", &[s.value_heads, hidden])?,
        d.block_weight(block, "ssm_beta.weight", &[s.value_heads, hidden])?,
    ];
    let [qkv, z, alpha, beta] = d.builder.linear("delta_input", x, projections)?;
    let qkv = convolution(d, block, qkv)?;

    let (key_heads, key_dim) = (s.key_heads, s.key_dim);
    let q = heads(d, qkv, 0, key_heads, key_dim, key_dim)?;
    let k = heads(d, qkv, s.keys_len(), key_heads, key_dim, key_dim)?;
    let v = heads(
        d,
        qkv,
        2 * s.keys_len(),
        s.value_heads,
        s.value_dim,
        s.value_dim,
    )?;
    let z = heads(d, z, 0, s.value_heads, s.value_dim, s.value_dim)?;
    let scale = (1.0 / (key_dim as f64).sqrt()) as f32;
    let q = d.builder.l2_norm("delta_q_norm", q, L2_EPSILON, scale)?;
    let k = d.builder.l2_norm("delta_k_norm", k, L2_EPSILON, 1.0)?;

    let delta = Delta {
        q,
        k,
        v,
        alpha,
        beta,
        // The file holds -exp(A_log).
        a: d.block_weight(block, "ssm_a", &[s.value_heads])?,
        dt: d.block_weight(block, "ssm_dt.bias", &[s.value_heads])?,
        // The converter stores value heads so that head `j` belongs to key head `j mod key_heads`.
        head_order: GUILD_HEADS_TILED,
    };
    let memory = [s.value_heads, key_dim, s.value_dim];
    let memory = d
        .builder
        .recurrent_state(&format!("blk.{block}.delta_memory"), &memory)?;
    let y = d.builder.gated_delta("delta_rule", delta, memory)?;

    let norm = d.block_weight(block, "ssm_norm.weight", &[s.value_dim])?;
    let epsilon = d.hyperparameters.epsilon;
    let y = d
        .builder
        .gated_rms_norm("delta_norm", y, norm, z, epsilon)?;
    let y = d.builder.flatten(y)?;
    let output = d.block_weight(block, "ssm_out.weight", &[hidden, s.values_len()])?;
    let [y] = d.builder.linear("delta_output", y, [output])?;
    Ok(y)
}

/// The causal convolution with SiLU over queries, keys and values together.
fn convolution(d: &mut Description<'_, '_>, block: u32, qkv: Value) -> Result<Value, Failure> {
    let s = d.hyperparameters.delta;
    let (width, channels) = (s.width, s.channels());
    let weight = d.block_weight(block, "ssm_conv1d.weight", &[channels, width])?;
    let window = [width - 1, channels];
    let window = d
        .builder
        .recurrent_state(&format!("blk.{block}.conv_window"), &window)?;
    d.builder
        .causal_conv("delta_conv", qkv, weight, window, GUILD_ACTIVATION_SILU)
}
