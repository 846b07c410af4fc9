//! `guild kernel enable`: makes an installed version the one that is loaded.

use crate::args::EnableArgs;
use crate::commands::kernel_selection::{package, say};
use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, required_store};
use crate::wiring::probe::probe;
use serde_json::Value;

/// Enables and says what changed.
pub fn run(args: &EnableArgs, places: &Places, output: Output) -> Outcome<()> {
    let (id, version) = package(&args.package)?;
    let selected = required_store(places)?.enable(&id, version.as_ref(), &probe(args.probe))?;
    say(&selected, Value::Null, output)
}
