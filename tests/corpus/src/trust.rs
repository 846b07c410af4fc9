//! Arbitrary bytes as a trust file.

use guild_package::TrustStore;

/// Whether `data` is a trust file.
#[must_use]
pub fn run(data: &[u8]) -> bool {
    TrustStore::decode(data).is_ok()
}
