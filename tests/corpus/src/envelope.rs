//! Arbitrary bytes as a signature envelope.

use guild_package::envelope::Envelope;

/// Whether `data` is an envelope.
#[must_use]
pub fn run(data: &[u8]) -> bool {
    Envelope::decode(data).is_ok()
}
