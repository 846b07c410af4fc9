//! `guild kernel floor`: the lowest security epoch of a package that is accepted.

use crate::args::FloorArgs;
use crate::commands::parsed;
use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, existing_store, open_store};
use guild_package::store::FloorRaised;
use guild_package::{PackageId, Store};
use serde_json::{Value, json};

/// Lists the floors, or raises one.
pub fn run(args: &FloorArgs, places: &Places, output: Output) -> Outcome<()> {
    match (&args.id, args.epoch) {
        (Some(package), Some(epoch)) => raise(package, epoch, places, output),
        (wanted, _) => list(wanted.as_deref(), places, output),
    }
}

fn list(wanted: Option<&str>, places: &Places, output: Output) -> Outcome<()> {
    let wanted: Option<PackageId> = wanted.map(|id| parsed("ID", id)).transpose()?;
    let store = existing_store(places)?;
    let generation = store.as_ref().map(Store::generation).transpose()?;
    let below = store.as_ref().and_then(Store::below);
    let below = below.map(Store::generation).transpose()?;
    if let Some(id) = &wanted
        && !generation.iter().chain(&below).any(|it| it.knows(id))
    {
        output.say(unknown(id));
    }
    let floors = generation.map(|generation| generation.floors);
    let floors = floors.unwrap_or_default();
    let mut rows: Vec<Value> = Vec::new();
    for (id, floor) in &floors {
        if wanted.as_ref().is_none_or(|wanted| wanted == id) {
            output.data(format!("{id}\t{floor}"))?;
            rows.push(json!({ "id": id, "floor": floor }));
        }
    }
    match (&wanted, rows.is_empty()) {
        (Some(id), true) => output.say(format!(
            "{id} has no floor: every security epoch is accepted."
        )),
        (None, true) => output.say("No floor was raised: every security epoch is accepted."),
        _ => {}
    }
    output.object(json!({ "floors": rows, "raised": null }))
}

fn unknown(id: &PackageId) -> String {
    format!("No version of {id} is or was installed here; a floor counts for the first one too.")
}

fn raise(package: &str, epoch: u64, places: &Places, output: Output) -> Outcome<()> {
    let id = parsed("ID", package)?;
    let store = open_store(places)?;
    let raised = store.raise_floor(&id, epoch)?;
    output.say(format!(
        "The floor of {} is {epoch} now; it never falls",
        raised.id
    ));
    if !raised.known {
        output.say(unknown(&raised.id));
    }
    say_below(&raised, false, output);
    if store.below().is_some() {
        output.say("Packages of the machine's store load as before: its owner raises the floor there with `guild --machine kernel floor`");
    }
    output.data(format!("{}\t{epoch}", raised.id))?;
    output.object(json!({
        "floors": [{ "id": raised.id, "floor": raised.floor }],
        "raised": {
            "previous": raised.previous,
            "known": raised.known,
            "below": raised.below,
            "enabled_below": raised.enabled_below,
            "generation": raised.generation,
        },
    }))
}

/// Names the installed versions below a floor, and the one that is enabled all the same.
pub fn say_below(raised: &FloorRaised, dry_run: bool, output: Output) {
    let is = match dry_run {
        true => "would be below it and couldn't",
        false => "is below it and can't",
    };
    for pin in &raised.below {
        output.say(format!("{pin} {is} be enabled any more"));
    }
    if let Some(pin) = &raised.enabled_below {
        output.say(format!(
            "{pin} is enabled all the same: install a newer version, or `guild kernel disable {}`",
            raised.id
        ));
    }
}
