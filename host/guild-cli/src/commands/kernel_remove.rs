//! `guild kernel remove`: removes installed versions.

use crate::args::InstalledArgs;
use crate::commands::kernel_selection::package;
use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, required_store};
use serde_json::json;

/// Removes and says what stays.
pub fn run(args: &InstalledArgs, places: &Places, output: Output) -> Outcome<()> {
    let (id, version) = package(&args.package)?;
    let removed = required_store(places)?.remove(&id, version.as_ref())?;
    for version in &removed.versions {
        output.say(format!("{id} {version} is removed"));
        output.data(format!("{id} {version}"))?;
    }
    if let Some(version) = removed.disabled.as_ref().filter(|_| !removed.was_last) {
        output.say(format!(
            "{version} was the enabled version; `guild kernel enable {id}` enables another"
        ));
    }
    if removed.was_last {
        output.say(
            "Its pins and its floor remain: the store still remembers which bytes its versions had, their lowest security epoch and who published them.",
        );
    }
    output.say("`guild kernel gc` deletes the files.");
    output.object(json!({
        "id": removed.id,
        "versions": removed.versions,
        "disabled": removed.disabled,
        "was_last": removed.was_last,
        "generation": removed.generation,
    }))
}
