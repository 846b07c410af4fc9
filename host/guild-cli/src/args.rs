//! The command line, as clap reads it. One file a command; no behaviour here.

mod bench;
mod inspect;
mod kernel;
mod logits;
mod memory;
mod model;
mod pass;
mod perplexity;
mod plan;
mod run;
mod sampling;

pub use bench::{BenchArgs, PromptAndTokens, TableFormat};
pub use inspect::InspectArgs;
pub use kernel::{
    InstallArgs, KernelCommand, KeygenArgs, SignArgs, TrustAddArgs, TrustCommand, VerifyArgs,
};
pub use logits::LogitsArgs;
pub use memory::MemoryArgs;
pub use model::{KvFormat, ModelArgs};
pub use pass::PassArgs;
pub use perplexity::PerplexityArgs;
pub use plan::PlanArgs;
pub use run::RunArgs;
pub use sampling::SamplingArgs;

use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Runs mixture-of-experts language models with signed kernel packages.
#[derive(Debug, Parser)]
#[command(name = "guild", version, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Print one JSON object on stdout instead of text.
    #[arg(long, global = true)]
    pub json: bool,
    /// Log more; twice for debugging. `GUILD_LOG` sets a filter instead.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Folder that holds the package store.
    #[arg(long, global = true, env = "GUILD_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Generate text from a model.
    Run(RunArgs),
    /// Write the logits of every token of a prompt to a NumPy file.
    Logits(LogitsArgs),
    /// Measure prefill and decode speed.
    Bench(BenchArgs),
    /// Measure how well a model predicts a text.
    Perplexity(PerplexityArgs),
    /// Show what is in a model file.
    Inspect(InspectArgs),
    /// Show whether a model fits into memory, and which package serves each step.
    Plan(PlanArgs),
    /// Sign, verify and install packages.
    #[command(subcommand)]
    Kernel(KernelCommand),
}
