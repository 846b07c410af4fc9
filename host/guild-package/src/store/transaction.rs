//! One change of the store, from the writer lock to the rename of `HEAD`. The numbered steps and the
//! boundaries B1 to B6 are those of `docs/package-format.md`, section 10.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;

use crate::digest::{Digest, Hasher};
use crate::error::{Error, Result};
use crate::limits::COPY_CHUNK_BYTES;
use crate::store::failpoint::{self, Boundary};
use crate::store::generation::{Generation, TrustReference};
use crate::store::installed::check_object;
use crate::store::lock::WriterLock;
use crate::store::path::{Area, StorePath};
use crate::store::recovery;
use crate::store::state::{Head, Root, State};
use crate::trust::TrustStore;

/// An open change. Dropping it without [`Self::commit`] leaves the old state; its staging directory is
/// removed at once where that works, and by the next writer's recovery where it does not.
pub(super) struct Transaction<'store> {
    root: &'store Root,
    state: State,
    staging: StorePath,
    staged_files: usize,
    _lock: WriterLock,
}

impl<'store> Transaction<'store> {
    /// Step 10.1: lock, recover, read the state.
    ///
    /// # Errors
    /// [`Error::StoreLocked`], [`Error::StoreCorrupt`] or [`Error::Io`].
    pub fn begin(root: &'store Root, wait_ms: u64) -> Result<Self> {
        let lock = WriterLock::take(root, wait_ms)?;
        failpoint::reach(Boundary::Locked); // B0
        let state = root.state()?;
        recovery::recover(root, &state)?;
        let staging = StorePath::staging(random_token()?);
        root.fs
            .create_dir(&staging)
            .map_err(root.io("create", &staging))?;
        Ok(Self {
            root,
            state,
            staging,
            staged_files: 0,
            _lock: lock,
        })
    }

    /// The state the change starts from.
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// Step 10.2: a private copy of `source`, at most `bytes_max`, open for reading.
    pub fn stage_copy(&mut self, source: &File, bytes_max: u64) -> Result<File> {
        let path = self.next_staged();
        let mut copy = self
            .root
            .fs
            .create(&path)
            .map_err(self.root.io("create", &path))?;
        let mut bytes = 0;
        let mut buffer = vec![0; COPY_CHUNK_BYTES];
        let mut source = source.take(bytes_max + 1);
        loop {
            let length = source
                .read(&mut buffer)
                .map_err(Error::io("read", "the bundle"))?;
            let Some(piece) = buffer.get(..length).filter(|piece| !piece.is_empty()) else {
                break;
            };
            bytes += piece.len() as u64;
            if bytes > bytes_max {
                let detail = format!("it is larger than {bytes_max} bytes");
                return Err(Error::malformed("the bundle", detail));
            }
            self.root
                .fs
                .write(&mut copy, piece)
                .map_err(self.root.io("write", &path))?;
        }
        self.root
            .fs
            .open(&path)
            .map_err(self.root.io("open", &path))
    }

