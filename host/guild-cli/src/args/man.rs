//! Arguments of `guild man`.

use clap::Args;
use std::path::PathBuf;

/// `guild man`.
#[derive(Args, Debug)]
pub struct ManArgs {
    /// Folder to write one page a command to; without it, guild(1) goes to stdout.
    pub folder: Option<PathBuf>,
}
