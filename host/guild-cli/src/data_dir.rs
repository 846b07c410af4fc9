//! Where guild keeps its data.

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use guild_package::{Store, StoreOptions};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The package store's folder inside the data folder.
const STORE: &str = "kernels";

/// Opens the package store, and makes it where there is none.
pub fn open_store(data_dir: Option<&Path>) -> Outcome<Store> {
    Ok(Store::open(
        &store_path(data_dir)?,
        StoreOptions::default(),
    )?)
}

/// Opens the package store if there is one; reading commands don't make it.
pub fn existing_store(data_dir: Option<&Path>) -> Outcome<Option<Store>> {
    let path = store_path(data_dir)?;
    match path.symlink_metadata() {
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        // A store that can't be looked at may hold packages: going on without them would be silent.
        Err(error) => return Err(Failure::io(&path, &error)),
    }
    let options = StoreOptions {
        create: false,
        ..StoreOptions::default()
    };
    Ok(Some(Store::open(&path, options)?))
}

/// Opens the package store that a command works on.
pub fn required_store(data_dir: Option<&Path>) -> Outcome<Store> {
    existing_store(data_dir)?.ok_or_else(|| {
        Failure::new(Exit::NotFound, "there is no package store yet")
            .hint("`guild kernel install` makes one")
    })
}

/// The store's path: below the folder given, else `XDG_DATA_HOME/guild`, else
/// `~/.local/share/guild`.
pub fn store_path(data_dir: Option<&Path>) -> Outcome<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value: &OsString| !value.is_empty());
    let folder = match (data_dir, variable("XDG_DATA_HOME"), variable("HOME")) {
        (Some(folder), _, _) => folder.to_owned(),
        (None, Some(data_home), _) => PathBuf::from(data_home).join("guild"),
        (None, None, Some(home)) => PathBuf::from(home).join(".local/share/guild"),
        (None, None, None) => {
            return Err(Failure::new(Exit::Usage, "no home folder is set")
                .hint("give a folder with --data-dir or GUILD_DATA_DIR"));
        }
    };
    Ok(folder.join(STORE))
}
