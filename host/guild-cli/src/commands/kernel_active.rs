//! `guild kernel active`: shows which package provides each operation and runner.

use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, read_store};
use serde_json::{Value, json};

/// Prints one line an operation or runner.
pub fn run(places: &Places, output: Output) -> Outcome<()> {
    let found = read_store(places, output)?;
    let active = match &found {
        Some(found) => found.store.active()?,
        None => Vec::new(),
    };
    let mut rows: Vec<Value> = Vec::new();
    for (name, provider) in &active {
        output.data(format!("{name}\t{} {}", provider.id, provider.version))?;
        rows.push(json!({
            "name": name,
            "package": provider.id,
            "version": provider.version,
            "mode": provider.mode,
        }));
    }
    if active.is_empty() {
        output.say("No package is active.");
    }
    output.object(json!({ "active": rows, "store": found.map(|found| found.whose) }))
}
