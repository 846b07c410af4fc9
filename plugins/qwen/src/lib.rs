//! Model runners for the Qwen 3.5 family: `qwen35moe` (mixture of experts) and `qwen35` (dense).
//!
//! Both are the same decoder: most layers mix tokens by a gated delta rule, every fourth by gated
//! attention; the feed-forward part is an expert pool or one dense projection. The structure follows
//! the published models (Hugging Face `Qwen3_5MoeForCausalLM`, `Qwen3_5ForCausalLM`); tensor names and
//! orders are those of GGUF files made by llama.cpp's converter.
//!
//! | File | Holds |
//! |---|---|
//! | `qwen3_5_moe`, `qwen3_5` | the two runners |
//! | `hyperparameters` | the metadata keys, read and checked |
//! | `refusal` | why a model is refused |
//! | `tensors` | weights by name, with the shape that they must have |
//! | `decoder` | the main section: embedding, layers, head |
//! | `delta_layer`, `attention_layer` | the two token mixers |
//! | `experts`, `dense` | the two feed-forward parts |
//! | `draft_head` | one draft section for each multi-token-prediction block |
#![forbid(unsafe_code)]

mod attention_layer;
mod decoder;
mod delta_layer;
mod dense;
mod draft_head;
mod experts;
mod hyperparameters;
mod qwen3_5;
mod qwen3_5_moe;
mod refusal;
mod tensors;

pub use qwen3_5::Qwen35;
pub use qwen3_5_moe::Qwen35Moe;
pub use refusal::Refusal;

use guild_sdk::{Plugin, PluginSource};

/// Names this plugin for `guild_sdk::entry` and `guild_sdk::export_plugin!`.
pub struct Qwen;

impl PluginSource for Qwen {
    const PLUGIN: &'static Plugin = &Plugin {
        id: "org.guild.runners.qwen",
        version: "1.0.0",
        build_id: [0; 32],
        kernel_count: 0,
        kernels: |_| Ok(Vec::new()),
        runners: &[&Qwen35Moe, &Qwen35],
    };
}
