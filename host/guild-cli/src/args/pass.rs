//! How much goes through a model at once.

use clap::Args;

/// How much goes through a model at once.
#[derive(Args, Clone, Copy, Debug)]
pub struct PassArgs {
    /// Rows in one pass of a prompt.
    #[arg(short, long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u64).range(1..=65_536))]
    pub batch: u64,
}
