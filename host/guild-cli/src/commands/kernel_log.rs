//! `guild kernel log`: lists what changed the store, from its chain of generations.

use crate::args::LogArgs;
use crate::data_dir::existing_store;
use crate::failure::Outcome;
use crate::output::Output;
use guild_package::store::{LogEntry, Selection, WholeChain};
use guild_package::text::Time;
use serde_json::{Value, json};
use std::path::Path;

/// Lists the generations, newest first, and checks the chain where asked to.
pub fn run(args: &LogArgs, data_dir: Option<&Path>, output: Output) -> Outcome<()> {
    let Some(store) = existing_store(data_dir)? else {
        output.say("There is no package store yet. `guild kernel install` makes one.");
        return print(&[], None, output);
    };
    let whole = args.verify.then(|| store.verify_chain()).transpose()?;
    print(
        &store.log(args.count.unwrap_or(usize::MAX))?,
        whole.as_ref(),
        output,
    )
}

/// Prints one line a generation.
fn print(entries: &[LogEntry], whole: Option<&WholeChain>, output: Output) -> Outcome<()> {
    for entry in entries {
        let mut facts: Vec<String> = entry
            .installed
            .iter()
            .map(|pin| format!("+{pin}"))
            .collect();
        facts.extend(entry.removed.iter().map(|pin| format!("-{pin}")));
        facts.extend(entry.selected.iter().map(selection));
        facts.extend(
            entry
                .floors
                .iter()
                .map(|(id, floor)| format!("{id}: floor {floor}")),
        );
        facts.extend(
            entry
                .held
                .iter()
                .map(|(id, held)| format!("{id}: held {held}")),
        );
        facts.extend(entry.trust.iter().map(|n| format!("trust {n}")));
        let time = Time(entry.time_seen);
        output.data(format!(
            "{}\t{time}\t{}\t{}",
            entry.n,
            entry.op,
            facts.join(" ")
        ))?;
    }
    if let Some(WholeChain {
        generations,
        trust_files,
    }) = whole
    {
        output.say(format!(
            "The chain is whole: {generations} generations, {trust_files} trust files"
        ));
    }
    let rows: Vec<Value> = entries.iter().map(row).collect();
    let whole = whole
        .map(|whole| json!({ "generations": whole.generations, "trust_files": whole.trust_files }));
    output.object(json!({ "generations": rows, "verified": whole }))
}

fn selection(selection: &Selection) -> String {
    let version = |version: &Option<guild_package::PackageVersion>| match version {
        Some(version) => version.to_string(),
        None => "none".to_owned(),
    };
    let Selection { id, before, after } = selection;
    format!("{id}: {} to {}", version(before), version(after))
}

fn row(entry: &LogEntry) -> Value {
    let selected = entry.selected.iter().map(
        |Selection { id, before, after }| json!({ "id": id, "before": before, "after": after }),
    );
    json!({
        "generation": entry.n,
        "sha256": entry.sha256,
        "command": entry.op,
        "time_seen": entry.time_seen,
        "installed": entry.installed,
        "removed": entry.removed,
        "selected": selected.collect::<Vec<_>>(),
        "floors": entry.floors.iter().map(|(id, floor)| json!({ "id": id, "floor": floor })).collect::<Vec<_>>(),
        "held": entry.held.iter().map(|(id, held)| json!({ "id": id, "version": held })).collect::<Vec<_>>(),
        "trust": entry.trust,
    })
}
