//! Exports the reference plugin's entry.
#![forbid(unsafe_code)]

guild_sdk::export_plugin!(guild_plugin_reference::Reference);
