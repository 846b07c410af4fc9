//! `guild kernel log`: lists what changed the store, from its chain of generations.

use crate::args::{LogArgs, SeedArgs};
use crate::commands::{kernel_cosign, kernel_seed, parsed};
use crate::failure::Outcome;
use crate::output::{Output, count};
use crate::places::{Found, Places, Whose, read_store, required_to_read};
use guild_package::checkpoint::{Checkpoint, SignedCheckpoint};
use guild_package::store::generation::Active;
use guild_package::store::{ActiveChange, LogEntry, Selection, WholeChain};
use guild_package::text::Time;
use guild_package::trust::{KeyStatus, NamedKey, TrustChange, TrustedKey};
use guild_package::{Error, KeyRecord, Store};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Lists the generations, newest first; checks the chain and notes its end where asked to.
pub fn run(args: &LogArgs, places: &Places, output: Output) -> Outcome<()> {
    // What is judged or vouched for has to be there.
    let is_judged = args.verify || args.against.is_some() || args.checkpoint.is_some();
    let found = match is_judged {
        true => Some(required_to_read(places, output)?),
        false => read_store(places, output)?,
    };
    let Some(Found { store, whose }) = found else {
        output.say("There is no package store yet. `guild kernel trust add` makes one.");
        return print(&[], &Checked::default(), output);
    };
    let is_walked = args.verify || args.against.is_some();
    let checked = Checked {
        whose: Some(whose),
        whole: is_walked.then(|| store.verify_chain()).transpose()?,
        against: args
            .against
            .as_deref()
            .map(|path| compare(&store, path, args.public.as_deref()))
            .transpose()?,
        written: args
            .checkpoint
            .as_deref()
            .map(|path| note(args, &store, path).map(|signed| (signed, path.to_owned())))
            .transpose()?,
    };
    let entries = match checked.written {
        // Whoever asks for a note wants the note.
        Some(_) => Vec::new(),
        None => store.log(args.count.unwrap_or(usize::MAX))?,
    };
    print(&entries, &checked, output)
}

/// What was found out about the chain as a whole.
#[derive(Default)]
struct Checked {
    /// Whose chain it is.
    whose: Option<Whose>,
    whole: Option<WholeChain>,
    /// The checkpoint that the chain was compared with, and how many generations came after it.
    against: Option<(SignedCheckpoint, u64)>,
    /// The checkpoint that was written, and where to.
    written: Option<(SignedCheckpoint, PathBuf)>,
}

/// The chain went through the checkpoint in the file at `path`, which a key in force signed, or that of the record
/// `public`; and how many generations came after it.
fn compare(store: &Store, path: &Path, public: Option<&Path>) -> Outcome<(SignedCheckpoint, u64)> {
    let trust = store.trust()?;
    let keys = trust.keys().iter();
    let mut keys: Vec<KeyRecord> = keys
        .filter(|key| key.status == KeyStatus::Active)
        .map(TrustedKey::record)
        .collect();
    if let Some(public) = public {
        keys = vec![KeyRecord::read(public)?];
    }
    let signed = SignedCheckpoint::read(path, &keys).map_err(|error| match &error {
        // Whoever compares a note need not trust its signer with packages.
        Error::KeyUntrusted { keys } => kernel_cosign::unknown(path, keys),
        _ => error.into(),
    })?;
    let grown_by = store.check_checkpoint(signed.checkpoint())?;
    Ok((signed, grown_by))
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
            "The chain is whole: {}, {}",
            count(generations, "generation"),
            count(trust_files, "trust file")
        ));
    }
    if let Some((signed, grown_by)) = &checked.against {
        let Checkpoint { origin, size, .. } = signed.checkpoint();
        output.say(match grown_by {
            0 => format!("It is the same as the {size} generations of {origin}"),
            more => format!("It has grown from the {size} generations of {origin} by {more}"),
        });
    }
    if let Some((signed, path)) = &checked.written {
        let Checkpoint { size, root, .. } = signed.checkpoint();
        let path = path.display();
        output.say(format!(
            "Wrote a checkpoint of {size} generations to {path}"
        ));
        output.data(root.to_string())?;
    }
    let checkpoint = |signed: &SignedCheckpoint| {
        json!({
            "checkpoint": signed.checkpoint(),
            "signers": signed.signers().collect::<Vec<_>>(),
        })
    };
    let against = checked.against.as_ref().map(|(signed, grown_by)| {
        let mut against = checkpoint(signed);
        against["grown_by"] = json!(grown_by);
        against
    });
    let written = checked.written.as_ref();
    let written = written.map(|(signed, _)| checkpoint(signed));
    let rows: Vec<Value> = entries.iter().map(row).collect();
    output.object(json!({
        "generations": rows,
        "verified": checked.whole,
        "against": against,
        "written": written,
        "store": checked.whose,
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
        .chain(served(&entry.active))
        .chain(entry.trust.iter().map(|n| format!("trust {n}")))
        .chain(entry.trust_changes.iter().map(TrustChange::to_string))
        .collect();
    let time = Time(entry.time_seen);
    format!("{}\t{time}\t{}\t{}", entry.n, entry.op, facts.join("; "))
}

/// Who serves how many names now and did before: an install changes many at once.
fn served(changes: &[ActiveChange]) -> impl Iterator<Item = String> {
    let who = |active: &Option<Active>| match active {
        Some(active) => format!("{} {}", active.id, active.version),
        None => "nobody".to_owned(),
    };
    let mut counts: BTreeMap<(String, String), Vec<&ActiveChange>> = BTreeMap::new();
    for change in changes {
        let from_to = (who(&change.before), who(&change.after));
        counts.entry(from_to).or_default().push(change);
    }
    let counts = counts.into_iter();
    counts.map(|((before, after), changes)| match changes.as_slice() {
        [change] => format!("{}: {before} to {after}", change.name),
        changes => format!("{} names: {before} to {after}", changes.len()),
    })
}

/// What a change of trust changed, with the fields that it has.
fn trust_change(change: &TrustChange) -> Value {
    let key = |key: &NamedKey| json!({ "id": key.id, "label": key.label });
    match change {
        TrustChange::KeyAdded { key: added, scopes } => {
            json!({ "change": "key_added", "key": key(added), "scopes": scopes })
        }
        TrustChange::ScopesAdded { key: of, scopes } => {
            json!({ "change": "scopes_added", "key": key(of), "scopes": scopes })
        }
        TrustChange::TimeSet { key: of, until_s } => {
            json!({ "change": "time_set", "key": key(of), "not_after": until_s })
        }
        TrustChange::KeyWithdrawn {
            key: of,
            status,
            since_gen,
            reason,
        } => json!({
            "change": "key_withdrawn",
            "key": key(of),
            "status": status,
            "since_gen": since_gen,
            "reason": reason,
        }),
        TrustChange::KeyFollowed {
            key: of,
            by,
            status,
        } => {
            json!({ "change": "key_followed", "key": key(of), "by": key(by), "status": status })
        }
        TrustChange::PolicySet(policy) => json!({ "change": "policy_set", "policy": policy }),
    }
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
        "active": entry.active,
        "trust": entry.trust,
        "trust_changes": entry.trust_changes.iter().map(trust_change).collect::<Vec<_>>(),
    })
}
