//! The command line, as clap reads it. One struct a command; no behaviour here.

use clap::{Args, Parser, Subcommand, ValueEnum};
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
    /// Show what is in a model file.
    Inspect(InspectArgs),
    /// Show which package serves each step of a model, and why the others lost.
    Plan(PlanArgs),
    /// Sign, verify and install packages.
    #[command(subcommand)]
    Kernel(KernelCommand),
}

/// Commands on packages.
#[derive(Debug, Subcommand)]
pub enum KernelCommand {
    /// Make a signing key.
    Keygen(KeygenArgs),
    /// Sign a staging folder into a bundle.
    Sign(SignArgs),
    /// Check a bundle against the trusted keys.
    Verify(VerifyArgs),
    /// Manage trusted keys.
    #[command(subcommand)]
    Trust(TrustCommand),
    /// Install a bundle and make it active.
    Install(InstallArgs),
    /// List installed packages.
    List,
    /// List active operations and runners with the package that provides each.
    Active,
}

/// Commands on trusted keys.
#[derive(Debug, Subcommand)]
pub enum TrustCommand {
    /// Trust a public key for a part of the name space.
    Add(TrustAddArgs),
    /// List trusted keys.
    List,
}

/// Format of the KV cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KvFormat {
    /// Half precision.
    F16,
    /// Single precision.
    F32,
}

/// How a model is opened and where its operations come from.
#[derive(Args, Clone, Debug)]
pub struct ModelArgs {
    /// Model file (GGUF).
    pub model: PathBuf,
    /// Threads; the default is what affinity and the CPU quota allow.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Positions of a sequence; the default fits the prompt and the tokens asked for, and is 4096 in
    /// `plan`.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=16_777_216))]
    pub context: Option<u64>,
    /// Rows in one pass of a prompt.
    #[arg(short, long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u64).range(1..=65_536))]
    pub batch: u64,
    /// Format of the KV cache.
    #[arg(long, value_enum, default_value_t = KvFormat::F16)]
    pub kv: KvFormat,
    /// Use installed packages only, no built-in ones.
    #[arg(long)]
    pub external_only: bool,
    /// Leave out the built-in CPU kernels.
    #[arg(long)]
    pub no_builtin_cpu: bool,
    /// Leave out the built-in Qwen runners.
    #[arg(long)]
    pub no_builtin_qwen: bool,
    /// Let the slow reference package serve operations.
    #[arg(long)]
    pub allow_reference: bool,
}

/// `guild run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Prompt text.
    #[arg(short, long, value_name = "TEXT", conflicts_with = "prompt_ids")]
    pub prompt: Option<String>,
    /// Prompt as token ids, such as `1,2,3`.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub prompt_ids: Option<Vec<u32>>,
    /// Tokens to generate at most.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u64).range(0..=16_777_216))]
    pub tokens: u64,
    /// Temperature; 0 takes the most likely token.
    #[arg(
        long,
        value_name = "T",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    pub temp: f32,
    /// Seed of the random stream.
    #[arg(
        long,
        value_name = "S",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    pub seed: u64,
    /// Go on after the end-of-sequence token.
    #[arg(long)]
    pub ignore_eos: bool,
}

/// `guild logits`.
#[derive(Args, Debug)]
pub struct LogitsArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Token ids, such as `1,2,3`.
    #[arg(long, value_name = "IDS", value_delimiter = ',', required = true)]
    pub ids: Vec<u32>,
    /// File to write: f32, tokens × vocabulary.
    #[arg(long, value_name = "FILE.npy")]
    pub out: PathBuf,
}

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

/// `guild inspect`.
#[derive(Args, Debug)]
pub struct InspectArgs {
    /// Model file (GGUF).
    pub file: PathBuf,
}

/// `guild plan`.
#[derive(Args, Debug)]
pub struct PlanArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
}

/// `guild kernel keygen`.
#[derive(Args, Debug)]
pub struct KeygenArgs {
    /// Private seed to create; it must not exist.
    #[arg(long, value_name = "FILE")]
    pub seed_file: PathBuf,
    /// Public key record to create.
    #[arg(long, value_name = "FILE")]
    pub public: PathBuf,
    /// Name for people.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub label: String,
    /// Who holds the key; the label where absent.
    #[arg(long, value_name = "TEXT")]
    pub operator: Option<String>,
    /// Mark the key as a test identity.
    #[arg(long)]
    pub test_identity: bool,
}

/// `guild kernel sign`.
#[derive(Args, Debug)]
pub struct SignArgs {
    /// Staging folder with a package.toml and the files it names.
    pub package_dir: PathBuf,
    /// Id of the key, or its first 12 digits or more behind `gk1-`.
    #[arg(long, value_name = "KEY")]
    pub key_id: String,
    /// Private seed.
    #[arg(long, value_name = "FILE")]
    pub seed_file: PathBuf,
    /// Bundle to write.
    #[arg(long, value_name = "FILE")]
    pub bundle: PathBuf,
}

/// `guild kernel verify`.
#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// Bundle to check.
    pub bundle: PathBuf,
    /// Package id that it must be.
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
}

/// `guild kernel trust add`.
#[derive(Args, Debug)]
pub struct TrustAddArgs {
    /// Public key record.
    pub public: PathBuf,
    /// Package ids that the key may sign: a prefix of whole segments, or `*`. May be repeated.
    #[arg(long, value_name = "PREFIX", required = true)]
    pub scope: Vec<String>,
    /// Confirms a scope of `*`.
    #[arg(long)]
    pub i_understand: bool,
}

/// `guild kernel install`.
#[derive(Args, Debug)]
pub struct InstallArgs {
    /// Bundle to install.
    pub bundle: PathBuf,
    /// Package id that it must be.
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// Accept a version older than the newest installed one.
    #[arg(long)]
    pub allow_downgrade: bool,
    /// Accept other publishers than those of the first install.
    #[arg(long)]
    pub accept_new_publisher: bool,
}
