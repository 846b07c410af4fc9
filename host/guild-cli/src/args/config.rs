//! Arguments of the `guild config` commands.

use clap::Subcommand;

/// Commands on configuration.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show every setting with its value and who set it.
    Show,
}
