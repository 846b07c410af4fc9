//! The package store: where it is, whose it is, what is in it, and whether that loads.

use super::{Check, Patient, Status, command, devices, trust};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::count;
use crate::places::{Places, Whose, found_path, found_store};
use crate::system::SystemFiles;
use crate::system::mounts;
use crate::wiring::builtins;
use guild_loader::{LoadedPackages, RegisteredOperation, load_builtins, load_enabled};
use guild_package::store::LeaseNote;
use guild_package::{Code, Error, ListedPackage, Store};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The folder that changes are prepared in.
const STAGING: &str = "staging";
/// The check of its folder.
const STORE: &str = "store";
/// The check of what is installed.
const PACKAGES: &str = "packages";
/// The check of a user's chain, or of the one that was asked for.
const CHAIN: &str = "chain";
/// The check of the machine's chain beside it.
const MACHINE_CHAIN: &str = "machine chain";

/// Store, state, packages, trusted keys, loading and devices.
pub fn checks(patient: &Patient<'_>) -> Vec<Check> {
    let (place, store) = match place(patient.places) {
        Ok(found) => found,
        Err(failure) => return vec![broken(STORE, &failure)],
    };
    let mut checks = vec![folder(patient, &place)];
    if let Some(store) = &store {
        checks.push(state(store, &place));
        checks.push(packages(store, place.whose));
        checks.push(trust::check(store, place.whose));
    }
    let options = builtins::every_builtin();
    let loaded = match &store {
        Some(store) => load_enabled(store, "guild doctor", &options),
        None => load_builtins(&options),
    };
    match loaded {
        Ok(loaded) => {
            checks.push(loading(&loaded));
            checks.push(devices::check());
        }
        Err(error) => {
            let check = broken("loading", &error.into());
            // What keeps packages from loading was named, with what mends it.
            let named = |it: &&Check| it.name == PACKAGES && it.status == Status::Failed;
            let fix = checks.iter().find(named).map(|named| named.fix.clone());
            checks.push(match fix {
                Some(fix) => Check { fix, ..check },
                None => check,
            });
        }
    }
    checks
}

/// Where a store is, and whose.
struct Place {
    path: PathBuf,
    whose: Whose,
}

/// The store that runs would use, and where it is or would be.
fn place(places: &Places) -> Outcome<(Place, Option<Store>)> {
    let found = found_store(places)?;
    let whose = found.as_ref().map(|found| found.whose);
    let whose = whose.unwrap_or(Whose::of_changed(places));
    let path = found_path(places, whose)?;
    Ok((Place { path, whose }, found.map(|found| found.store)))
}

/// The chains of the user's store and of the machine's, walked to their beginning.
pub fn chains(patient: &Patient<'_>) -> Vec<Check> {
    let found = match found_store(patient.places) {
        Ok(Some(found)) => found,
        Ok(None) => return Vec::new(),
        Err(failure) => return vec![broken(CHAIN, &failure)],
    };
    let name = match found.whose {
        Whose::Own | Whose::Machine => CHAIN,
        Whose::OnlyTheMachine => MACHINE_CHAIN,
    };
    let below = found.store.below();
    let below = below.map(|store| chain(MACHINE_CHAIN, store));
    [chain(name, &found.store)]
        .into_iter()
        .chain(below)
        .collect()
}

fn chain(name: &'static str, store: &Store) -> Check {
    match store.verify_chain() {
        Ok(whole) => {
            let finding = format!(
                "whole: {}, {}",
                count(whole.generations, "generation"),
                count(whole.trust_files, "trust file")
            );
            Check::ok(name, finding, json!(whole))
        }
        Err(error) => broken(name, &error.into()),
    }
}

/// A check whose matter can't be looked at: runs end the same way.
fn broken(name: &'static str, failure: &Failure) -> Check {
    let fix = match failure.hint.as_str() {
        "" => "guild kernel fsck".to_owned(),
        hint => hint.to_owned(),
    };
    Check::ok(name, failure.message.clone(), Value::Null).fail(
        failure.exit,
        "commands that run a model or change the store end with this code",
        fix,
    )
}

