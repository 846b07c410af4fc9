//! Arguments of `guild run`.

use super::{ChatArgs, ModelArgs, PassArgs, SamplingArgs};
use clap::Args;
use std::path::PathBuf;

/// `guild run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// How much goes through at once.
    #[command(flatten)]
    pub pass: PassArgs,
    /// Prompt text; without any prompt it is read from standard input.
    #[arg(short, long, value_name = "TEXT", conflicts_with_all = ["file", "prompt_ids"])]
    pub prompt: Option<String>,
    /// File that holds the prompt text.
    #[arg(short, long, value_name = "FILE", conflicts_with = "prompt_ids")]
    pub file: Option<PathBuf>,
    /// Prompt as token ids, such as `1,2,3`.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub prompt_ids: Option<Vec<u32>>,
    /// Tokens to generate at most; 128 without --chat, else as many as the context holds.
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=16_777_216))]
    pub tokens: Option<u64>,
    /// How tokens are chosen.
    #[command(flatten)]
    pub sampling: SamplingArgs,
    /// Go on after the end-of-sequence token.
    #[arg(long)]
    pub ignore_eos: bool,
    /// Text that ends the generation and isn't printed; may be given several times.
    #[arg(long, value_name = "TEXT")]
    pub stop: Vec<String>,
    /// A conversation instead of a completion.
    #[command(flatten)]
    pub chat: ChatArgs,
}
