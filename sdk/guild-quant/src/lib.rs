//! Quantised block formats: scalar decode, the integers behind a block, and activation encode.
//!
//! Everything here is safe scalar code that states what the bytes mean. Kernels are compared with it.
//! One file describes one format:
//! - [`format`]: weight formats as they lie in a GGUF file. [`BlockFormat`] decodes; [`QuantisedFormat`] gives
//!   the integers that the exact quantised dot works on.
//! - [`activation`]: the formats that activations are rounded to before a quantised dot.
//! - [`expert_rows`]: the order of rows in which gate and up alternate.
//! - [`registry`]: all weight formats as data, for code that has a type number from a file in hand.
//!
//! All functions are pure and may be called from any thread.

#![forbid(unsafe_code)]

pub mod activation;
pub mod expert_rows;
pub mod format;
pub mod registry;

pub use activation::{Activation, ActivationFormat, Q8_32, Q8_256};
pub use expert_rows::ExpertRows;
pub use format::{BlockFormat, BlockIntegers, LengthMismatch, QuantisedFormat, decode_row};
pub use registry::{Format, format_by_ggml_type, format_by_name, formats};
