//! Arbitrary bytes as a bundle.

use guild_package::bundle::Bundle;

/// Whether `data` is a bundle whose manifest and envelope can be read too.
#[must_use]
pub fn run(data: &[u8]) -> bool {
    Bundle::parse(data).is_ok_and(|bundle| bundle.manifest().is_ok() && bundle.envelope().is_ok())
}
