//! Exports the CPU plugin's entry.
#![forbid(unsafe_code)]

guild_sdk::export_plugin!(guild_plugin_cpu::Cpu);
