//! Arbitrary bytes as the record of a public key.

use guild_package::KeyRecord;

/// Whether `data` is a key record.
#[must_use]
pub fn run(data: &[u8]) -> bool {
    KeyRecord::decode(data).is_ok()
}
