//! Model files made by code, for tests of everything that reads one: sound ones, and ones that are broken on purpose.
//!
//! | Module | Holds |
//! |---|---|
//! | `writer` | writes a GGUF file, right or wrong |
//! | `tiny` | a sound, tiny model |
//! | `cases` | the table of broken ones, each with the refusal that it must meet |
#![forbid(unsafe_code)]

pub mod cases;
pub mod tiny;
pub mod writer;
