//! Arguments of `guild logits`.

use super::model::context_help;
use super::{ModelArgs, PassArgs};
use clap::Args;
use std::path::PathBuf;

/// `guild logits`.
#[derive(Args, Debug)]
#[command(mut_args(context_help(
    "Positions of a sequence; the default is as many as there are ids"
)))]
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
