//! Which packages run.

use clap::Args;

/// Options that decide which packages run. A project's configuration file can't set any of them.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Packages")]
pub struct PackageArgs {
    /// Use installed packages only, no built-in ones.
    #[arg(long)]
    pub external_only: bool,
    /// Leave out the built-in CPU kernels.
    #[arg(long)]
    pub no_builtin_cpu: bool,
    /// Leave out the built-in Qwen runners.
    #[arg(long)]
    pub no_builtin_qwen: bool,
    /// Leave out the built-in llama runner.
    #[arg(long)]
    pub no_builtin_llama: bool,
    /// Let the slow reference package serve operations.
    #[arg(long)]
    pub allow_reference: bool,
}
