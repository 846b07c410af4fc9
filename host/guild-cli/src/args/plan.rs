//! Arguments of `guild plan`.

use super::model::context_help;
use super::{ModelArgs, PassArgs};
use clap::Args;

/// `guild plan`.
#[derive(Args, Debug)]
#[command(mut_args(context_help("Positions of a sequence; the default is 4096")))]
pub struct PlanArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// How much goes through at once.
    #[command(flatten)]
    pub pass: PassArgs,
    /// Show who serves each step, and why the others lost.
    #[arg(long)]
    pub steps: bool,
}
