//! How a model is opened: shared by all commands that run or plan one.

use super::{MemoryArgs, PackageArgs};
use clap::{Arg, ArgAction, Args, ValueEnum};
use std::path::PathBuf;

/// Format of the KV cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KvFormat {
    /// Half precision.
    F16,
    /// Single precision.
    F32,
}

/// Which classes of kernels may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// Exact kernels only: the same bits on every machine.
    #[default]
    Exact,
    /// Also kernels with a stated error, where they are faster.
    Fast,
}

/// How a model is opened and where its operations come from.
#[derive(Args, Clone, Debug)]
pub struct ModelArgs {
    /// Model: a GGUF file, any shard of a split model, or a folder that holds one model.
    pub model: PathBuf,
    // One at most, but for `bench`, which makes it a list.
    /// Threads; the default is what affinity and the CPU quota allow.
    #[arg(short, long, value_name = "N", action = ArgAction::Set, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Vec<u32>,
    /// Positions of a sequence. Each command has its own default, and its help says which.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=16_777_216))]
    pub context: Option<u64>,
    /// What it may take of memory.
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Format of the KV cache.
    #[arg(long, value_enum, default_value_t = KvFormat::F16)]
    pub kv: KvFormat,
    /// Which classes of kernels may run.
    #[arg(long, value_enum, default_value_t)]
    pub policy: Policy,
    /// Which packages run.
    #[command(flatten)]
    pub packages: PackageArgs,
}

/// Says in the help of `-c` what one command's default is. The other arguments stay, and so does the order.
pub(super) fn context_help(help: &'static str) -> impl FnMut(Arg) -> Arg {
    move |argument| match argument.get_id() == "context" {
        true => argument.help(help),
        false => argument,
    }
}
