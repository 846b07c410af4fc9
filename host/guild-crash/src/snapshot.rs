//! What a store holds, for comparing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use guild_package::store::generation::Generation;
use guild_package::{Code, Store};

use crate::disk::{Disk, Entry};
use crate::error::Result;
use crate::memory_fs::MemoryFs;
use crate::operation::open;

/// What a store holds. Empty where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// The state, but for when the command ran.
    pub generation: Option<Generation>,
    /// Every version, whether it is enabled, and what it would be refused with.
    pub rows: Vec<String>,
    /// What `fsck` names.
    pub faults: BTreeSet<String>,
    /// The files below `objects` and `meta` that `gc` leaves.
    pub content: BTreeMap<String, Entry>,
}

impl Snapshot {
    /// Of a disk as it is now.
    pub fn of(disk: &Disk) -> Result<Self> {
        let fs = Arc::new(MemoryFs::new(disk.settled(), None));
        let store = match open(fs.clone(), false) {
            Err(error) if error.code() == Code::NotFound => return Ok(Self::default()),
            other => other?,
        };
        let snapshot = Self {
            generation: Some(state(&store)?),
            rows: rows(&store)?,
            faults: faults(&store)?,
            content: BTreeMap::new(),
        };
        store.collect_garbage()?;
        Ok(Self {
            content: content(&fs.disk()),
            ..snapshot
        })
    }
}

/// The state, but for when the command ran.
pub(crate) fn state(store: &Store) -> guild_package::Result<Generation> {
    let mut generation = store.generation()?;
    generation.time_seen = 0;
    Ok(generation)
}

/// A line a version.
pub(crate) fn rows(store: &Store) -> guild_package::Result<Vec<String>> {
    let rows = store.list()?.into_iter().map(|row| {
        let refused = row.package.err().map(|error| error.code());
        let (id, version, enabled, n) = (row.id, row.version, row.enabled, row.installed_gen);
        format!("{id} {version} enabled {enabled} by {n}: {refused:?}")
    });
    Ok(rows.collect())
}

/// A line a fault.
pub(crate) fn faults(store: &Store) -> guild_package::Result<BTreeSet<String>> {
    let faults = store.examine()?.faults.into_iter().map(|fault| {
        let of = fault.version.map(|version| version.to_string());
        format!("{of:?} {:?}", fault.error.code())
    });
    Ok(faults.collect())
}

/// The files below `objects` and `meta`.
pub(crate) fn content(disk: &Disk) -> BTreeMap<String, Entry> {
    let mut tree = disk.tree();
    tree.retain(|path, entry| {
        let is_content = path.starts_with("objects/") || path.starts_with("meta/");
        is_content && *entry != Entry::Directory
    });
    tree
}
