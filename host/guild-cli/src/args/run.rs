//! Arguments of `guild run`.

use super::model::context_help;
use super::{ChatArgs, ModelArgs, PassArgs, SamplingArgs};
use clap::Args;
use std::path::PathBuf;

/// `guild run`.
#[derive(Args, Debug)]
#[command(mut_args(context_help(
    "Positions of a sequence; the default fits the prompt and the tokens asked for, with --chat what the model was made for, at most 4096"
)))]
pub struct RunArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// How much goes through at once.
    #[command(flatten)]
    pub pass: PassArgs,
    /// Prompt text, taken as it is; without any prompt it is read from standard input.
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with_all = ["file", "prompt_ids"])]
    pub prompt: Option<String>,
    /// File that holds the prompt text. One newline at the end of a file or of standard input is left out.
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
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = stop_string)]
    pub stop: Vec<String>,
    /// A conversation instead of a completion.
    #[command(flatten)]
    pub chat: ChatArgs,
}

/// Refuses a text that every answer would begin with.
fn stop_string(text: &str) -> Result<String, String> {
    match text {
        "" => Err("an empty text can't end anything; leave the option out".to_owned()),
        text => Ok(text.to_owned()),
    }
}
