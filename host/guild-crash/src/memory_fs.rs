//! The store's file operations on a [`Disk`], each recorded. Open files are anonymous memory of their own, so that the
//! store gets real descriptors; what is written goes to both.
//!
//! It may have room for so many bytes of files and no more; names and directories take none.
//!
//! Locks are real, but each opening is a file of its own, so they keep nobody out: a disk has one user at a time.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use guild_package::store::StorePath;
use guild_package::store::fs::StoreFs;
use rustix::fs::{MemfdFlags, Mode};

use crate::disk::{Disk, Effect, NodeId};

/// A call that makes something durable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SyncCall {
    /// What, such as `directory gen` or `file staging/*/1`.
    pub of: String,
    /// How many calls of the same run were for the same before.
    pub earlier: usize,
}

/// A file system in memory that records.
#[derive(Debug)]
pub struct MemoryFs(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    disk: Disk,
    effects: Vec<Effect>,
    syncs: Vec<SyncCall>,
    skipped: Option<SyncCall>,
    /// By the inode number of an open file.
    open: HashMap<u64, (NodeId, String)>,
    /// Bytes that files may take; absent, any number.
    room: Option<u64>,
    /// Bytes that a file has taken, before they are written too.
    reserved: HashMap<NodeId, u64>,
    /// What all files had taken after each call that took more. Kept where there is a limit.
    marks: BTreeSet<u64>,
}

impl MemoryFs {
    /// Starts with what is on `disk`. The call `skipped` answers that all is well and does nothing.
    pub(crate) fn new(disk: Disk, skipped: Option<SyncCall>) -> Self {
        Self(Mutex::new(Inner {
            disk,
            effects: Vec::new(),
            syncs: Vec::new(),
            skipped,
            open: HashMap::new(),
            room: None,
            reserved: HashMap::new(),
            marks: BTreeSet::new(),
        }))
    }

    /// As [`Self::new`], with room for so many bytes of files.
    pub(crate) fn with_room(disk: Disk, bytes: u64) -> Self {
        let fs = Self::new(disk, None);
        fs.inner().room = Some(bytes);
        fs
    }

    /// How many bytes all files had taken after each call that took more.
    pub(crate) fn marks(&self) -> BTreeSet<u64> {
        self.inner().marks.clone()
    }

    pub(crate) fn disk(&self) -> Disk {
        self.inner().disk.clone()
    }

    pub(crate) fn effects(&self) -> Vec<Effect> {
        self.inner().effects.clone()
    }