/// The folder's place, file system, owner and permissions.
fn folder(patient: &Patient<'_>, Place { path, whose }: &Place) -> Check {
    let files: &SystemFiles = &patient.files;
    if !path.exists() {
        let details = json!({ "path": path, "exists": false });
        let finding = format!("none at {}: built-in packages only", path.display());
        return Check::ok(STORE, finding, details);
    }
    let real = path.canonicalize().unwrap_or_else(|_| path.clone());
    let kind = mounts::file_system(files, &real);
    let metadata = std::fs::metadata(path).ok();
    let mode = metadata
        .as_ref()
        .map(|m| format!("{:04o}", m.mode() & 0o7777));
    let details = json!({
        "path": path,
        "exists": true,
        "store": whose,
        "file_system": kind,
        "owner": metadata.as_ref().map(MetadataExt::uid),
        "mode": mode,
    });
    let kind = kind.unwrap_or_else(|| "unknown".to_owned());
    let none_of_one_s_own = match whose {
        Whose::Own | Whose::Machine => "",
        Whose::OnlyTheMachine => "; the machine's, there is none of your own",
    };
    let finding = format!(
        "{} on {kind}, mode {}{none_of_one_s_own}",
        path.display(),
        mode.unwrap_or_default()
    );
    let check = Check::ok(STORE, finding, details);
    if mounts::is_remote(&kind) {
        return check.warn(
            "locks over a network may not hold between machines: change the store from one only",
            "guild --data-dir LOCAL_DIR kernel list",
        );
    }
    let own = rustix::process::geteuid().as_raw();
    match metadata {
        // The machine's is root's, and that is as it should be.
        Some(metadata) if metadata.uid() != own && *whose == Whose::Own => check.warn(
            format!("it belongs to user {}, not to {own}", metadata.uid()),
            format!("sudo chown -R {own} {}", path.display()),
        ),
        _ => check,
    }
}

/// The generation in force, sessions that use packages, and what an interrupted change left.
fn state(store: &Store, Place { path, whose }: &Place) -> Check {
    let generation = match store.generation() {
        Ok(generation) => generation.n,
        Err(error) => return broken("store state", &error.into()),
    };
    let sessions: Vec<Value> = match store.sessions() {
        Ok(notes) => notes.iter().map(session).collect(),
        Err(error) => return broken("store state", &error.into()),
    };
    let alive = sessions.iter().filter(|session| session["alive"] == true);
    // One session has a lease on each of its packages.
    let alive: BTreeSet<Option<u64>> = alive.map(|session| session["pid"].as_u64()).collect();
    let alive = alive.len();
    let left_over = left_over(path);
    let details = json!({
        "generation": generation,
        "leases": sessions,
        "interrupted_change": left_over,
    });
    let finding = format!("generation {generation}; {}", count(alive, "session"));
    let check = Check::ok("store state", finding, details);
    match left_over {
        false => check,
        true => check.warn(
            "a change was interrupted or is going on; the committed state holds, and the next change clears the rest",
            format!("{} gc", command(*whose)),
        ),
    }
}

/// A session, and whether its process is there.
fn session(note: &LeaseNote) -> Value {
    json!({
        "pid": note.pid,
        "session": note.session,
        "since": note.start,
        "alive": Path::new("/proc").join(note.pid.to_string()).exists(),
    })
}

/// Whether a change has left something beside the committed state.
fn left_over(path: &Path) -> bool {
    let staging = std::fs::read_dir(path.join(STAGING));
    path.join("HEAD.tmp").exists() || staging.is_ok_and(|mut entries| entries.next().is_some())
}

