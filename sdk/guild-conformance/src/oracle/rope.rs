//! `guild.core.rope@1`.

use guild_numerics::rope::RopeFrequencies;

/// Rotates the first `rotary_dims` elements of each head of `x: [positions.len(), heads, dim]`.
#[must_use]
pub fn rope(
    x: &[f32],
    heads: usize,
    dim: usize,
    positions: &[u64],
    rotary_dims: usize,
    theta: f64,
) -> Vec<f32> {
    let frequencies = RopeFrequencies::new(theta, rotary_dims as u32);
    let half = rotary_dims / 2;
    let (mut cos, mut sin) = (vec![0.0; half], vec![0.0; half]);
    let mut out = x.to_vec();
    for (row, &position) in out.chunks_exact_mut(heads * dim).zip(positions) {
        frequencies.angles(position, &mut cos, &mut sin);
        for head in row.chunks_exact_mut(dim) {
            for i in 0..half {
                let (a, b) = (head[i], head[i + half]);
                head[i] = a.mul_add(cos[i], -(b * sin[i]));
                head[i + half] = a.mul_add(sin[i], b * cos[i]);
            }
        }
    }
    out
}
