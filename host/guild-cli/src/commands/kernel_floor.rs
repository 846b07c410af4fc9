//! `guild kernel floor`: the lowest security epoch of a package that is accepted.

use crate::args::FloorArgs;
use crate::commands::parsed;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::places::{Places, Whose, open_store, own_store, read_store, required_store};
use guild_package::limits::EPOCH_RISE_MAX;
use guild_package::store::FloorRaised;
use guild_package::{PackageId, Store};
use serde_json::{Value, json};

/// Lists the floors, or raises one.
pub fn run(args: &FloorArgs, places: &Places, output: Output) -> Outcome<()> {
    let id: Option<PackageId> = args.id.as_deref().map(|id| parsed("ID", id)).transpose()?;
    match (id, args.epoch) {
        (Some(id), Some(epoch)) => raise(args, &id, epoch, places, output),
        (wanted, _) => list(wanted.as_ref(), places, output),
    }
}

fn list(wanted: Option<&PackageId>, places: &Places, output: Output) -> Outcome<()> {
    let found = read_store(places, output)?;
    let store = found.as_ref().map(|found| &found.store);
    let generation = store.map(Store::generation).transpose()?;
    let below = store.and_then(Store::below);
    let below = below.map(Store::generation).transpose()?;
    if let Some(id) = wanted
        && !generation.iter().chain(&below).any(|it| it.knows(id))
    {
        output.say(unknown(id));
    }
    let floors = generation.map(|generation| generation.floors);
    let floors = floors.unwrap_or_default();
    let mut rows: Vec<Value> = Vec::new();
    for (id, floor) in &floors {
        if wanted.is_none_or(|wanted| wanted == id) {
            output.data(format!("{id}\t{floor}"))?;
            rows.push(json!({ "id": id, "floor": floor }));
        }
    }
    match (wanted, rows.is_empty()) {
        (Some(id), true) => output.say(format!(
            "{id} has no floor: every security epoch is accepted."
        )),
        (None, true) => output.say("No floor was raised: every security epoch is accepted."),
        _ => {}
    }
    output.object(json!({
        "floors": rows,
        "raised": null,
        "dry_run": false,
        "store": found.map(|found| found.whose),
    }))
}

fn unknown(id: &PackageId) -> String {
    format!("No version of {id} is or was installed here; a floor counts for the first one too.")
}

fn raise(
    args: &FloorArgs,
    id: &PackageId,
    epoch: u64,
    places: &Places,
    output: Output,
) -> Outcome<()> {
    // Before a store is made for it.
    check_rise(args, id, epoch, places)?;
    let (store, raised) = match args.dry_run {
        true => {
            let store = required_store(places)?;
            let raised = store.preview_floor(id, epoch)?;
            (store, raised)
        }
        false => {
            let store = open_store(places)?;
            let raised = store.raise_floor(id, epoch)?;
            (store, raised)
        }
    };
    output.say(match args.dry_run {
        true => format!("The floor of {id} would be {epoch}, and would never fall again"),
        false => format!("The floor of {id} is {epoch} now; it never falls"),
    });
    if !raised.known {
        output.say(unknown(id));
    }
    say_below(&raised, args.dry_run, output);
    if store.below().is_some() {
        output.say("Packages of the machine's store load as before: its owner raises the floor there with `guild --machine kernel floor`");
    }
    output.data(format!("{id}\t{epoch}"))?;
    output.object(json!({
        "floors": [{ "id": raised.id, "floor": raised.floor }],
        "raised": {
            "previous": raised.previous,
            "known": raised.known,
            "below": raised.below,
            "enabled_below": raised.enabled_below,
            "generation": raised.generation,
        },
        "dry_run": args.dry_run,
        "store": Whose::of_changed(places),
    }))
}

/// A slip of the finger could shut out every release of a package for ever.
fn check_rise(args: &FloorArgs, id: &PackageId, epoch: u64, places: &Places) -> Outcome<()> {
    let generation = own_store(places)?.map(|store| store.generation());
    let floor = generation
        .transpose()?
        .and_then(|it| it.floors.get(id).copied());
    let floor = floor.unwrap_or(0);
    if args.i_understand || epoch <= floor.saturating_add(EPOCH_RISE_MAX) {
        return Ok(());
    }
    let message = format!(
        "the floor of {id} is {floor}, and {epoch} is more than {EPOCH_RISE_MAX} above it: no release with a lower epoch could be installed any more"
    );
    Err(Failure::new(Exit::Usage, message)
        .hint("a floor never falls again, so check the number; --i-understand takes it"))
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
