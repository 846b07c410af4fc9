//! The parts of `cargo demo` that the end-to-end tests use too: builds, staging, the real binary.
#![forbid(unsafe_code)]

pub mod build;
pub mod error;
pub mod guild;
pub mod receipt;
pub mod seed;
pub mod staging;
pub mod upgrade;
