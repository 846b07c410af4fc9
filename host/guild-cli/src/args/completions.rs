//! Arguments of `guild completions`.

use clap::Args;
use clap_complete::Shell;

/// `guild completions`.
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub shell: Shell,
}
