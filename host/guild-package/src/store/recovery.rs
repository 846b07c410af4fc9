//! What a writer does first: remove whatever an interrupted change left beside the committed state. It can
//! be interrupted and run again. A `HEAD` that does not fit is never repaired by guessing: reading the
//! state has failed before this runs (`docs/package-format.md`, section 11).

use crate::error::Result;
use crate::store::contents::number;
use crate::store::failpoint::{self, Boundary};
use crate::store::lease;
use crate::store::path::StorePath;
use crate::store::state::{Root, State};

/// Deepest tree in a staging directory.
const STAGING_DEPTH_MAX: usize = 4;

/// Brings the store to exactly the committed state, but for unreferenced objects, which are harmless.
pub(super) fn recover(root: &Root, state: &State) -> Result<()> {
    // A killed command may have renamed `HEAD` and not made it durable. What this one says rests on it, also where it
    // finds that there is nothing to change.
    root.sync_root()?;
    failpoint::reach(Boundary::Recovery); // B8
    remove_if_there(root, &StorePath::fixed("HEAD.tmp"))?;
    failpoint::reach(Boundary::Recovery);
    remove_numbers_above(root, "gen", state.head.n)?;
    failpoint::reach(Boundary::Recovery);
    remove_numbers_above(root, "trust", state.generation.trust.n)?;
    failpoint::reach(Boundary::Recovery);
    // The lock is ours, so no staging directory belongs to a living change.
    remove_children(root, &StorePath::fixed("staging"), STAGING_DEPTH_MAX)?;
    remove_orphaned_notes(root)
}

/// Removes a directory and what is below it.
pub(super) fn remove_tree(root: &Root, path: &StorePath) -> Result<()> {
    failpoint::reach(Boundary::Cleanup); // B7
    remove_children(root, path, STAGING_DEPTH_MAX)?;
    failpoint::reach(Boundary::Cleanup);
    root.fs.remove_dir(path).map_err(root.io("remove", path))
}

fn remove_children(root: &Root, path: &StorePath, depth_left: usize) -> Result<()> {
    let Some(depth_left) = depth_left.checked_sub(1) else {
        return Err(root.corrupt(path, "it is nested deeper than a transaction makes it"));
    };
    for (name, is_directory) in root.fs.list(path).map_err(root.io("list", path))? {
        let child = path.listed(&name);
        if is_directory {
            remove_children(root, &child, depth_left)?;
            root.fs
                .remove_dir(&child)
                .map_err(root.io("remove", &child))?;
        } else {
            root.fs
                .remove_file(&child)
                .map_err(root.io("remove", &child))?;
        }
    }
    Ok(())
}

/// Removes a file that may be gone already.
pub(super) fn remove_if_there(root: &Root, path: &StorePath) -> Result<()> {
    match root.fs.remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(root.io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Files of a chain that were written but never committed: their number is above the committed one.
fn remove_numbers_above(root: &Root, directory: &'static str, committed: u64) -> Result<()> {
    let path = StorePath::fixed(directory);
    for (name, _) in root.fs.list(&path).map_err(root.io("list", &path))? {
        if number(&name).is_some_and(|n| n > committed) {
            let stray = path.listed(&name);
            root.fs
                .remove_file(&stray)
                .map_err(root.io("remove", &stray))?;
        }
    }
    Ok(())
}

/// Notes of sessions that ended without removing them: nobody shares the lock they belong to.
fn remove_orphaned_notes(root: &Root) -> Result<()> {
    let directory = StorePath::fixed("leases");
    let names = root
        .fs
        .list(&directory)
        .map_err(root.io("list", &directory))?;
    for (name, _) in names.iter().filter(|(name, _)| name.ends_with(".json")) {
        let Some(manifest) = name.split('.').next().and_then(|hex| hex.parse().ok()) else {
            continue;
        };
        if !lease::is_in_use(root, manifest)? {
            // A session that ended since the listing has removed its own.
            remove_if_there(root, &directory.listed(name))?;
        }
    }
    Ok(())
}
