//! What lies in the store's folders, told from what doesn't belong there.

use crate::digest::Digest;
use crate::error::Result;
use crate::store::path::{Area, DIRECTORIES, StorePath};
use crate::store::state::{Root, State};

/// Files in the store's root.
const ROOT_FILES: [&str; 3] = ["FORMAT", "LOCK", "HEAD"];

/// The digests under which an area has files, and the paths of what isn't named by one.
pub(super) fn stored(root: &Root, area: Area) -> Result<(Vec<Digest>, Vec<StorePath>)> {
    let directory = area.directory();
    let (mut digests, mut strangers) = (Vec::new(), Vec::new());
    for (first, is_directory) in list(root, &directory)? {
        let folder = directory.listed(&first);
        // One that is empty is left by a collection, if a digest can begin so.
        let entries = match is_directory {
            true => list(root, &folder)?,
            false => Vec::new(),
        };
        if !is_directory || (entries.is_empty() && !begins_a_digest(&first)) {
            strangers.push(folder);
            continue;
        }
        for (rest, is_directory) in entries {
            match format!("{first}{rest}").parse::<Digest>() {
                Ok(digest) if !is_directory && first.len() == 2 => digests.push(digest),
                _ => strangers.push(folder.listed(&rest)),
            }
        }
    }
    Ok((digests, strangers))
}

/// Whether this is the name of a folder for digests.
fn begins_a_digest(name: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    name.len() == 2 && name.bytes().all(is_digit)
}

/// What is in the store's folders beside the committed state and its content: rests of an interrupted change, and
/// whatever others have put there.
pub(super) fn strangers(root: &Root, state: &State) -> Result<Vec<StorePath>> {
    let belongs = |name: &str, is_directory: bool| match is_directory {
        true => DIRECTORIES.contains(&name),
        false => ROOT_FILES.contains(&name),
    };
    let top = StorePath::root();
    let mut found: Vec<StorePath> = list(root, &top)?
        .into_iter()
        .filter(|(name, is_directory)| !belongs(name, *is_directory))
        .map(|(name, _)| top.listed(&name))
        .collect();
    for (folder, committed) in [("gen", state.head.n), ("trust", state.generation.trust.n)] {
        let folder = StorePath::fixed(folder);
        let names = list(root, &folder)?.into_iter();
        let others = names.filter(|(name, is_directory)| {
            *is_directory || number(name).is_none_or(|n| n > committed)
        });
        found.extend(others.map(|(name, _)| folder.listed(&name)));
    }
    for (area, above) in [(Area::Objects, "objects"), (Area::Meta, "meta")] {
        let above = StorePath::fixed(above);
        let beside = list(root, &above)?.into_iter();
        let beside = beside.filter(|(name, _)| name != "sha256");
        found.extend(beside.map(|(name, _)| above.listed(&name)));
        found.extend(stored(root, area)?.1);
    }
    let leases = StorePath::fixed("leases");
    let others = list(root, &leases)?.into_iter();
    let others = others.filter(|(name, is_directory)| *is_directory || !is_of_a_lease(name));
    found.extend(others.map(|(name, _)| leases.listed(&name)));
    let staging = StorePath::fixed("staging");
    let left = list(root, &staging)?.into_iter();
    found.extend(left.map(|(name, _)| staging.listed(&name)));
    Ok(found)
}

/// Whether this is the name of a lease's lock or note.
fn is_of_a_lease(name: &str) -> bool {
    let manifest = name.split('.').next().unwrap_or_default();
    manifest.parse::<Digest>().is_ok() && (name.ends_with(".lock") || name.ends_with(".json"))
}

/// The number that the name of a generation or a trust file begins with.
pub(super) fn number(name: &str) -> Option<u64> {
    name.split(['-', '.']).next()?.parse().ok()
}

fn list(root: &Root, path: &StorePath) -> Result<Vec<(String, bool)>> {
    root.fs.list(path).map_err(root.io("list", path))
}
