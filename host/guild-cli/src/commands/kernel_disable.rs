//! `guild kernel disable`: loads no version of a package any more.

use crate::args::DisableArgs;
use crate::commands::kernel_selection::say;
use crate::commands::parsed;
use crate::data_dir::required_store;
use crate::failure::Outcome;
use crate::output::Output;
use std::path::Path;
use std::time::Duration;

/// Disables and says what was enabled.
pub fn run(args: &DisableArgs, data_dir: Option<&Path>, output: Output) -> Outcome<()> {
    let drain = args.drain.map(Duration::from_secs);
    let selected = required_store(data_dir)?.disable(&parsed("ID", &args.id)?, drain)?;
    say(&selected, output)
}
