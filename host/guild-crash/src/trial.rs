//! A store in a folder that an operation works on, and how it is judged when the operation was killed.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::Arc;

use guild_package::store::generation::Generation;
use guild_package::{Store, StoreOptions};

use crate::disk::{Content, Disk, Node};
use crate::error::{CrashError, Result};
use crate::invariant::{Invariant, Violation};
use crate::judge::Judge;
use crate::memory_fs::MemoryFs;
use crate::operation::Operation;
use crate::snapshot::{Snapshot, state};
use crate::workshop::Workshop;

/// One operation on stores in folders.
#[derive(Debug)]
pub struct Trial<'a> {
    pub(crate) judge: Judge<'a>,
    pub(crate) prepared: Disk,
}

/// What an operation left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The state before it.
    Before,
    /// The state after it.
    After,
    /// An operation that changes no state has one side.
    Both,
}

impl<'a> Trial<'a> {
    /// Runs the operation once in memory, to know how it ends.
    ///
    /// # Errors
    /// Where the operation fails without a crash.
    pub fn new(workshop: &'a Workshop, operation: &'a Operation) -> Result<Self> {
        let prepared = operation.prepare(workshop)?;
        let fs = Arc::new(MemoryFs::new(prepared.clone(), None));
        operation.run(workshop, fs.clone())?;
        let snapshots = (Snapshot::of(&prepared)?, Snapshot::of(&fs.disk())?);
        Ok(Self {
            judge: Judge::new(workshop, operation, snapshots, &prepared),
            prepared,
        })
    }

    /// Makes the store that the operation begins with in the new folder `path`.
    ///
    /// # Errors
    /// What the system says.
    pub fn lay_out(&self, path: &Path) -> Result<()> {
        make_folder(path)?;
        for (name, _) in self.prepared.tree() {
            let to = path.join(&name);
            let node = self.prepared.find(&name).map_err(CrashError::io(&to))?;
            match self.prepared.nodes().get(node) {
                Some(Node::File { live, .. }) => {
                    let mut file = OpenOptions::new()
                        .write(true)
                        .create_new(true)
                        .mode(live.mode)
                        .open(&to)
                        .map_err(CrashError::io(&to))?;
                    file.write_all(&live.bytes).map_err(CrashError::io(&to))?;
                }
                _ => make_folder(&to)?,
            }
        }
        Ok(())
    }

    /// What is in force in the store at `path`, if it is one of the two.
    ///
    /// # Errors
    /// Where the store can't be read.
    pub fn side(&self, path: &Path) -> Result<Option<Side>> {
        let found: Generation = state(&open(path)?)?;
        let is = |snapshot: &Snapshot| snapshot.generation.as_ref() == Some(&found);
        Ok(match (is(&self.judge.before), is(&self.judge.after)) {
            (true, true) => Some(Side::Both),
            (true, false) => Some(Side::Before),
            (false, true) => Some(Side::After),
            (false, false) => None,
        })
    }

    /// Judges what is left at `path`: a copy in memory first, then by recovering the store itself, whose locks must be
    /// free. `acknowledged` if the operation had said that it succeeded.
    ///
    /// # Errors
    /// Where the folder can't be read.
    pub fn judge(&self, path: &Path, acknowledged: bool) -> Result<Option<Violation>> {
        let left = load(path)?;
        if let Err(violation) = self.judge.image(&left, acknowledged) {
            return Ok(Some(violation));
        }
        // A lock that outlived its process would be refused here: nobody is waited for.
        match open(path).and_then(|store| store.recover()) {
            Ok(()) => {}
            // Where the command makes the store, there may be none yet.
            Err(guild_package::Error::NotFound { .. }) if !acknowledged => return Ok(None),
            Err(error) => return Ok(Some(Violation::new(Invariant::Lease, error))),
        }
        let left = load(path)?;
        Ok(self.judge.image(&left, acknowledged).err())
    }
}

fn make_folder(path: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder
        .mode(0o700)
        .create(path)
        .map_err(CrashError::io(path))
}

fn open(path: &Path) -> guild_package::Result<Store> {
    let options = StoreOptions {
        create: false,
        lock_wait_ms: 0,
        ..StoreOptions::default()
    };
    Store::open(path, options)
}

/// The folder `path` as a disk.
fn load(path: &Path) -> Result<Disk> {
    let mut disk = Disk::new();
    let mut open = vec![String::new()];
    while let Some(prefix) = open.pop() {
        let folder = path.join(&prefix);
        for entry in fs::read_dir(&folder).map_err(CrashError::io(&folder))? {
            let entry = entry.map_err(CrashError::io(&folder))?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let file = entry.path();
            let metadata = entry.metadata().map_err(CrashError::io(&file))?;
            let content = match metadata.is_dir() {
                true => None,
                false => {
                    let mut bytes = Vec::new();
                    fs::File::open(&file)
                        .and_then(|mut file| file.read_to_end(&mut bytes))
                        .map_err(CrashError::io(&file))?;
                    Some(Content::new(bytes, metadata.mode() & 0o7777))
                }
            };
            if content.is_none() {
                open.push(format!("{name}/"));
            }
            disk.put(&name, content).map_err(CrashError::io(&file))?;
        }
    }
    Ok(disk)
}
