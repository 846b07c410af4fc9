//! The command line, as clap reads it. One file a command; no behaviour here.

mod bench;
mod chat;
mod completions;
mod config;
mod examples;
mod global;
mod inspect;
mod kernel;
mod logits;
mod man;
mod memory;
mod model;
mod package;
mod pass;
mod perplexity;
mod plan;
mod run;
mod sampling;
mod signing;
mod template;
mod tokenize;
mod trust;

pub use bench::{BenchArgs, PromptAndTokens, TableFormat};
pub use chat::ChatArgs;
pub use completions::CompletionsArgs;
pub use config::ConfigCommand;
pub use global::{ColorWhen, GlobalArgs, LogFormat};
pub use inspect::InspectArgs;
pub use kernel::{
    AuditArgs, DisableArgs, EnableArgs, FloorArgs, InstallArgs, InstalledArgs, KernelCommand,
    ListArgs, LogArgs, OutdatedArgs, ProbeArgs, RollbackArgs, SelftestArgs, VerifyArgs,
};
pub use logits::LogitsArgs;
pub use man::ManArgs;
pub use memory::{HugePages, MemoryArgs, Numa};
pub use model::{KvFormat, ModelArgs, Policy};
pub use package::PackageArgs;
pub use pass::PassArgs;
pub use perplexity::PerplexityArgs;
pub use plan::PlanArgs;
pub use run::RunArgs;
pub use sampling::SamplingArgs;
pub use signing::{
    AdvisoryArgs, CosignArgs, CountersignArgs, CountersignRole, KeygenArgs, RotateKeyArgs,
    SeedArgs, SignArgs,
};
pub use template::{TemplateArgs, TemplateOptions};
pub use tokenize::TokenizeArgs;
pub use trust::{
    TrustAddArgs, TrustAdvisoryArgs, TrustCommand, TrustPolicyArgs, TrustRevokeArgs,
    TrustRotateArgs, TrustShowArgs,
};

use clap::{CommandFactory, Parser, Subcommand};

/// The command line as clap parses it, with examples in its help texts.
#[must_use]
pub fn definition() -> clap::Command {
    examples::with_examples(Cli::command())
}

/// Runs mixture-of-experts language models with signed kernel packages.
#[derive(Debug, Parser)]
#[command(name = "guild", version = crate::version::line(), arg_required_else_help = true)]
#[command(after_help = "docs/cli.md lists the exit codes, docs/cli-reference.md all variables.")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Options that every command has.
    #[command(flatten)]
    pub global: GlobalArgs,
}

/// The commands.
#[derive(Debug, Subcommand)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one in the life of a process"
)]
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
    /// Show the text that a chat template makes of a conversation.
    Template(TemplateArgs),
    /// Turn text into token ids, or ids into text.
    Tokenize(TokenizeArgs),
    /// Show whether a model fits into memory, and which package serves each step.
    Plan(PlanArgs),
    /// Sign, verify and install packages.
    #[command(subcommand)]
    Kernel(KernelCommand),
    /// Look over everything that a run depends on, and say how to mend it.
    Doctor,
    /// Show settings and where they come from.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print a shell's completion script.
    Completions(CompletionsArgs),
    /// Write the manual pages.
    Man(ManArgs),
}
