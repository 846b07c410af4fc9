//! Arguments of `guild bench`.

use super::ModelArgs;
use clap::Args;

/// `guild bench`.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Prompt tokens; 0 leaves prefill out.
    #[arg(short, long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u64).range(0..=1_048_576))]
    pub prompt: u64,
    /// Tokens to generate; 0 leaves decode out.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u64).range(0..=1_048_576))]
    pub tokens: u64,
    /// Measured repetitions, after one warm-up.
    #[arg(short, long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: u32,
}
