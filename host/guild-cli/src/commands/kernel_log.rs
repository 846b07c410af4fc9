//! `guild kernel log`: lists what changed the store, from its chain of generations.

use crate::args::{LogArgs, SeedArgs};
use crate::commands::{kernel_seed, parsed};
use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, existing_store, required_store};
use guild_package::checkpoint::{Checkpoint, SignedCheckpoint};
use guild_package::store::{LogEntry, Selection, WholeChain};
use guild_package::text::Time;
use guild_package::trust::{KeyStatus, TrustedKey};
use guild_package::{KeyRecord, Store};
use serde_json::{Value, json};
use std::path::Path;

/// Lists the generations, newest first; checks the chain and notes its end where asked to.
pub fn run(args: &LogArgs, places: &Places, output: Output) -> Outcome<()> {
    // What is judged or vouched for has to be there, and has to be the store that was meant.
    let is_judged = args.verify || args.checkpoint.is_some();
    let store = match is_judged {
        true => Some(required_store(places)?),
        false => existing_store(places)?,
    };
    let Some(store) = store else {
        output.say("There is no package store yet. `guild kernel trust add` makes one.");
        return print(&[], &Checked::default(), output);
    };
    let checked = Checked {
        whole: args.verify.then(|| store.verify_chain()).transpose()?,
        against: args
            .against
            .as_deref()
            .map(|path| compare(&store, path))
            .transpose()?,
        written: args
            .checkpoint
            .as_deref()
            .map(|path| note(args, &store, path))
            .transpose()?,
    };
    let entries = store.log(args.count.unwrap_or(usize::MAX))?;
    print(&entries, &checked, output)
}

/// What was found out about the chain as a whole.
#[derive(Default)]
struct Checked {
    whole: Option<WholeChain>,
    /// The checkpoint that the chain was compared with.
    against: Option<SignedCheckpoint>,
    /// The checkpoint that was written.
    written: Option<SignedCheckpoint>,
}

/// The chain went through the checkpoint in the file at `path`, which a key in force signed.
fn compare(store: &Store, path: &Path) -> Outcome<SignedCheckpoint> {
    let trust = store.trust()?;
    let keys = trust.keys().iter();
    let keys: Vec<KeyRecord> = keys
        .filter(|key| key.status == KeyStatus::Active)
        .map(TrustedKey::record)
        .collect();
    let signed = SignedCheckpoint::read(path, &keys)?;
    store.check_checkpoint(signed.checkpoint())?;
    Ok(signed)
}

/// Writes a checkpoint of the chain. Clap sees to it that key and seed are there.
fn note(args: &LogArgs, store: &Store, path: &Path) -> Outcome<SignedCheckpoint> {
    let seed = kernel_seed::open(&SeedArgs {
        key_id: args.key_id.clone().unwrap_or_default(),
        seed_file: args.seed_file.clone().unwrap_or_default(),
        passphrase_file: args.passphrase_file.clone(),
    })?;
    let signed = store
        .checkpoint(parsed("--origin", &args.origin)?)?
        .sign(&seed)?;
    signed.write(path)?;
    Ok(signed)
}

/// Prints one line a generation.
fn print(entries: &[LogEntry], checked: &Checked, output: Output) -> Outcome<()> {
    for entry in entries {
        output.data(line(entry))?;
    }
    if let Some(WholeChain {
        generations,
        trust_files,
    }) = checked.whole
    {
        output.say(format!(
            "The chain is whole: {generations} generations, {trust_files} trust files"
        ));
    }
    if let Some(signed) = &checked.against {
        let Checkpoint { origin, size, .. } = signed.checkpoint();
        output.say(format!(
            "It has grown from the {size} generations of {origin}"
        ));
    }
    if let Some(signed) = &checked.written {
        let size = signed.checkpoint().size;
        output.say(format!("Wrote a checkpoint of {size} generations"));
    }
    let checkpoint = |signed: &Option<SignedCheckpoint>| {
        signed.as_ref().map(|signed| {
            json!({
                "checkpoint": signed.checkpoint(),
                "signers": signed.signers().collect::<Vec<_>>(),
            })
        })
    };
    let rows: Vec<Value> = entries.iter().map(row).collect();
    output.object(json!({
        "generations": rows,
        "verified": checked.whole,
        "against": checkpoint(&checked.against),
        "written": checkpoint(&checked.written),
    }))
}

fn line(entry: &LogEntry) -> String {
    let installed = entry.installed.iter().map(|pin| format!("+{pin}"));
    let removed = entry.removed.iter().map(|pin| format!("-{pin}"));
    let floors = entry.floors.iter();
    let floors = floors.map(|(id, floor)| format!("{id}: floor {floor}"));
    let held = entry.held.iter();
    let held = held.map(|(id, held)| format!("{id}: held {held}"));
    let facts: Vec<String> = installed
        .chain(removed)
        .chain(entry.selected.iter().map(selection))
        .chain(floors)
        .chain(held)
        .chain(entry.trust.iter().map(|n| format!("trust {n}")))
        .collect();
    let time = Time(entry.time_seen);
    format!("{}\t{time}\t{}\t{}", entry.n, entry.op, facts.join(" "))
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
    json!({
        "generation": entry.n,
        "sha256": entry.sha256,
        "command": entry.op,
        "time_seen": entry.time_seen,
        "installed": entry.installed,
        "removed": entry.removed,
        "selected": entry.selected,
        "floors": entry.floors.iter().map(|(id, floor)| json!({ "id": id, "floor": floor })).collect::<Vec<_>>(),
        "held": entry.held.iter().map(|(id, held)| json!({ "id": id, "version": held })).collect::<Vec<_>>(),
        "trust": entry.trust,
    })
}
