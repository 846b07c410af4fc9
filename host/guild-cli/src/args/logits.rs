//! Arguments of `guild logits`.

use super::{ModelArgs, PassArgs};
use clap::Args;
use std::path::PathBuf;

/// `guild logits`.
#[derive(Args, Debug)]
pub struct LogitsArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// How much goes through at once.
    #[command(flatten)]
    pub pass: PassArgs,
    /// Token ids, such as `1,2,3`.
    #[arg(long, value_name = "IDS", value_delimiter = ',', required = true)]
    pub ids: Vec<u32>,
    /// File to write: f32, tokens × vocabulary.
    #[arg(long, value_name = "FILE.npy")]
    pub out: PathBuf,
}