/// Whether every installed package still verifies, and is what could be enabled today.
fn packages(store: &Store, whose: Whose) -> Check {
    let listed = match store.list() {
        Ok(listed) => listed,
        Err(error) => return broken(PACKAGES, &error.into()),
    };
    let installed = format!("{} installed", count(listed.len(), "package"));
    let held = listed.iter().filter(|row| row.held_back).count();
    let finding = match held {
        0 => installed.clone(),
        held => format!("{installed}, {held} held back"),
    };
    let rows: Vec<Value> = listed.iter().map(row).collect();
    let check = Check::ok(PACKAGES, finding, json!({ "packages": rows }));
    let mut bad: Vec<(&ListedPackage, &Error)> = listed
        .iter()
        .filter_map(|row| Some((row, row.package.as_ref().err()?)))
        .collect();
    // One that is enabled keeps every run from starting, so it comes first.
    bad.sort_by_key(|(row, _)| !row.enabled);
    let Some((row, error)) = bad.first() else {
        return below_floor(check, &listed, whose);
    };
    let (message, fix) = (
        format!("{} {}: {error}", row.id, row.version),
        mend(row, error, whose),
    );
    match row.enabled {
        true => Check {
            finding: message,
            ..check.fail(
                Exit::from_number(error.code().exit_code()),
                format!(
                    "it is enabled, so commands that run a model end with this code; {installed}"
                ),
                fix,
            )
        },
        false => check.warn(message, fix),
    }
}

/// Names what loads, and couldn't be enabled again.
fn below_floor(check: Check, listed: &[ListedPackage], whose: Whose) -> Check {
    let mut enabled = listed.iter().filter(|row| row.enabled);
    let Some(row) = enabled.find(|row| row.is_below_floor()) else {
        return check;
    };
    let (id, version, floor) = (&row.id, &row.version, row.floor);
    check.warn(
        format!("{id} {version} is enabled below its floor, {floor}: it loads, and can't be enabled again"),
        format!("{} install BUNDLE --id {id}", command(whose_of(row, whose))),
    )
}

/// Whose store a version of the list is in.
const fn whose_of(row: &ListedPackage, listed: Whose) -> Whose {
    match row.below {
        true => Whose::Machine,
        false => listed,
    }
}

/// The command that mends a package, or takes it out of the way where nothing mends it.
fn mend(row: &ListedPackage, error: &Error, whose: Whose) -> String {
    let guild = command(whose_of(row, whose));
    let id = &row.id;
    match (error.code(), row.enabled) {
        // Its files: a bundle has them all.
        (Code::StoreCorrupt | Code::DigestMismatch | Code::BundleMalformed, _) => {
            format!("{guild} install BUNDLE --id {id}")
        }
        (_, true) => format!("{guild} disable {id}"),
        (_, false) => format!("{guild} remove {id}@{}", row.version),
    }
}

fn row(listed: &ListedPackage) -> Value {
    let error = listed.package.as_ref().err();
    json!({
        "id": listed.id,
        "version": listed.version,
        "enabled": listed.enabled,
        "held_back": listed.held_back,
        "below_floor": listed.is_below_floor(),
        "verifies": error.is_none(),
        "code": error.map(|error| error.code().name()),
        "message": error.map(ToString::to_string),
    })
}

/// That every package loads, and which instruction set the CPU kernels choose on this machine.
fn loading(loaded: &LoadedPackages) -> Check {
    let registry = loaded.registry();
    let packages: Vec<Value> = registry
        .packages()
        .map(|package| {
            let identity = &package.identity;
            let of_package =
                |operation: &&RegisteredOperation| operation.package.as_ref() == identity.as_ref();
            json!({
                "package": identity.label(),
                "operations": registry.all_operations().filter(of_package).count(),
            })
        })
        .collect();
    let left_out: Vec<_> = loaded.left_out().iter().map(|left| &left.id).collect();
    let chosen = builtins::instruction_set();
    let finding = format!(
        "{} load; CPU kernels choose {}",
        count(packages.len(), "package"),
        chosen.unwrap_or("nothing: none is built in"),
    );
    let details = json!({
        "packages": packages,
        "left_out": left_out,
        "instruction_set": chosen,
    });
    let check = Check::ok("loading", finding, details);
    match registry.all_operations().next() {
        Some(_) => check,
        None => check.warn(
            "no operation has a provider: no model can run",
            "guild kernel install BUNDLE",
        ),
    }
}
