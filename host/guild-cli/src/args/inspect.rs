//! Arguments of `guild inspect`.

use clap::Args;
use std::path::PathBuf;

/// `guild inspect`.
#[derive(Args, Debug)]
pub struct InspectArgs {
    /// Model file (GGUF).
    pub file: PathBuf,
}
