//! `guild.core.rms_norm@1`.

use guild_numerics::reduce::dot;

/// `x / rms(x) * weight` for each vector of `x: [.., dim]`; `weight` is `[dim]`.
#[must_use]
pub fn rms_norm(x: &[f32], weight: &[f32], epsilon: f32) -> Vec<f32> {
    let dim = weight.len();
    let mut out = Vec::with_capacity(x.len());
    for x in x.chunks_exact(dim) {
        let mean = dot(x, x) / dim as f32;
        let r = 1.0 / (mean + epsilon).sqrt();
        out.extend(x.iter().zip(weight).map(|(x, weight)| (x * r) * weight));
    }
    out
}
