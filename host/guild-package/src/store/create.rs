//! Making a new store: fixed directories, the empty trust file, generation 0, and `HEAD` last. Until `HEAD`
//! stands there is no store, and making it starts again from what is there.

use std::fs::{DirBuilder, File, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use crate::error::{Error, Result};
use crate::store::generation::{Generation, TrustReference};
use crate::store::path::{DIRECTORIES, StorePath};
use crate::store::recovery::remove_if_there;
use crate::store::state::{Head, Root};
use crate::store::transaction::write_new;
use crate::trust::TrustStore;

/// The whole of `FORMAT`.
pub(super) const FORMAT: &str = "guild-store 1\n";

/// Directories that have names in them from the beginning. The others are empty, and their own names are in these or in
/// the root.
const FILLED: [&str; 4] = ["gen", "trust", "objects", "meta"];

/// Makes the folder of a store and those above it, with durable names: a store that is lost as a whole is lost too.
/// A folder that is there keeps its mode.
///
/// # Errors
/// [`Error::Io`].
pub(crate) fn make_root(path: &Path, shared: bool) -> Result<()> {
    let mode = if shared { 0o755 } else { 0o700 };
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    for folder in missing.into_iter().rev() {
        match DirBuilder::new().mode(mode).create(folder) {
            // Another process makes the same store.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            other => other.map_err(Error::io("create", folder))?,
        }
        // The process may mask some of the bits.
        let permissions = Permissions::from_mode(mode);
        std::fs::set_permissions(folder, permissions)
            .map_err(Error::io("set the mode of", folder))?;
    }
    let path = std::path::absolute(path).map_err(Error::io("find", path))?;
    let device = |folder: &Path| folder.metadata().map(|metadata| metadata.dev());
    let own = device(&path).map_err(Error::io("read", &path))?;
    // Which of them are new isn't asked: a killed command may have made them. A mount point's name lies elsewhere.
    let above = path.ancestors().skip(1);
    for folder in above.take_while(|folder| device(folder).is_ok_and(|device| device == own)) {
        match File::open(folder) {
            // What this user can't read it hasn't made.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => break,
            other => other.and_then(|folder| folder.sync_all()),
        }
        .map_err(Error::io("sync", folder))?;
    }
    Ok(())
}

/// Makes the store, under the writer lock.
///
/// # Errors
/// [`crate::Error::StoreCorrupt`] if there is no `HEAD` but there is content: a lost `HEAD` is never guessed.
pub(super) fn create(root: &Root, now_s: u64) -> Result<()> {
    check_nearly_empty(root)?;
    for directory in DIRECTORIES {
        let path = StorePath::fixed(directory);
        match root.fs.create_dir(&path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(root.io("create", &path)(error));
            }
            _ => {}
        }
    }
    remove_first_generations(root)?;
    let trust = TrustStore::empty()?;
    let reference = TrustReference {
        n: 0,
        sha256: trust.digest(),
    };
    let generation = Generation::first(reference, now_s)?.encode()?;
    let head = Head {
        n: 0,
        sha256: crate::Digest::of(&generation),
    };
    replace(root, &StorePath::trust(0), trust.bytes())?;
    replace(root, &StorePath::generation(0, head.sha256), &generation)?;
    replace(root, &StorePath::fixed("FORMAT"), FORMAT.as_bytes())?;
    for directory in FILLED {
        let path = StorePath::fixed(directory);
        root.fs.sync_dir(&path).map_err(root.io("sync", &path))?;
    }
    root.sync_root()?;
    replace(root, &Head::path(), head.to_text().as_bytes())?;
    root.sync_root()
}

/// What an earlier attempt may have left: empty directories, trust 0, generation 0 and temporary files.
fn check_nearly_empty(root: &Root) -> Result<()> {
    for (directory, kept) in [
        ("objects/sha256", ""),
        ("meta/sha256", ""),
        ("trust", "0."),
        ("gen", "0-"),
    ] {
        let path = StorePath::fixed(directory);
        let names = match root.fs.list(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            other => other.map_err(root.io("list", &path))?,
        };
        let has_content = names
            .iter()
            .any(|(name, _)| kept.is_empty() || !name.starts_with(kept));
        if has_content {
            return Err(root.corrupt(&Head::path(), "it is missing, but the store has content"));
        }
    }
    Ok(())
}

/// An earlier attempt's generation has the time of that attempt, and so another name.
fn remove_first_generations(root: &Root) -> Result<()> {
    let directory = StorePath::fixed("gen");
    let names = root.fs.list(&directory);
    for (name, _) in names.map_err(root.io("list", &directory))? {
        remove_if_there(root, &directory.listed(&name))?;
    }
    Ok(())
}

/// Writes a file aside and renames it into place, over what an earlier attempt left.
fn replace(root: &Root, path: &StorePath, bytes: &[u8]) -> Result<()> {
    let aside = StorePath::fixed("HEAD.tmp");
    remove_if_there(root, &aside)?;
    write_new(root, &aside, bytes)?;
    root.fs
        .rename_over(&aside, path)
        .map_err(root.io("rename", path))
}
