//! `guild.core.add@1`.

/// `a + b`, element by element.
#[must_use]
pub fn add(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}
