//! Exports the CPU plugin's entry. A release that differs in nothing but its number, as the demo makes one, is built with
//! the number in the variable `GUILD_CPU_VERSION`.
#![forbid(unsafe_code)]

use guild_plugin_cpu::Cpu;
use guild_sdk::{Plugin, PluginSource};

/// The plugin under the version that it is built for.
struct Release;

impl PluginSource for Release {
    const PLUGIN: &'static Plugin = &Plugin {
        version: match option_env!("GUILD_CPU_VERSION") {
            Some(version) => version,
            None => Cpu::PLUGIN.version,
        },
        ..*Cpu::PLUGIN
    };
}

guild_sdk::export_plugin!(Release);
