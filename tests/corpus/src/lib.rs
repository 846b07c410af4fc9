//! What each fuzz target does with its bytes. `tests/fuzz` feeds it what a fuzzer makes up; the test of this crate
//! feeds it the inputs below `seeds/`, so that what a fuzzer once reached is walked again in every test run.
//!
//! One module a parser. Each says whether it accepted its bytes, and panics where something accepted doesn't hold.
#![forbid(unsafe_code)]

pub mod audit;
pub mod bundle;
pub mod chat_template;
pub mod config;
pub mod elf_preflight;
pub mod envelope;
pub mod gguf;
pub mod golden;
pub mod key_record;
pub mod manifest;
pub mod statement;
pub mod tokenizer;
pub mod trust;

/// What a target does with its bytes; whether it accepted them.
pub type Run = fn(&[u8]) -> bool;

/// Every target, by the name that it has in `tests/fuzz` and below `seeds/`.
pub const TARGETS: [(&str, Run); 13] = [
    ("audit", audit::run),
    ("bundle", bundle::run),
    ("chat_template", chat_template::run),
    ("config", config::run),
    ("elf_preflight", elf_preflight::run),
    ("envelope", envelope::run),
    ("gguf", gguf::run),
    ("golden", golden::run),
    ("key_record", key_record::run),
    ("manifest", manifest::run),
    ("statement", statement::run),
    ("tokenizer", tokenizer::run),
    ("trust", trust::run),
];
