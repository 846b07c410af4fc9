//! `guild.core.l2_norm@1`.

use guild_numerics::reduce::dot;

/// `x / |x| * scale` for each vector of `x: [.., dim]`.
#[must_use]
pub fn l2_norm(x: &[f32], dim: usize, epsilon: f32, scale: f32) -> Vec<f32> {
    let mut out = Vec::with_capacity(x.len());
    for x in x.chunks_exact(dim) {
        let r = 1.0 / (dot(x, x) + epsilon).sqrt();
        out.extend(x.iter().map(|x| (x * r) * scale));
    }
    out
}
