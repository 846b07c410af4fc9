//! `mini-ornith`, the trained model that tests use (`README.md` says how it was made).
//!
//! | Module | Holds |
//! |---|---|
//! | `bf16_twin` | the BF16 file with the model's values |
//! | `language` | the language that it has learned |
#![forbid(unsafe_code)]

pub mod bf16_twin;
pub mod language;

use serde_json::Value;

/// The model file.
pub const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/mini-ornith-Q8_0.gguf");
/// Generated text for perplexity.
pub const HELD_OUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/held-out.txt");

/// What transformers gives (`evaluate.py`).
///
/// # Panics
/// When the file isn't there or isn't JSON.
#[must_use]
pub fn golden() -> Value {
    json_file("golden.json")
}

/// A JSON file of this folder.
///
/// # Panics
/// As [`golden`].
#[must_use]
pub fn json_file(name: &str) -> Value {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
