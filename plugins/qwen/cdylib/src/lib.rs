//! Exports the Qwen runner's entry.
#![forbid(unsafe_code)]

guild_sdk::export_plugin!(guild_plugin_qwen::Qwen);
