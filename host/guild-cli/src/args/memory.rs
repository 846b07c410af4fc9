//! What a model may take of memory, and when.

use crate::memory::size::ByteSize;
use clap::{Args, ValueEnum};

/// Whether large mappings lie in pages of 2 MiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum HugePages {
    /// Where the system has them: weights of large files, and buffers.
    #[default]
    Auto,
    /// Small pages only.
    Off,
}

/// On which memory nodes pages lie, on machines with several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Numa {
    /// Where the thread runs that is the first to use a page: the system's own way.
    #[default]
    FirstTouch,
    /// On all nodes in turn.
    Interleave,
}

/// Limits of memory, when it is spent, and in which pages.
#[derive(Args, Clone, Debug, Default)]
pub struct MemoryArgs {
    /// Memory that the process may have in all, such as 8GiB; a model that needs more is refused.
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<ByteSize>,
    /// Load a model that doesn't fit.
    #[arg(long)]
    pub no_fit_check: bool,
    /// Read weights and spend memory when they are first used, not at load.
    #[arg(long)]
    pub no_prefetch: bool,
    /// Pages of 2 MiB for weights and buffers.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub huge_pages: HugePages,
    /// On which memory nodes pages lie; makes no difference on a machine with one.
    #[arg(long, value_enum, value_name = "POLICY", default_value_t)]
    pub numa: Numa,
}
