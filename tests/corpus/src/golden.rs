//! Arbitrary bytes as golden vectors.

use guild_conformance::golden::Vectors;

/// Whether `data` holds golden vectors.
///
/// # Panics
/// If what was accepted has another encoding.
#[must_use]
pub fn run(data: &[u8]) -> bool {
    let Ok(vectors) = Vectors::decode(data) else {
        return false;
    };
    assert_eq!(vectors.encode().as_deref(), Ok(data));
    true
}
