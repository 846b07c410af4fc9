//! Where guild keeps its data, and which stores a command works on.

use crate::args::GlobalArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use guild_package::{Store, StoreOptions};
use serde::Serialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The package store's folder inside a data folder.
const STORE: &str = "kernels";
/// The audit log's folder beside it: a refusal leaves the store byte for byte as it was.
const AUDIT: &str = "audit";

/// The folders that the command line, variables and files name.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The user's data folder; absent, the usual one.
    pub data_dir: Option<PathBuf>,
    /// The machine's data folder; absent where its store is left out.
    pub machine_data_dir: Option<PathBuf>,
    /// Commands work on the machine's store, not on the user's.
    pub machine: bool,
}

impl Places {
    /// The folders of a command.
    #[must_use]
    pub fn of(args: &GlobalArgs) -> Places {
        let folder = Some(args.machine_data_dir.clone());
        Places {
            data_dir: args.data_dir.clone(),
            machine_data_dir: folder.filter(|_| args.machine || !args.no_machine_store),
            machine: args.machine,
        }
    }

    /// The user's data folder alone.
    #[must_use]
    pub fn user(data_dir: &Path) -> Places {
        Places {
            data_dir: Some(data_dir.to_owned()),
            ..Places::default()
        }
    }

    fn machine_path(&self) -> Option<PathBuf> {
        Some(self.machine_data_dir.as_deref()?.join(STORE))
    }
}

/// Opens the package store that a command changes, and makes it where there is none.
pub fn open_store(places: &Places) -> Outcome<Store> {
    let options = StoreOptions {
        shared: places.machine,
        ..StoreOptions::default()
    };
    let store = Store::open(&store_path(places)?, options)?;
    above_the_machine_s(places, store)
}

/// Whose store a command reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Whose {
    /// The user's, above the machine's where there is one.
    #[serde(rename = "own")]
    Own,
    /// The machine's, which --machine asks for.
    #[serde(rename = "machine")]
    Machine,
    /// The machine's, since there is none of one's own and nobody asked for it.
    #[serde(rename = "machine")]
    OnlyTheMachine,
}

/// What a command reads, and whose it is.
pub struct Found {
    /// The user's store above the machine's, or the one that there is.
    pub store: Store,
    /// Whose it is.
    pub whose: Whose,
}

impl Whose {
    /// Of the store that a command changes.
    #[must_use]
    pub const fn of_changed(places: &Places) -> Whose {
        match places.machine {
            true => Whose::Machine,
            false => Whose::Own,
        }
    }

    /// What a command that changes it begins with.
    #[must_use]
    pub const fn command(self) -> &'static str {
        match self {
            Whose::Own => "guild kernel",
            Whose::Machine | Whose::OnlyTheMachine => "guild --machine kernel",
        }
    }

    /// A next step whose commands go on with that store.
    #[must_use]
    pub fn addressed(self, step: &str) -> String {
        step.replace("`guild kernel", &format!("`{}", self.command()))
    }
}

/// Opens what a command reads, and says whose it is where that isn't the store that the same words would change. Every
/// command that only reads comes here; none makes a store.
pub fn read_store(places: &Places, output: Output) -> Outcome<Option<Found>> {
    let found = found_store(places)?;
    let whose = found.as_ref().map(|found| found.whose);
    if whose == Some(Whose::OnlyTheMachine) {
        output.say("This is the machine's package store; there is none of your own.");
    }
    Ok(found)
}

/// As [`read_store`].
///
/// # Errors
/// NOT_FOUND where there is none.
pub fn required_to_read(places: &Places, output: Output) -> Outcome<Found> {
    read_store(places, output)?.ok_or_else(no_store)
}

/// As [`read_store`], for a command that says in its own words whose it is, or to which it is the same.
pub fn found_store(places: &Places) -> Outcome<Option<Found>> {
    let found = |store, whose| Found { store, whose };
    match (own_store(places)?, places.machine) {
        (Some(store), _) => {
            let store = above_the_machine_s(places, store)?;
            Ok(Some(found(store, Whose::of_changed(places))))
        }
        (None, true) => Ok(None),
        (None, false) => {
            let store = machine_s_store(places)?;
            Ok(store.map(|store| found(store, Whose::OnlyTheMachine)))
        }
    }
}

