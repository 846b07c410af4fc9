//! `guild.core.gated_delta@1`, one sequence (rule 7).

use guild_numerics::{
    exp::{exp_f32, sigmoid},
    lanes::Scalar,
    log1p::softplus,
};

/// Sizes of one gated delta rule.
#[derive(Clone, Copy, Debug)]
pub struct GatedDelta {
    /// Query and key heads.
    pub key_heads: usize,
    /// Elements of a query or key head.
    pub key_dim: usize,
    /// Value heads.
    pub value_heads: usize,
    /// Elements of a value head.
    pub value_dim: usize,
    /// Value head `j` uses key head `j mod key_heads` instead of `j / (value_heads / key_heads)`.
    pub tiled: bool,
}

/// Operands of one call on one sequence.
#[derive(Clone, Copy, Debug)]
pub struct DeltaRows<'a> {
    /// `[rows, key_heads, key_dim]`.
    pub q: &'a [f32],
    /// `[rows, key_heads, key_dim]`.
    pub k: &'a [f32],
    /// `[rows, value_heads, value_dim]`.
    pub v: &'a [f32],
    /// `[rows, value_heads]`.
    pub alpha: &'a [f32],
    /// `[rows, value_heads]`.
    pub beta: &'a [f32],
    /// `[value_heads]`.
    pub a: &'a [f32],
    /// `[value_heads]`.
    pub dt: &'a [f32],
}

impl GatedDelta {
    /// Runs the rows in order. `memory` is `[value_heads, key_dim, value_dim]`; `after_row` sees it
    /// after each row. The result is `[rows, value_heads, value_dim]`.
    #[must_use]
    pub fn rows(
        &self,
        x: &DeltaRows<'_>,
        memory: &mut [f32],
        mut after_row: impl FnMut(usize, &[f32]),
    ) -> Vec<f32> {
        let GatedDelta {
            key_heads,
            key_dim,
            value_heads,
            value_dim,
            tiled,
        } = *self;
        let rows = x.alpha.len() / value_heads;
        let mut out = Vec::with_capacity(x.v.len());
        for row in 0..rows {
            for head in 0..value_heads {
                let key_head = if tiled {
                    head % key_heads
                } else {
                    head / (value_heads / key_heads)
                };
                let key_at = (row * key_heads + key_head) * key_dim;
                let at = row * value_heads + head;
                let g = exp_f32(x.a[head] * softplus(Scalar, x.alpha[at] + x.dt[head]));
                let b = sigmoid(Scalar, x.beta[at]);
                let state = &mut memory[head * key_dim * value_dim..][..key_dim * value_dim];
                out.extend(step(
                    state,
                    &x.q[key_at..][..key_dim],
                    &x.k[key_at..][..key_dim],
                    &x.v[at * value_dim..][..value_dim],
                    g,
                    b,
                ));
            }
            after_row(row, memory);
        }
        out
    }
}

/// One head, one row. `state` is `[k.len(), v.len()]`.
fn step(state: &mut [f32], q: &[f32], k: &[f32], v: &[f32], g: f32, b: f32) -> Vec<f32> {
    let dim = v.len();
    state.iter_mut().for_each(|s| *s *= g);
    let read = |state: &[f32], by: &[f32]| {
        let mut sums = vec![0.0f32; dim];
        for (row, by) in state.chunks_exact(dim).zip(by) {
            for (sum, s) in sums.iter_mut().zip(row) {
                *sum = s.mul_add(*by, *sum);
            }
        }
        sums
    };
    let r = read(state, k);
    let d: Vec<f32> = v.iter().zip(&r).map(|(v, r)| (v - r) * b).collect();
    for (row, k) in state.chunks_exact_mut(dim).zip(k) {
        for (s, d) in row.iter_mut().zip(&d) {
            *s = k.mul_add(*d, *s);
        }
    }
    read(state, q)
}
