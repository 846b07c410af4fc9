//! Reads arbitrary bytes as a configuration file.
#![no_main]

use clap::CommandFactory;
use guild_cli::args::Cli;
use guild_cli::config::{Layer, check_text};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        for layer in [Layer::User, Layer::Project] {
            let _ = check_text(&Cli::command(), layer, text);
        }
    }
});
