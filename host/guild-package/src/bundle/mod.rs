//! The bundle file: a zip archive with exactly one legal encoding (`docs/package-format.md`, section 2).
//!
//! [`emit`] writes it, [`Bundle::parse`] accepts exactly what [`emit`] writes. Nothing here knows what a
//! manifest says.

mod emit;
mod layout;
mod parse;

pub use emit::{EmitEntry, emit};
pub(crate) use parse::digest_of;
pub use parse::{Bundle, BundleEntry, ReadAt};

/// Name of the first entry.
pub const MANIFEST_NAME: &str = "manifest.json";
/// Name of the last entry, the only bytes that no signature covers.
pub const ENVELOPE_NAME: &str = "signatures.json";
