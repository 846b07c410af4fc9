//! Exports the Qwen runner's entry.

guild_sdk::export_plugin!(guild_plugin_qwen::Qwen);