/// The store alone of [`found_store`].
pub fn existing_store(places: &Places) -> Outcome<Option<Store>> {
    Ok(found_store(places)?.map(|found| found.store))
}

/// Opens the store that a command would change, if there is one; never another one in its place, and none below it.
pub fn own_store(places: &Places) -> Outcome<Option<Store>> {
    open_existing(&store_path(places)?)
}

/// Opens the package store that a command changes.
///
/// # Errors
/// NOT_FOUND where there is none.
pub fn required_store(places: &Places) -> Outcome<Store> {
    let store = own_store(places)?.ok_or_else(no_store)?;
    above_the_machine_s(places, store)
}

/// There is no store, and the command makes none.
pub fn no_store() -> Failure {
    Failure::new(Exit::NotFound, "there is no package store yet")
        .hint("`guild kernel trust add KEY.json --scope PREFIX` makes one; --machine works on the machine's")
}

/// The machine's store, where there is one and it isn't left out.
fn machine_s_store(places: &Places) -> Outcome<Option<Store>> {
    let opened = places
        .machine_path()
        .map_or(Ok(None), |path| open_existing(&path));
    opened.map_err(|failure| {
        let hint = format!(
            "--no-machine-store goes on without the machine's packages; its owner's next step: {}",
            failure.hint
        );
        failure.hint(hint)
    })
}

/// The user's store above the machine's, where there is one.
pub fn above_the_machine_s(places: &Places, store: Store) -> Outcome<Store> {
    if places.machine {
        return Ok(store);
    }
    Ok(match machine_s_store(places)? {
        Some(below) => store.above(below),
        None => store,
    })
}

fn open_existing(path: &Path) -> Outcome<Option<Store>> {
    match path.symlink_metadata() {
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        // A store that can't be looked at may hold packages: going on without them would be silent.
        Err(error) => return Err(Failure::io(path, &error)),
    }
    let options = StoreOptions {
        create: false,
        ..StoreOptions::default()
    };
    Ok(Some(Store::open(path, options)?))
}

/// The path of the store that a command reads: the machine's also where there is none of one's own.
pub fn found_path(places: &Places, whose: Whose) -> Outcome<PathBuf> {
    match (whose, places.machine_path()) {
        (Whose::OnlyTheMachine, Some(path)) => Ok(path),
        _ => store_path(places),
    }
}

/// The path of the store that a command works on: the machine's with `--machine`; else below the folder given, else
/// `XDG_DATA_HOME/guild`, else `~/.local/share/guild`.
pub fn store_path(places: &Places) -> Outcome<PathBuf> {
    Ok(data_folder(places)?.join(STORE))
}

/// The folder of the audit log that commands on that store write to.
pub fn audit_path(places: &Places) -> Outcome<PathBuf> {
    Ok(data_folder(places)?.join(AUDIT))
}

fn data_folder(places: &Places) -> Outcome<PathBuf> {
    if let (true, Some(folder)) = (places.machine, &places.machine_data_dir) {
        return Ok(folder.clone());
    }
    let variable = |name| std::env::var_os(name).filter(|value: &OsString| !value.is_empty());
    let folder = match (
        &places.data_dir,
        variable("XDG_DATA_HOME"),
        variable("HOME"),
    ) {
        (Some(folder), _, _) => folder.clone(),
        (None, Some(data_home), _) => PathBuf::from(data_home).join("guild"),
        (None, None, Some(home)) => PathBuf::from(home).join(".local/share/guild"),
        (None, None, None) => {
            return Err(Failure::new(Exit::Usage, "no home folder is set")
                .hint("give a folder with --data-dir or GUILD_DATA_DIR"));
        }
    };
    Ok(folder)
}
