//! `guild.core.rope@1`.

use super::Invalid;
use guild_numerics::rope::RopeFrequencies;

/// What is rotated, and how fast.
#[derive(Clone, Copy, Debug)]
pub struct Rotation<'a> {
    /// Which elements are a pair.
    pub pairing: Pairing,
    /// Leading elements of a head that are rotated.
    pub rotary_dims: usize,
    /// Base of the frequencies.
    pub theta: f64,
    /// What the frequencies are divided by, one a pair.
    pub factors: Option<&'a [f32]>,
}

/// Which elements of a head are a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// `i` and `i + rotary_dims / 2`.
    Halves,
    /// `2 i` and `2 i + 1`.
    Adjacent,
}

/// Rotates the pairs of each head of `x: [positions.len(), heads, dim]`.
///
/// # Errors
/// [`Invalid`] for factors that aren't finite, above 0, and one a pair.
pub fn rope(
    x: &[f32],
    heads: usize,
    dim: usize,
    positions: &[u64],
    rotation: &Rotation<'_>,
) -> Result<Vec<f32>, Invalid> {
    let half = rotation.rotary_dims / 2;
    let frequencies = RopeFrequencies::new(rotation.theta, rotation.rotary_dims as u32);
    let frequencies = match rotation.factors {
        None => frequencies,
        Some(factors) => frequencies.divided_by(factors).ok_or(Invalid {
            rule: "factors are finite, above 0, and one a pair",
        })?,
    };
    let (mut cos, mut sin) = (vec![0.0; half], vec![0.0; half]);
    let mut out = x.to_vec();
    for (row, &position) in out.chunks_exact_mut(heads * dim).zip(positions) {
        frequencies.angles(position, &mut cos, &mut sin);
        for head in row.chunks_exact_mut(dim) {
            for i in 0..half {
                let (first, second) = match rotation.pairing {
                    Pairing::Halves => (i, i + half),
                    Pairing::Adjacent => (2 * i, 2 * i + 1),
                };
                let (a, b) = (head[first], head[second]);
                head[first] = a.mul_add(cos[i], -(b * sin[i]));
                head[second] = a.mul_add(sin[i], b * cos[i]);
            }
        }
    }
    Ok(out)
}
