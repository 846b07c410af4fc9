//! `guild.core.swiglu@1`.

use guild_numerics::{exp::silu, lanes::Scalar};

/// `silu(gate) * up`, element by element.
#[must_use]
pub fn swiglu(gate: &[f32], up: &[f32]) -> Vec<f32> {
    gate.iter()
        .zip(up)
        .map(|(&gate, &up)| silu(Scalar, gate) * up)
        .collect()
}
