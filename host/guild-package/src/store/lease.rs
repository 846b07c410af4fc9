//! Leases: a session holds a shared lock on each package it uses, so that no writer takes the package away
//! under it. The lock ends with the process, however it ends (`docs/package-format.md`, section 12).

use std::fs::File;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::json;
use crate::limits::SMALL_FILE_MAX_BYTES;
use crate::name::{PackageId, PackageVersion};
use crate::store::installed::InstalledPackage;
use crate::store::lock;
use crate::store::path::StorePath;
use crate::store::state::Root;
use crate::store::transaction::random_token;
use crate::text::{PlainText, Time};
use crate::verify::system_time_s;

/// A shared lock on an installed package. Dropping it releases the package.
#[derive(Debug)]
pub struct Lease {
    root: Root,
    manifest: Digest,
    /// Absent in a store that this user may only read.
    note: Option<StorePath>,
    _lock: File,
}

/// Who holds a lease, for the message of a writer that has to wait. Advisory: only the lock counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaseNote {
    /// Always 1.
    pub schema: u64,
    /// The process.
    pub pid: u64,
    /// When the lease was taken, in seconds since 1970-01-01 UTC.
    pub start: u64,
    /// The session's name.
    pub session: PlainText,
}

impl Lease {
    /// Takes the lock of `package`'s manifest; the caller then looks at `HEAD` again.
    pub(super) fn take(package: &InstalledPackage, session_name: &str) -> Result<Self> {
        let session: PlainText = session_name
            .parse()
            .map_err(|invalid| Error::invalid("the session name", &invalid))?;
        let root = package.root().clone();
        let manifest = package.manifest_digest();
        let path = StorePath::lease_lock(manifest);
        let (file, may_write) = match open_lock(&root, &path) {
            // A store that this user may only read; whoever installed the package made the lock.
            Err(error) if is_read_only(&error) => (root.fs.open(&path), false),
            other => (other, true),
        };
        let file = file.map_err(root.io("open", &path))?;
        lock::share(&file).map_err(root.io("lock", &path))?;
        let note = match may_write {
            true => Some(write_note(&root, manifest, session)?),
            false => None,
        };
        Ok(Self {
            root,
            manifest,
            note,
            _lock: file,
        })
    }

    /// The leased package's identity.
    #[must_use]
    pub const fn manifest_digest(&self) -> Digest {
        self.manifest
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(note) = &self.note {
            // The next writer removes a note that stays behind.
            let _ = self.root.fs.remove_file(note);
        }
    }
}

/// Makes the lock of a manifest in a store that is read by users who can't make it.
pub(super) fn prepare(root: &Root, manifest: Digest) -> Result<()> {
    if !root.fs.is_shared() {
        return Ok(());
    }
    let path = StorePath::lease_lock(manifest);
    let file = open_lock(root, &path).map_err(root.io("open", &path))?;
    root.fs.sync_file(&file).map_err(root.io("sync", &path))?;
    let directory = StorePath::fixed("leases");
    root.fs
        .sync_dir(&directory)
        .map_err(root.io("sync", &directory))
}

/// A lease's lock, made where there is none; everybody may share it in a store that everybody may read.
fn open_lock(root: &Root, path: &StorePath) -> std::io::Result<File> {
    let file = root.fs.open_lock(path)?;
    if root.fs.is_shared() {
        root.fs.set_mode(&file, 0o644)?;
    }
    Ok(file)
}

fn is_read_only(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem)
}

/// Says who has the lease.
fn write_note(root: &Root, manifest: Digest, session: PlainText) -> Result<StorePath> {
    let note = StorePath::lease_note(manifest, std::process::id(), random_token()?);
    let content = LeaseNote {
        schema: 1,
        pid: u64::from(std::process::id()),
        start: system_time_s(),
        session,
    };
    let bytes = json::encode("the lease note", &content)?;
    let mut file = root.fs.create(&note).map_err(root.io("create", &note))?;
    root.fs
        .write(&mut file, &bytes)
        .map_err(root.io("write", &note))?;
    Ok(note)
}

/// The exclusive lock on an installed version: while it lives, no session has the version or gets it.
#[derive(Debug)]
pub(super) struct Held(#[expect(dead_code, reason = "closing the file releases the lock")] File);

impl Held {
    /// Takes the lock, without waiting.
    ///
    /// # Errors
    /// [`Error::SessionsActive`] naming who has the version, with `next` as what to do.
    pub fn take(
        root: &Root,
        id: &PackageId,
        (version, manifest): (&PackageVersion, Digest),
        next: &'static str,
    ) -> Result<Self> {
        let path = StorePath::lease_lock(manifest);
        let file = open_lock(root, &path).map_err(root.io("open", &path))?;
        if lock::try_exclusive(&file).map_err(root.io("lock", &path))? {
            return Ok(Self(file));
        }
        Err(Error::SessionsActive {
            id: id.clone(),
            version: Box::new(version.clone()),
            sessions: notes(root, Some(manifest))?,
            next,
        })
    }

    /// Takes the locks of several versions of a package.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub fn take_all<'v>(
        root: &Root,
        id: &PackageId,
        versions: impl Iterator<Item = (&'v PackageVersion, Digest)>,
        next: &'static str,
    ) -> Result<Vec<Self>> {
        // A lock that isn't there is nobody's. It is made last, so that a refusal leaves nothing behind.
        let is_there = |(_, manifest): &(_, Digest)| {
            let lock = root.fs.open(&StorePath::lease_lock(*manifest));
            lock.is_ok()
        };
        let (there, absent): (Vec<_>, Vec<_>) = versions.partition(is_there);
        let all = there.into_iter().chain(absent);
        all.map(|version| Self::take(root, id, version, next))
            .collect()
    }
}

/// Whether a session has the manifest now.
pub(super) fn is_in_use(root: &Root, manifest: Digest) -> Result<bool> {
    let path = StorePath::lease_lock(manifest);
    let file = match root.fs.open(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        other => other.map_err(root.io("open", &path))?,
    };
    let is_free = lock::is_free(&file).map_err(root.io("lock", &path))?;
    Ok(!is_free)
}

/// The notes beside the lock of `manifest`, or of all. One that can't be read is passed over: notes are advisory.
pub(super) fn notes(root: &Root, manifest: Option<Digest>) -> Result<Vec<LeaseNote>> {
    let directory = StorePath::fixed("leases");
    let names = root
        .fs
        .list(&directory)
        .map_err(root.io("list", &directory))?;
    let start = manifest.map_or_else(String::new, |manifest| format!("{manifest}."));
    let notes = names
        .iter()
        .filter(|(name, _)| name.starts_with(&start) && name.ends_with(".json"))
        .filter_map(|(name, _)| {
            let bytes = root.fs.read(&directory.listed(name), SMALL_FILE_MAX_BYTES);
            json::decode("a lease note", &bytes.ok()?).ok()
        });
    Ok(notes.collect())
}

impl std::fmt::Display for LeaseNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (pid, session) = (self.pid, &self.session);
        write!(f, "process {pid} since {} ({session})", Time(self.start))
    }
}