    pub(crate) fn syncs(&self) -> Vec<SyncCall> {
        self.inner().syncs.clone()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Every change is one call of `apply`, so a panic elsewhere leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn apply(&mut self, effect: Effect) {
        self.disk.apply(&effect);
        self.effects.push(effect);
    }

    fn sync(&mut self, of: String, effect: Effect) {
        let earlier = self.syncs.iter().filter(|sync| sync.of == of).count();
        let call = SyncCall { of, earlier };
        if self.skipped.as_ref() != Some(&call) {
            self.apply(effect);
        }
        self.syncs.push(call);
    }

    fn node(&self, file: &File) -> io::Result<(NodeId, String)> {
        let open = self.open.get(&file.metadata()?.ino());
        open.cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Takes room for a file of `bytes`, but for what the file has taken already.
    fn take(&mut self, node: NodeId, bytes: u64) -> io::Result<()> {
        let Some(room) = self.room else {
            return Ok(());
        };
        let taken = |node: NodeId| {
            let written = self.disk.file(node).map_or(0, |it| it.bytes.len() as u64);
            let reserved = self.reserved.get(&node).copied();
            written.max(reserved.unwrap_or(0))
        };
        let paths = self.disk.paths().into_iter();
        let all: u64 = paths.map(|(_, node)| taken(node)).sum();
        let more = bytes.saturating_sub(taken(node));
        match all + more {
            _ if more == 0 => Ok(()),
            all if all > room => Err(io::ErrorKind::StorageFull.into()),
            all => {
                self.reserved.insert(node, bytes);
                self.marks.insert(all);
                Ok(())
            }
        }
    }

    fn create(&mut self, path: &StorePath) -> io::Result<File> {
        let place = self.disk.place(path.as_str())?;
        if self.disk.at(&place).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.apply(Effect::CreateFile(place));
        self.hand_out(path)
    }

    fn hand_out(&mut self, path: &StorePath) -> io::Result<File> {
        let node = self.disk.find(path.as_str())?;
        let content = self
            .disk
            .file(node)
            .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        let mut file = File::from(rustix::fs::memfd_create(
            "guild-crash",
            MemfdFlags::CLOEXEC,
        )?);
        file.write_all(&content.bytes)?;
        file.rewind()?;
        rustix::fs::fchmod(&file, Mode::from_raw_mode(content.mode))?;
        let name = without_token(path.as_str());
        self.open.insert(file.metadata()?.ino(), (node, name));
        Ok(file)
    }

    fn rename(&mut self, from: &StorePath, to: &StorePath, replaces: bool) -> io::Result<()> {
        let (from, to) = (
            self.disk.place(from.as_str())?,
            self.disk.place(to.as_str())?,
        );
        if self.disk.at(&from).is_none() {
            return Err(io::ErrorKind::NotFound.into());
        }
        if !replaces && self.disk.at(&to).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.apply(Effect::Rename(from, to));
        Ok(())
    }
}

impl StoreFs for MemoryFs {
    fn open(&self, path: &StorePath) -> io::Result<File> {
        self.inner().hand_out(path)
    }

    fn create(&self, path: &StorePath) -> io::Result<File> {
        self.inner().create(path)
    }

    fn open_lock(&self, path: &StorePath) -> io::Result<File> {
        let mut inner = self.inner();
        match inner.disk.find(path.as_str()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => inner.create(path),
            _ => inner.hand_out(path),
        }
    }

    fn reserve(&self, file: &File, bytes: u64) -> io::Result<()> {
        let mut inner = self.inner();
        let (node, _) = inner.node(file)?;
        inner.take(node, bytes)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        let mut inner = self.inner();
        let (node, _) = inner.node(file)?;
        let written = inner.disk.file(node)?.bytes.len();
        inner.take(node, (written + bytes.len()) as u64)?;
        file.write_all(bytes)?;
        inner.apply(Effect::Write(node, bytes.to_vec()));
        Ok(())
    }

    fn sync_file(&self, file: &File) -> io::Result<()> {
        let mut inner = self.inner();
        let (node, path) = inner.node(file)?;
        inner.sync(format!("file {path}"), Effect::SyncFile(node));
        Ok(())
    }

    fn set_mode(&self, file: &File, mode: u32) -> io::Result<()> {
        let mut inner = self.inner();
        let (node, _) = inner.node(file)?;
        rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?;
        inner.apply(Effect::SetMode(node, mode));
        Ok(())
    }

    fn rename_new(&self, from: &StorePath, to: &StorePath) -> io::Result<()> {
        self.inner().rename(from, to, false)
    }

    fn rename_over(&self, from: &StorePath, to: &StorePath) -> io::Result<()> {
        self.inner().rename(from, to, true)
    }

    fn create_dir(&self, path: &StorePath) -> io::Result<()> {
        let mut inner = self.inner();
        let place = inner.disk.place(path.as_str())?;
        if inner.disk.at(&place).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        inner.apply(Effect::CreateDirectory(place));
        Ok(())
    }

    fn sync_dir(&self, path: &StorePath) -> io::Result<()> {
        let mut inner = self.inner();
        let node = inner.disk.find(path.as_str())?;
        inner.disk.directory(node)?;
        let of = format!("directory {}", without_token(path.as_str()));
        inner.sync(of, Effect::SyncDirectory(node));
        Ok(())
    }

    fn remove_file(&self, path: &StorePath) -> io::Result<()> {
        let mut inner = self.inner();
        let node = inner.disk.find(path.as_str())?;
        inner.disk.file(node)?;
        let place = inner.disk.place(path.as_str())?;
        inner.apply(Effect::Remove(place));
        Ok(())
    }

    fn remove_dir(&self, path: &StorePath) -> io::Result<()> {
        let mut inner = self.inner();
        let node = inner.disk.find(path.as_str())?;
        let mut names = inner.disk.directory(node)?.values();
        if names.any(|name| name.live().is_some()) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        let place = inner.disk.place(path.as_str())?;
        inner.apply(Effect::Remove(place));
        Ok(())
    }

    fn list(&self, path: &StorePath) -> io::Result<Vec<(String, bool)>> {
        let inner = self.inner();
        let names = inner.disk.directory(inner.disk.find(path.as_str())?)?;
        let names = names.iter().filter_map(|(text, name)| {
            let is_directory = inner.disk.directory(name.live()?).is_ok();
            Some((text.clone(), is_directory))
        });
        Ok(names.collect())
    }
}

/// A path whose part that is drawn by chance is a star, so that two runs have the same.
fn without_token(path: &str) -> String {
    match path
        .strip_prefix("staging/")
        .map(|rest| rest.split_once('/'))
    {
        Some(Some((_, rest))) => format!("staging/*/{rest}"),
        Some(None) => "staging/*".to_owned(),
        None => path.to_owned(),
    }
}
