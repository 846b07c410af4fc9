//! `guild.core.gated_rms_norm@1`.

use super::rms_norm::rms_norm;
use guild_numerics::{exp::silu, lanes::Scalar};

/// `rms_norm(x) * silu(z)`; `x` and `z` are `[.., dim]`, `weight` is `[dim]`.
#[must_use]
pub fn gated_rms_norm(x: &[f32], weight: &[f32], z: &[f32], epsilon: f32) -> Vec<f32> {
    rms_norm(x, weight, epsilon)
        .iter()
        .zip(z)
        .map(|(y, &z)| y * silu(Scalar, z))
        .collect()
}
