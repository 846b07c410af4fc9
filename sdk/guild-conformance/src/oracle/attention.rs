//! `guild.core.attention@1`, one sequence (rule 6).

use guild_numerics::convert::{f16_to_f32, f32_to_f16};
use guild_numerics::exp::exp_f32;
use guild_numerics::reduce::{dot, maximum, sum};

/// Positions in one block of keys.
const BLOCK: usize = 256;

/// Format of a KV cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheFormat {
    /// IEEE binary16, rounded to nearest, ties to even.
    F16,
    /// IEEE binary32.
    F32,
}

impl CacheFormat {
    fn round(self, value: f32) -> f32 {
        match self {
            CacheFormat::F16 => f16_to_f32(f32_to_f16(value)),
            CacheFormat::F32 => value,
        }
    }
}

/// Sizes and the scale of one attention.
#[derive(Clone, Copy, Debug)]
pub struct Attention {
    /// Query heads.
    pub heads: usize,
    /// Key and value heads.
    pub kv_heads: usize,
    /// Elements of a head.
    pub dim: usize,
    /// Factor on the scores.
    pub scale: f32,
    /// Format that keys and values are rounded to.
    pub format: CacheFormat,
}

impl Attention {
    /// Attends with the rows of one sequence. `q` is `[rows, heads, dim]`, `k` and `v` are
    /// `[rows, kv_heads, dim]`; `keys` and `values` hold `[position, kv_heads, dim]` for the
    /// positions before and get those of this call. The result is `[rows, heads, dim]`.
    #[must_use]
    pub fn rows(
        &self,
        q: &[f32],
        k: &[f32],
        v: &[f32],
        keys: &mut Vec<f32>,
        values: &mut Vec<f32>,
    ) -> Vec<f32> {
        let start = keys.len() / (self.kv_heads * self.dim);
        keys.extend(k.iter().map(|&k| self.format.round(k)));
        values.extend(v.iter().map(|&v| self.format.round(v)));
        let mut out = Vec::with_capacity(q.len());
        for (row, q) in q.chunks_exact(self.heads * self.dim).enumerate() {
            for (head, q) in q.chunks_exact(self.dim).enumerate() {
                let kv_head = head / (self.heads / self.kv_heads);
                out.extend(self.head(q, kv_head, start + row + 1, keys, values));
            }
        }
        out
    }

    /// One query head over positions `0..end`.
    fn head(
        &self,
        q: &[f32],
        kv_head: usize,
        end: usize,
        keys: &[f32],
        values: &[f32],
    ) -> Vec<f32> {
        let at = |position: usize| (position * self.kv_heads + kv_head) * self.dim;
        let mut total: Option<(f32, f32, Vec<f32>)> = None;
        for first in (0..end).step_by(BLOCK) {
            let block = first..end.min(first + BLOCK);
            let mut p: Vec<f32> = block
                .clone()
                .map(|j| dot(q, &keys[at(j)..][..self.dim]) * self.scale)
                .collect();
            let m_b = maximum(&p);
            p.iter_mut().for_each(|p| *p = exp_f32(*p - m_b));
            let l_b = sum(&p);
            let mut acc_b = vec![0.0f32; self.dim];
            for (j, p) in block.zip(&p) {
                for (acc, v) in acc_b.iter_mut().zip(&values[at(j)..][..self.dim]) {
                    *acc = p.mul_add(*v, *acc);
                }
            }
            total = Some(match total {
                None => (m_b, l_b, acc_b),
                Some((m, l, acc)) => {
                    let next = maximum(&[m, m_b]);
                    let (a, c) = (exp_f32(m - next), exp_f32(m_b - next));
                    let acc = acc
                        .iter()
                        .zip(&acc_b)
                        .map(|(acc, acc_b)| acc.mul_add(a, acc_b * c))
                        .collect();
                    (next, l.mul_add(a, l_b * c), acc)
                }
            });
        }
        let (_, l, acc) = total.expect("a row sees its own position");
        acc.iter().map(|acc| acc / l).collect()
    }
}
