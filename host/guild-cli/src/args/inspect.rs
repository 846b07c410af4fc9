//! Arguments of `guild inspect`.

use clap::Args;
use std::path::PathBuf;

/// `guild inspect`.
#[derive(Args, Debug)]
pub struct InspectArgs {
    /// Model: a GGUF file, any shard of a split model, or a folder that holds one model.
    pub file: PathBuf,
    /// List every tensor with its type, shape and place.
    #[arg(long)]
    pub tensors: bool,
    /// List every metadata entry; long arrays show their first elements and their length.
    #[arg(long)]
    pub metadata: bool,
    /// List metadata and tensors.
    #[arg(long)]
    pub all: bool,
    /// Print the chat template and nothing else: the default one, or the one of this name.
    #[arg(
        long,
        value_name = "NAME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        conflicts_with_all = ["tensors", "metadata", "all"]
    )]
    pub template: Option<String>,
}
