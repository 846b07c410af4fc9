//! `guild.core.causal_conv@1`, one sequence (rule 7).

use guild_numerics::{exp::silu, lanes::Scalar};

/// Convolves the rows of one sequence. `x` is `[rows, channels]`, `weight` `[channels, width]`,
/// `window` `[width - 1, channels]`, oldest first. `after_row` sees the window after each row.
#[must_use]
pub fn causal_conv(
    x: &[f32],
    channels: usize,
    weight: &[f32],
    with_silu: bool,
    window: &mut Vec<f32>,
    mut after_row: impl FnMut(usize, &[f32]),
) -> Vec<f32> {
    let width = weight.len() / channels;
    let mut out = Vec::with_capacity(x.len());
    for (row, x) in x.chunks_exact(channels).enumerate() {
        window.extend_from_slice(x);
        for c in 0..channels {
            let mut y = 0.0f32;
            for j in 0..width {
                y = weight[c * width + j].mul_add(window[j * channels + c], y);
            }
            out.push(if with_silu { silu(Scalar, y) } else { y });
        }
        window.drain(..channels);
        after_row(row, window);
    }
    out
}
