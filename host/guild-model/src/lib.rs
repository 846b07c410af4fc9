//! Model files and tokenizers.
//!
//! - [`gguf`]: reads a GGUF file through a memory map and checks all of it before anything is used.
//! - [`ModelSource`]: what the rest of the host sees of a model file: metadata, tensors, bytes.
//! - [`chat_template`]: from a conversation to the text that a model continues.
//! - [`text_scan`]: stop strings and reasoning in text that comes in pieces.
//! - [`tokenizer`]: text to token ids and back, built from a model's own metadata.
//!
//! This crate knows no architecture and no device. `docs/gguf.md` states what is accepted and every limit.
//! The only unsafe code is the memory map in `map.rs`.

#![deny(unsafe_code)]

pub mod chat_template;
pub mod error;
pub mod gguf;
mod map;
pub mod metadata;
mod name_index;
pub mod source;
pub mod text_scan;
pub mod tokenizer;

pub use chat_template::{ChatTemplate, ChatTemplateError};
pub use error::{Damage, ErrorCode, ModelError, SplitDamage, Unsupported};
pub use gguf::{Gguf, GgufFile, Shard};
pub use metadata::{Array, FromValue, Metadata, Value, ValueType};
pub use source::{ContentId, ModelSource, TensorInfo};
pub use text_scan::{AnswerPart, ReasoningSplitter, StopStrings};
pub use tokenizer::{ControlTokens, StreamDecoder, TokenizeError, Tokenizer};
