//! Arguments of `guild plan`.

use super::{ModelArgs, PassArgs};
use clap::Args;

/// `guild plan`.
#[derive(Args, Debug)]
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
