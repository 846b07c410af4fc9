//! Arguments of `guild bench`.

use super::ModelArgs;
use super::model::context_help;
use clap::{Arg, Args, ValueEnum};
use std::str::FromStr;

/// `guild bench`.
#[derive(Args, Debug)]
#[command(mut_args(context_help(
    "Positions of a sequence; the default is what the longest test needs"
)))]
#[command(mut_args(list_of_threads))]
pub struct BenchArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Prompt tokens, such as `128,512`; 0 leaves prefill out.
    #[arg(short, long, value_name = "N", value_delimiter = ',', default_value = "512", value_parser = clap::value_parser!(u64).range(0..=1_048_576))]
    pub prompt: Vec<u64>,
    /// Tokens to generate, such as `32,128`; 0 leaves decode out.
    #[arg(short = 'n', long, value_name = "N", value_delimiter = ',', default_value = "64", value_parser = clap::value_parser!(u64).range(0..=1_048_576))]
    pub tokens: Vec<u64>,
    /// A prompt and the tokens after it, measured together, such as `512,128`. May be repeated.
    #[arg(long, value_name = "P,N")]
    pub pg: Vec<PromptAndTokens>,
    /// Tokens that are in the context before measuring begins, such as `0,4096`.
    #[arg(short, long, value_name = "N", value_delimiter = ',', default_value = "0", value_parser = clap::value_parser!(u64).range(0..=16_777_216))]
    pub depth: Vec<u64>,
    /// Rows in one pass of a prompt, such as `64,512`.
    #[arg(short, long, value_name = "N", value_delimiter = ',', default_value = "512", value_parser = clap::value_parser!(u64).range(1..=65_536))]
    pub batch: Vec<u64>,
    /// Measured repetitions of each test, after one to warm up.
    #[arg(short, long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: u32,
    /// Leave out the repetition that warms up.
    #[arg(long)]
    pub no_warmup: bool,
    /// Time each operation, in one more repetition that doesn't count for the rates.
    #[arg(long)]
    pub ops: bool,
    /// Compare what decode reads with the bandwidth of memory, which is measured after the tests.
    #[arg(long)]
    pub roofline: bool,
    /// Instruction set of the CPU kernels, such as `avx2`; the default is the best of this machine.
    #[arg(long, value_name = "NAME")]
    pub isa: Option<String>,
    /// How the tables are written; `csv` has no `--ops` and no `--roofline`.
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub format: TableFormat,
}

/// Makes `-t` a list.
fn list_of_threads(argument: Arg) -> Arg {
    match argument.get_id() == "threads" {
        true => argument
            .value_delimiter(',')
            .help("Threads, such as `1,2`; the default is what affinity and the CPU quota allow"),
        false => argument,
    }
}

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Columns in line, for a terminal.
    Text,
    /// A Markdown table.
    Markdown,
    /// Comma-separated values.
    Csv,
}

/// A prompt and the tokens after it, each 1 or more, written `P,N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptAndTokens {
    /// Prompt tokens.
    pub prompt: u64,
    /// Tokens to generate.
    pub tokens: u64,
}

impl FromStr for PromptAndTokens {
    type Err = String;

    fn from_str(text: &str) -> Result<PromptAndTokens, String> {
        let number = |text: &str| {
            let number: u64 = text.trim().parse().ok()?;
            (1..=1_048_576).contains(&number).then_some(number)
        };
        let pair = text.split_once(',').and_then(|(prompt, tokens)| {
            Some(PromptAndTokens {
                prompt: number(prompt)?,
                tokens: number(tokens)?,
            })
        });
        pair.ok_or_else(|| "write two numbers from 1 to 1048576, such as 512,128".to_owned())
    }
}
