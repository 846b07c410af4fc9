//! Where guild keeps its data, and which stores a command works on.

use crate::args::GlobalArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use guild_package::{Store, StoreOptions};
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

/// Opens what a command reads: the user's store above the machine's, or the one that there is. Reading commands don't
/// make one.
pub fn existing_store(places: &Places) -> Outcome<Option<Store>> {
    match (open_existing(&store_path(places)?)?, places.machine) {
        (Some(store), _) => above_the_machine_s(places, store).map(Some),
        (None, true) => Ok(None),
        (None, false) => machine_s_store(places),
    }
}

/// Opens the store that a command would change, if there is one; never another one in its place.
pub fn own_store(places: &Places) -> Outcome<Option<Store>> {
    open_existing(&store_path(places)?)
}

/// Whether what is shown is the machine's, since there is no store of one's own; says so.
pub fn say_whose(places: &Places, output: Output) -> Outcome<bool> {
    let is_machine_s =
        !places.machine && own_store(places)?.is_none() && machine_s_store(places)?.is_some();
    if is_machine_s {
        output.say("This is the machine's package store; there is none of your own.");
    }
    Ok(is_machine_s)
}

/// Opens the package store that a command changes.
pub fn required_store(places: &Places) -> Outcome<Store> {
    let store = open_existing(&store_path(places)?)?.ok_or_else(|| {
        Failure::new(Exit::NotFound, "there is no package store yet")
            .hint("`guild kernel trust add KEY.json --scope PREFIX` makes one; --machine works on the machine's")
    })?;
    above_the_machine_s(places, store)
}

/// The machine's store, where there is one and it isn't left out.
pub fn machine_s_store(places: &Places) -> Outcome<Option<Store>> {
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

fn above_the_machine_s(places: &Places, store: Store) -> Outcome<Store> {
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
