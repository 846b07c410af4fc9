//! Arbitrary bytes as a configuration file.

use clap::CommandFactory;
use guild_cli::args::Cli;
use guild_cli::config::{Layer, check_text};

/// Whether `data` is a configuration file of a user, or of a project.
#[must_use]
pub fn run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let is_file_of = |layer| check_text(&Cli::command(), layer, text).is_ok();
    // Both are read, whatever the first one says.
    is_file_of(Layer::User) | is_file_of(Layer::Project)
}
