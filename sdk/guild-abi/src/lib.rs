//! The C contract between the guild host and its plugins.
//!
//! This crate is the one source of the contract. One module is one header: `abi` becomes
//! `include/guild/abi.h`, and so on. Type names are the C names, so that both languages and every
//! document say the same word. The crate holds data types only; it calls no
//! plugin. `text` reads and writes the two text types for Rust code on both sides.
//!
//! Layout law: 64-bit little-endian; fixed-width integers; no enums, booleans or bit-fields; all
//! padding is a named field; sizes are multiples of 8. A struct starts with its `size`. A reader
//! uses `min(size, its own size)`; a missing tail reads as zero; zero means absent or default.
//! In `flags` of a `guild_hdr` the low byte may be ignored and the high byte must be understood.
//!
//! Thread tags on functions: `[serial]` the host serialises calls per plugin; `[any]` any thread,
//! concurrently; `[inst]` one thread at a time per instance, no thread affinity.
#![no_std]
#![deny(unsafe_code)]
#![allow(non_camel_case_types)]

pub mod abi;
pub mod contract;
pub mod core_ops;
pub mod counters;
pub mod device;
pub mod formats;
pub mod ops;
pub mod runner;
pub mod table_hash;
pub mod text;
