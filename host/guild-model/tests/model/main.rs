//! Tests of the public API. Golden values come from gguf-py, llama.cpp and the `tokenizers`
//! and `sentencepiece` Python packages.

mod container;
mod defects;
mod properties;
mod reader;
mod shards;
mod tokenizer;
mod tokenizer_families;
mod tokenizer_published;
mod vocabulary;

use guild_hostile::writer;
