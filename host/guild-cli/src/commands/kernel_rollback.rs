//! `guild kernel rollback`: goes back to the version that was enabled before.

use crate::args::RollbackArgs;
use crate::commands::kernel_selection::say;
use crate::commands::parsed;
use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, Whose, required_store, required_to_read};
use crate::wiring::probe::probe;
use guild_package::store::{Candidate, RollbackOptions};
use serde_json::{Value, json};

/// Goes back, or lists where to.
pub fn run(args: &RollbackArgs, places: &Places, output: Output) -> Outcome<()> {
    let id = args.id.as_deref().map(|id| parsed("ID", id)).transpose()?;
    if args.list {
        let found = required_to_read(places, output)?;
        return list(&found.store.candidates(id.as_ref())?, found.whose, output);
    }
    let store = required_store(places)?;
    let options = RollbackOptions {
        to_generation: args.to,
        pin: args.pin,
    };
    let selected = store.rollback(id.as_ref(), options, &probe(args.probe))?;
    say(&selected, Value::Null, output)
}

/// Prints one line a version: `*` marks the enabled one, `-` one that was enabled before, `!` one that can't be.
fn list(candidates: &[Candidate], whose: Whose, output: Output) -> Outcome<()> {
    for candidate in candidates {
        output.data(line(candidate))?;
    }
    output.say(match candidates {
        [] => "No package is installed. `guild kernel install` installs one.",
        _ => "`*` is enabled, `-` was enabled before, `!` can't be enabled now.",
    });
    let rows: Vec<Value> = candidates.iter().map(row).collect();
    output.object(json!({ "versions": rows, "store": whose }))
}

fn line(candidate: &Candidate) -> String {
    let mark = match (candidate.enabled, candidate.was_enabled) {
        (true, _) => '*',
        (false, true) => '-',
        (false, false) => ' ',
    };
    let (fault, detail) = match &candidate.refusal {
        None => (' ', String::new()),
        Some(error) => (
            '!',
            format!("\t{}\t{}", error.code().name(), error.in_full()),
        ),
    };
    let held = if candidate.held_back {
        "\theld back"
    } else {
        ""
    };
    format!(
        "{mark}{fault} {} {}{detail}{held}",
        candidate.id, candidate.version
    )
}

fn row(candidate: &Candidate) -> Value {
    let refusal = candidate.refusal.as_ref();
    json!({
        "id": candidate.id,
        "version": candidate.version,
        "enabled": candidate.enabled,
        "was_enabled": candidate.was_enabled,
        "held_back": candidate.held_back,
        "code": refusal.map(|error| error.code().name()),
        "message": refusal.map(ToString::to_string),
        "hint": refusal.map(guild_package::Error::next_step),
    })
}
