//! Arguments of `guild perplexity`.

use super::model::context_help;
use super::{ModelArgs, PassArgs};
use clap::Args;
use std::path::PathBuf;

/// `guild perplexity`. `-c` is the length of a window, 512 if not given.
#[derive(Args, Debug)]
#[command(mut_args(context_help("Tokens of a window; the default is 512")))]
pub struct PerplexityArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// How much goes through at once.
    #[command(flatten)]
    pub pass: PassArgs,
    /// Text file (UTF-8). One newline at its end is left out.
    #[arg(short, long, value_name = "FILE")]
    pub file: PathBuf,
    /// Take markers such as `<|im_start|>` as control tokens; without it they are text, as in llama.cpp.
    #[arg(long)]
    pub special: bool,
    /// Windows to evaluate, from the start of the text; all if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=16_777_216))]
    pub chunks: Option<u64>,
}
