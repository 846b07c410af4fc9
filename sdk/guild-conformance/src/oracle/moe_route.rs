//! `guild.core.moe_route@1` (rule 8).

use super::Matrix;
use guild_numerics::exp::exp_f32;
use guild_numerics::reduce::{maximum, sum};

/// Chooses experts for each row of `x: [n, hidden]`; `weight` is `[experts, hidden]`. Gives ids and
/// weights, both `[n, top_k]` in rank order.
#[must_use]
pub fn moe_route(
    x: &[f32],
    weight: &Matrix<'_>,
    top_k: usize,
    renormalise: bool,
) -> (Vec<i32>, Vec<f32>) {
    let (mut ids, mut weights) = (Vec::new(), Vec::new());
    for x in x.chunks_exact(weight.elems()) {
        let logits = weight.apply(x);
        let m = maximum(&logits);
        let p: Vec<f32> = logits.iter().map(|l| exp_f32(l - m)).collect();
        let s = sum(&p);
        let p: Vec<f32> = p.iter().map(|p| p / s).collect();
        let mut order: Vec<usize> = (0..p.len()).collect();
        order.sort_by_key(|&e| (core::cmp::Reverse(p[e].to_bits()), e));
        order.truncate(top_k);
        let total = order.iter().fold(0.0f32, |total, &e| total + p[e]);
        for e in order {
            ids.push(e as i32);
            weights.push(if renormalise { p[e] / total } else { p[e] });
        }
    }
    (ids, weights)
}
