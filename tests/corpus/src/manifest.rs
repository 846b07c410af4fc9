//! Arbitrary bytes as a manifest.

use guild_package::Manifest;

/// Whether `data` is a manifest.
///
/// # Panics
/// If what was accepted can't be written, or reads back as something else.
#[must_use]
pub fn run(data: &[u8]) -> bool {
    let Ok(manifest) = Manifest::decode(data) else {
        return false;
    };
    let encoded = manifest
        .encode()
        .expect("an accepted manifest can be written");
    assert_eq!(Manifest::decode(&encoded).expect("and read back"), manifest);
    true
}
