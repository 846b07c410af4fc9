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
        if !is_directory {
            strangers.push(folder);
            continue;
        }
        for (rest, is_directory) in list(root, &folder)? {
            match format!("{first}{rest}").parse::<Digest>() {
                Ok(digest) if !is_directory && first.len() == 2 => digests.push(digest),
                _ => strangers.push(folder.listed(&rest)),
            }
        }
    }
    Ok((digests, strangers))
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
        let others = names.filter(|(name, _)| number(name).is_none_or(|n| n > committed));
        found.extend(others.map(|(name, _)| folder.listed(&name)));
    }
    for area in [Area::Objects, Area::Meta] {
        found.extend(stored(root, area)?.1);
    }
    let staging = StorePath::fixed("staging");
    let left = list(root, &staging)?.into_iter();
    found.extend(left.map(|(name, _)| staging.listed(&name)));
    Ok(found)
}

/// The number that the name of a generation or a trust file begins with.
pub(super) fn number(name: &str) -> Option<u64> {
    name.split(['-', '.']).next()?.parse().ok()
}

fn list(root: &Root, path: &StorePath) -> Result<Vec<(String, bool)>> {
    root.fs.list(path).map_err(root.io("list", path))
}
