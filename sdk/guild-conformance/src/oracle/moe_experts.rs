//! `guild.core.moe_experts@1` (rule 8).

use super::swiglu::swiglu;
use super::{Invalid, Matrix, index};
use guild_numerics::{exp::sigmoid, lanes::Scalar, reduce::dot};

/// One feed-forward network: `down . swiglu(gate . x, up . x)`.
#[derive(Clone, Copy, Debug)]
pub struct FeedForward<'a> {
    /// `[ff, hidden]`.
    pub gate: Matrix<'a>,
    /// `[ff, hidden]`.
    pub up: Matrix<'a>,
    /// `[hidden, ff]`.
    pub down: Matrix<'a>,
}

impl FeedForward<'_> {
    fn apply(&self, x: &[f32]) -> Vec<f32> {
        self.down
            .apply(&swiglu(&self.gate.apply(x), &self.up.apply(x)))
    }
}

/// The expert pool's weights.
#[derive(Clone, Debug)]
pub struct ExpertPool<'a> {
    /// The experts.
    pub experts: Vec<FeedForward<'a>>,
    /// The shared expert.
    pub shared: Option<FeedForward<'a>>,
    /// The shared expert's gate, `[hidden]`.
    pub shared_gate: Option<&'a [f32]>,
}

impl ExpertPool<'_> {
    /// Runs the chosen experts of each row of `x: [n, hidden]`; `ids` and `weights` are
    /// `[n, top_k]`. The result is `[n, hidden]`.
    ///
    /// # Errors
    /// An id outside the experts.
    pub fn rows(
        &self,
        x: &[f32],
        hidden: usize,
        ids: &[i32],
        weights: &[f32],
        top_k: usize,
    ) -> Result<Vec<f32>, Invalid> {
        let mut out = Vec::with_capacity(x.len());
        for (row, x) in x.chunks_exact(hidden).enumerate() {
            let mut chosen = Vec::with_capacity(top_k);
            for at in row * top_k..(row + 1) * top_k {
                let rule = "an expert id is outside the pool";
                chosen.push((index(ids[at], self.experts.len(), rule)?, weights[at]));
            }
            chosen.sort_by_key(|&(expert, _)| expert);
            let mut y = vec![0.0f32; hidden];
            for (expert, weight) in chosen {
                accumulate(&mut y, weight, &self.experts[expert].apply(x));
            }
            if let Some(shared) = &self.shared {
                let d = shared.apply(x);
                match self.shared_gate {
                    Some(gate) => accumulate(&mut y, sigmoid(Scalar, dot(x, gate)), &d),
                    None => y.iter_mut().zip(&d).for_each(|(y, d)| *y += d),
                }
            }
            out.extend(y);
        }
        Ok(out)
    }
}

/// `y = fma(weight, d, y)`.
fn accumulate(y: &mut [f32], weight: f32, d: &[f32]) {
    for (y, d) in y.iter_mut().zip(d) {
        *y = weight.mul_add(*d, *y);
    }
}
