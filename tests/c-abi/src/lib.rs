//! Writes the C headers from `sdk/guild-abi` and holds them to the Rust types.
//!
//! `source` reads the Rust modules and computes each struct's layout by the layout law; `header`
//! has cbindgen write the headers; `layout` writes the computed numbers as assertions, so that the
//! C compiler and rustc both confirm them. Every generated file is committed; `tests/fresh.rs`
//! writes it again and fails on a difference.
//!
//! After a change to the ABI run the tests `fresh`, then `read_back`, then all of them: each writes
//! what the next one reads.
#![forbid(unsafe_code)]

#[rustfmt::skip]
#[allow(missing_docs, non_camel_case_types, unused_qualifications)]
pub mod bindings;
pub mod header;
pub mod layout;
pub mod source;

use std::{fs, io, path::PathBuf};

/// The root of the checkout.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a committed file with what it should be, and writes it where they differ.
///
/// `path` is relative to the checkout. Gives whether the file was already right.
pub fn refresh(path: &str, text: &str) -> io::Result<bool> {
    let file = root().join(path);
    if fs::read_to_string(&file).is_ok_and(|committed| committed == text) {
        return Ok(true);
    }
    fs::write(file, text)?;
    Ok(false)
}
