//! What a model may take of memory, and when.

use crate::memory::size::ByteSize;
use clap::Args;

/// Limits of memory, and when it is spent.
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
}
