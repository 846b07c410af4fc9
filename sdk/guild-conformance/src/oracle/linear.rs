//! `guild.core.linear@1`, one weight.

use super::Matrix;

/// `x[r] . weight[m]` for each row of `x: [n, k]`: `[n, m]`.
#[must_use]
pub fn linear(x: &[f32], weight: &Matrix<'_>) -> Vec<f32> {
    x.chunks_exact(weight.elems())
        .flat_map(|x| weight.apply(x))
        .collect()
}
