//! Tests of the public API. Golden values come from gguf-py, llama.cpp and the `tokenizers` Python package.

mod container;
mod defects;
mod properties;
mod reader;
mod shards;
mod tokenizer;

use guild_hostile::writer;
