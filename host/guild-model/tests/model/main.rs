//! Tests of the public API. Golden values come from gguf-py.

mod container;
mod defects;
mod properties;
mod reader;
mod writer;
