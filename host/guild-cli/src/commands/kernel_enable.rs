//! `guild kernel enable`: makes an installed version the one that is loaded.

use crate::args::EnableArgs;
use crate::commands::kernel_selection::{package, say};
use crate::data_dir::required_store;
use crate::failure::Outcome;
use crate::output::Output;
use crate::wiring::probe::probe;
use serde_json::Value;
use std::path::Path;

/// Enables and says what changed.
pub fn run(args: &EnableArgs, data_dir: Option<&Path>, output: Output) -> Outcome<()> {
    let (id, version) = package(&args.package)?;
    let selected = required_store(data_dir)?.enable(&id, version.as_ref(), &probe(args.probe))?;
    say(&selected, Value::Null, output)
}
