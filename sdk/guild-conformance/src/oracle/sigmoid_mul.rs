//! `guild.core.sigmoid_mul@1`.

use guild_numerics::{exp::sigmoid, lanes::Scalar};

/// `x * sigmoid(gate)`, element by element.
#[must_use]
pub fn sigmoid_mul(x: &[f32], gate: &[f32]) -> Vec<f32> {
    x.iter()
        .zip(gate)
        .map(|(&x, &gate)| x * sigmoid(Scalar, gate))
        .collect()
}