    /// Step 10.4 for one file: `size` bytes that must have `digest`, from `produce`, written aside with
    /// mode 0444 and durable. A file that exists already is hashed instead, and written again if it is
    /// damaged (step 10.5).
    pub fn stage(
        &mut self,
        area: Area,
        digest: Digest,
        size: u64,
        produce: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>,
    ) -> Result<Staged> {
        let target = StorePath::content(area, digest);
        let mut staged = Staged {
            aside: None,
            replaces: false,
            target,
            area,
            digest,
            size,
        };
        match self.root.fs.open(&staged.target) {
            Ok(existing) => match staged.check_existing(self.root, existing) {
                Ok(()) => return Ok(staged),
                Err(Error::StoreCorrupt { .. }) => staged.replaces = true,
                Err(error) => return Err(error),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(self.root.io("open", &staged.target)(error)),
        }
        let aside = self.next_staged();
        let mut file = self
            .root
            .fs
            .create(&aside)
            .map_err(self.root.io("create", &aside))?;
        self.root
            .fs
            .reserve(&file, size)
            .map_err(self.root.io("reserve space for", &aside))?;
        let mut hasher = Hasher::default();
        produce(&mut |piece| {
            hasher.update(piece);
            self.root
                .fs
                .write(&mut file, piece)
                .map_err(self.root.io("write", &aside))
        })?;
        let (found, bytes) = hasher.finish();
        if found != digest || bytes != size {
            return Err(Error::staged_changed("a staged file", digest, found));
        }
        self.root
            .fs
            .set_mode(&file, 0o444)
            .map_err(self.root.io("set the mode of", &aside))?;
        self.root
            .fs
            .sync_file(&file)
            .map_err(self.root.io("sync", &aside))?;
        staged.aside = Some(aside);
        Ok(staged)
    }

    /// Step 10.4 for a small text that is named by its own digest.
    pub fn stage_meta(&mut self, bytes: &[u8]) -> Result<Staged> {
        let size = bytes.len() as u64;
        self.stage(Area::Meta, Digest::of(bytes), size, |sink| sink(bytes))
    }

    /// Steps 10.5 and 10.6: moves staged files to their places, and makes the names durable. After it
    /// stand B2 for objects and B3 for manifest and envelope.
    pub fn publish(&self, staged: &[Staged]) -> Result<()> {
        let mut fan_outs = BTreeSet::new();
        let mut areas = BTreeSet::new();
        for file in staged {
            let fan_out = StorePath::fan_out(file.area, file.digest);
            // The name of a file that was there may come from an interrupted install that never
            // made it durable, so its directories are synced like those of a new one.
            fan_outs.insert(fan_out.clone());
            areas.insert(file.area.directory());
            let Some(aside) = &file.aside else { continue };
            match self.root.fs.create_dir(&fan_out) {
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                    return Err(self.root.io("create", &fan_out)(error));
                }
                _ => {}
            }
            if file.replaces {
                self.root
                    .fs
                    .rename_over(aside, &file.target)
                    .map_err(self.root.io("rename", &file.target))?;
                continue;
            }
            match self.root.fs.rename_new(aside, &file.target) {
                // Two artifacts of one bundle may have the same bytes.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    let existing = self
                        .root
                        .fs
                        .open(&file.target)
                        .map_err(self.root.io("open", &file.target))?;
                    file.check_existing(self.root, existing)?;
                }
                other => other.map_err(self.root.io("rename", &file.target))?,
            }
        }
        for directory in fan_outs.iter().chain(&areas) {
            self.root
                .fs
                .sync_dir(directory)
                .map_err(self.root.io("sync", directory))?;
        }
        Ok(())
    }

    /// Puts a new trust file in place. It is in force once a generation names it.
    pub fn put_trust(&mut self, trust: &TrustStore) -> Result<TrustReference> {
        let n = trust.body().n;
        self.put_numbered(&StorePath::trust(n), "trust", trust.bytes())?;
        Ok(TrustReference {
            n,
            sha256: trust.digest(),
        })
    }

    /// Steps 10.7 to 10.10: writes the generation, renames `HEAD` (the commit), makes it durable, cleans up.
    pub fn commit(mut self, generation: &Generation) -> Result<Head> {
        let bytes = generation.encode()?;
        let head = Head {
            n: generation.n,
            sha256: Digest::of(&bytes),
        };
        self.put_numbered(&StorePath::generation(head.n, head.sha256), "gen", &bytes)?;
        failpoint::reach(Boundary::GenerationWritten); // B4
        let aside = StorePath::fixed("HEAD.tmp");
        write_new(self.root, &aside, head.to_text().as_bytes())?;
        self.root
            .fs
            .rename_over(&aside, &Head::path())
            .map_err(self.root.io("rename", &Head::path()))?;
        failpoint::reach(Boundary::HeadRenamed); // B5
        self.root.sync_root()?;
        failpoint::reach(Boundary::HeadSynced); // B6
        Ok(head)
    }

    fn put_numbered(
        &mut self,
        target: &StorePath,
        directory: &'static str,
        bytes: &[u8],
    ) -> Result<()> {
        let aside = self.next_staged();
        write_new(self.root, &aside, bytes)?;
        self.root
            .fs
            .rename_new(&aside, target)
            .map_err(self.root.io("rename", target))?;
        let directory = StorePath::fixed(directory);
        self.root
            .fs
            .sync_dir(&directory)
            .map_err(self.root.io("sync", &directory))
    }

    fn next_staged(&mut self) -> StorePath {
        self.staged_files += 1;
        self.staging.staged(self.staged_files)
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // Recovery would do it; a failure here changes nothing.
        let _ = recovery::remove_tree(self.root, &self.staging);
    }
}

/// A file that is written and durable, aside from its place.
#[derive(Debug)]
pub(super) struct Staged {
    /// `None` if the store has the file already.
    aside: Option<StorePath>,
    /// Whether a damaged file has its place.
    replaces: bool,
    target: StorePath,
    area: Area,
    digest: Digest,
    size: u64,
}

impl Staged {
    /// Whether the store lacked the file, or had a damaged one.
    pub const fn is_new(&self) -> bool {
        self.aside.is_some()
    }

    /// A file that is in the store already must be as the store left it.
    fn check_existing(&self, root: &Root, mut file: File) -> Result<()> {
        check_object(root, &self.target, &file, self.size)?;
        let mut hasher = Hasher::default();
        let mut buffer = vec![0; COPY_CHUNK_BYTES];
        loop {
            let length = file
                .read(&mut buffer)
                .map_err(root.io("read", &self.target))?;
            let Some(piece) = buffer.get(..length).filter(|piece| !piece.is_empty()) else {
                break;
            };
            hasher.update(piece);
        }
        match hasher.finish() {
            (found, _) if found == self.digest => Ok(()),
            (found, _) => Err(root.corrupt(&self.target, format!("its digest is {found}"))),
        }
    }
}

impl Root {
    /// Makes the names in the store's root durable.
    pub fn sync_root(&self) -> Result<()> {
        let path = StorePath::root();
        self.fs.sync_dir(&path).map_err(self.io("sync", &path))
    }
}

/// A new file with `bytes`, durable but for its name.
pub(super) fn write_new(root: &Root, path: &StorePath, bytes: &[u8]) -> Result<()> {
    let mut file = root.fs.create(path).map_err(root.io("create", path))?;
    root.fs
        .write(&mut file, bytes)
        .map_err(root.io("write", path))?;
    root.fs
        .set_mode(&file, 0o444)
        .map_err(root.io("set the mode of", path))?;
    root.fs.sync_file(&file).map_err(root.io("sync", path))
}

/// 64 random bits, for names that nobody can plant a link under.
pub(super) fn random_token() -> Result<u64> {
    getrandom::u64().map_err(|_| Error::Io {
        action: "read random bytes for",
        path: "the staging directory".into(),
        source: std::io::Error::other("the operating system gave none"),
    })
}
