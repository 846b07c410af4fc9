//! Model runner for dense `llama`, written in C99: `llama.c` beside this folder.
//!
//! The package's library is built from that file alone, with a C compiler or CMake
//! (`docs/adding-an-architecture.md`). This crate compiles the same file into the host as a built-in
//! package; it adds nothing but the entry's declaration.
#![deny(unsafe_code)]

mod entry;

pub use entry::guild_llama_plugin_entry_v1;
