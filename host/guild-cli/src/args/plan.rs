//! Arguments of `guild plan`.

use super::ModelArgs;
use clap::Args;

/// `guild plan`.
#[derive(Args, Debug)]
pub struct PlanArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
}
