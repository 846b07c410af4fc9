//! `guild.core.concat@1`.

/// Each row of `a: [n, p]` followed by that of `b: [n, q]`.
#[must_use]
pub fn concat(a: &[f32], p: usize, b: &[f32], q: usize) -> Vec<f32> {
    a.chunks_exact(p)
        .zip(b.chunks_exact(q))
        .flat_map(|(a, b)| a.iter().chain(b))
        .copied()
        .collect()
}
