//! `guild kernel enable`: makes an installed version the one that is loaded.

use crate::args::EnableArgs;
use crate::commands::kernel_selection::{package, say};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::places::{Places, required_store};
use crate::wiring::probe::probe;
use guild_package::audit::Subject;
use guild_package::store::generation::Pin;
use serde_json::Value;

/// Enables and says what changed.
pub fn run(args: &EnableArgs, places: &Places, output: Output) -> Outcome<()> {
    let (id, version) = package(&args.package)?;
    let store = required_store(places)?;
    let selected = store.enable(&id, version.as_ref(), &probe(args.probe));
    let selected = selected.map_err(|error| {
        // The version that was meant where none was named.
        let newest = || store.generation().ok()?.newest_version(&id).cloned();
        let version = version.or_else(newest);
        let pin = version.map(|version| Pin { id, version });
        Failure::from(error).about(pin.map(Subject::Package))
    })?;
    say(&selected, Value::Null, output)
}
