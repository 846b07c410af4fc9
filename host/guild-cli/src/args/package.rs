//! Which packages run.

use clap::Args;

/// Where help texts show these options.
const HEADING: &str = "Packages";

/// Options that decide which packages run. A project's configuration file can't set any of them.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct PackageArgs {
    /// Use installed packages only, no built-in ones.
    #[arg(long, help_heading = HEADING)]
    pub external_only: bool,
    /// Leave out the built-in CPU kernels.
    #[arg(long, help_heading = HEADING)]
    pub no_builtin_cpu: bool,
    /// Leave out the built-in Qwen runners.
    #[arg(long, help_heading = HEADING)]
    pub no_builtin_qwen: bool,
    /// Leave out the built-in llama runner.
    #[arg(long, help_heading = HEADING)]
    pub no_builtin_llama: bool,
    /// Let the slow reference package serve operations.
    #[arg(long, help_heading = HEADING)]
    pub allow_reference: bool,
}
