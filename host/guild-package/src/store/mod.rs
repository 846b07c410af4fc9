//! The package store: content-addressed immutable objects, one hash-chained state file, one commit point
//! (`docs/package-format.md`, sections 9 to 12).
//!
//! Writers hold an exclusive lock from reading the state to committing its successor. Readers take no lock:
//! what `HEAD` names is complete and never changes.

mod advisory;
mod contents;
mod create;
mod examination;
mod failpoint;
pub mod fs;
pub mod generation;
mod install;
mod installed;
mod lease;
mod lock;
mod log;
mod offers;
mod path;
mod providers;
mod recovery;
mod removal;
mod repair;
mod selection;
mod state;
mod transaction;
mod trust_age;
mod trust_change;

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::limits::SMALL_FILE_MAX_BYTES;
use crate::name::{PackageId, PackageVersion, ProvidedName};
use crate::store::fs::{RealFs, StoreFs};
use crate::store::generation::{Active, Generation};
use crate::store::state::{Head, State};
use crate::store::transaction::Transaction;
use crate::trust::TrustStore;
use crate::verify::{History as _, Recorded, system_time_s};

pub use advisory::{AdvisoryOptions, AdvisoryTaken};
pub(crate) use create::make_root;
pub use examination::{Examined, Fault};
pub use install::{InstallOptions, Installed};
pub(crate) use installed::incompatible;
pub use installed::{ArtifactInfo, InstalledPackage, ObjectSource};
pub use lease::{Lease, LeaseNote};
pub(crate) use lock::WriterLock;
pub use log::{ActiveChange, LogEntry, Selection, WholeChain};
pub use offers::{Offer, Offered};
pub use path::StorePath;
pub use removal::{Collected, Removed};
pub use selection::{Candidate, InUse, RollbackOptions, Selected};
pub(crate) use state::Root;
pub use trust_age::KeyAdded;
pub use trust_change::{FloorRaised, PolicySet, RevokeOptions, Revoked, Rotated, TrustAdded};

/// How often a reader starts again when a writer changed its package's selection meanwhile.
const LEASE_ATTEMPTS: usize = 3;

/// An open store.
#[derive(Clone, Debug)]
pub struct Store {
    root: Root,
    options: StoreOptions,
    /// What is read where this store says nothing.
    below: Option<Box<Store>>,
}

/// How to open a store.
#[derive(Clone, Copy, Debug)]
pub struct StoreOptions {
    /// Make the store if there is none.
    pub create: bool,
    /// How long a command that changes the store waits for another one.
    pub lock_wait_ms: u64,
    /// A store that is made is one that everybody may read, and its owner alone may change.
    pub shared: bool,
}

/// One installed version, and whether it would load now.
#[derive(Debug)]
pub struct ListedPackage {
    /// The package.
    pub id: PackageId,
    /// The version.
    pub version: PackageVersion,
    /// Whether this version is the enabled one.
    pub enabled: bool,
    /// Whether it is in the store below.
    pub below: bool,
    /// Whether a pinned rollback keeps an install of it from enabling it.
    pub held_back: bool,
    /// The lowest security epoch of its package that may be enabled.
    pub floor: u64,
    /// The generation that installed it.
    pub installed_gen: u64,
    /// Its identity: SHA-256 of the manifest's bytes.
    pub manifest_sha256: Digest,
    /// What its files say, also where it would not load.
    pub recorded: Recorded,
    /// The verified package, or why it would not load.
    pub package: Result<InstalledPackage>,
}

impl ListedPackage {
    /// Whether it verifies and is below its floor: it loads where it is enabled, and can't be enabled again.
    #[must_use]
    pub fn is_below_floor(&self) -> bool {
        let epoch = self.recorded.security_epoch;
        epoch.is_some_and(|epoch| epoch < self.floor)
    }
}

impl Store {
    /// Opens the store at `path`.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is none and `create` is off, [`Error::StoreUnsafe`] if others may
    /// write to it, [`Error::StoreCorrupt`] if it is of another format, [`Error::Io`].
    pub fn open(path: &Path, options: StoreOptions) -> Result<Self> {
        if options.create && !path.join(Head::path().as_str()).exists() {
            make_root(path, options.shared)?;
        }
        let fs = RealFs::open_root(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => no_store(path),
            _ => Error::io("open", path)(error),
        })?;
        check_root(&fs, path)?;
        Self::with_fs(Arc::new(fs), path, options)
    }

    /// As [`Self::open`], through other file operations: a test's, that record or fail. `path` is for
    /// messages.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn with_fs(fs: Arc<dyn StoreFs>, path: &Path, options: StoreOptions) -> Result<Self> {
        let root = Root {
            fs,
            path: path.to_owned(),
        };
        let store = Self {
            root,
            options,
            below: None,
        };
        store.ensure_format()?;
        store.root.state()?;
        Ok(store)
    }

    /// This store above another one, which is only read: a package that has no version enabled here is taken
    /// from there, under the trust that is in force there. One below that one is left out.
    #[must_use]
    pub fn above(mut self, below: Self) -> Self {
        self.below = Some(Box::new(Self {
            below: None,
            ..below
        }));
        self
    }

    /// The store below.
    #[must_use]
    pub fn below(&self) -> Option<&Self> {
        self.below.as_deref()
    }

    /// Removes what an interrupted command left, as every command that changes the store does first, and changes
    /// nothing else.
    ///
    /// # Errors
    /// [`Error::StoreLocked`], [`Error::StoreCorrupt`] or [`Error::Io`].
    pub fn recover(&self) -> Result<()> {
        Transaction::begin(&self.root, self.options.lock_wait_ms).map(drop)
    }

    /// The generation in force.
    ///
    /// # Errors
    /// [`Error::StoreCorrupt`] or [`Error::Io`].
    pub fn generation(&self) -> Result<Generation> {
        Ok(self.root.state()?.generation)
    }

    /// The trust in force.
    ///
    /// # Errors
    /// [`Error::StoreCorrupt`] or [`Error::Io`].
    pub fn trust(&self) -> Result<TrustStore> {
        Ok(self.root.state()?.trust)
    }

    /// Every installed version, ascending by id and version, each verified under today's trust; then those of the store
    /// below.
    ///
    /// # Errors
    /// [`Error::StoreCorrupt`] or [`Error::Io`] for the store itself; a package's own error is in its row.
    pub fn list(&self) -> Result<Vec<ListedPackage>> {
        let rows = |state: &State| -> Vec<ListedPackage> {
            let installed = state.generation.installed();
            let row = installed.map(|(id, version, installed)| ListedPackage {
                id: id.clone(),
                version: version.clone(),
                enabled: state.generation.enabled_version(id) == Some(version),
                below: false,
                held_back: state.generation.is_held_back(id, version),
                floor: state.generation.floor(id),
                installed_gen: installed.installed_gen,
                manifest_sha256: installed.manifest,
                recorded: self.root.recorded(state, installed),
                package: InstalledPackage::open(&self.root, state, id, version, installed),
            });
            row.collect()
        };
        let is_whole = |rows: &Vec<ListedPackage>| rows.iter().all(|row| row.package.is_ok());
        let mut rows = self.read(rows, is_whole)?;
        let Some(below) = &self.below else {
            return Ok(rows);
        };
        let here = self.generation()?;
        for mut row in below.list()? {
            row.below = true;
            row.enabled = row.enabled && here.enabled_version(&row.id).is_none();
            rows.push(row);
        }
        Ok(rows)
    }

    /// Who serves each operation, runner and device by default. Where two stores have a name, the upper one's package
    /// serves it.
    ///
    /// # Errors
    /// [`Error::StoreCorrupt`] or [`Error::Io`].
    pub fn active(&self) -> Result<Vec<(ProvidedName, Active)>> {
        let state = self.root.state()?;
        let mut active = match &self.below {
            Some(below) => below.active()?.into_iter().collect(),
            None => BTreeMap::new(),
        };
        active.retain(|_, provider: &mut Active| {
            state.generation.enabled_version(&provider.id).is_none()
        });
        active.extend(state.generation.active);
        Ok(active.into_iter().collect())
    }

    /// Every enabled package, ascending by id, with those of the store below that this one doesn't replace. One that
    /// fails verification fails the call: an enabled package is never left out silently.
    ///
    /// # Errors
    /// The first package's refusal, [`Error::StoreCorrupt`] or [`Error::Io`].
    pub fn enabled(&self) -> Result<Vec<InstalledPackage>> {
        let mut packages = self.enabled_here(&[], false)?;
        if let Some(below) = &self.below {
            let more = below.enabled_here(&packages, true)?;
            packages.extend(more);
            packages.sort_by(|a, b| a.id().cmp(b.id()));
        }
        Ok(packages)
    }

    /// The enabled packages of this store alone, but for those that `above` replaces. `below` says whether it is the
    /// store below another one.
    fn enabled_here(
        &self,
        above: &[InstalledPackage],
        below: bool,
    ) -> Result<Vec<InstalledPackage>> {
        let open = |state: &State| {
            let enabled = state.generation.all_enabled();
            enabled
                .filter(|(id, ..)| above.iter().all(|package| package.id() != *id))
                .map(|(id, version, installed)| {
                    let opened = InstalledPackage::open(&self.root, state, id, version, installed);
                    opened.map_err(|error| Error::EnabledRefused {
                        id: id.clone(),
                        version: Box::new(version.clone()),
                        below,
                        error: Box::new(error),
                    })
                })
                .collect()
        };
        self.read(open, Result::is_ok)?
    }

    /// Reads what the state in force names. Starts again, up to three times, where that isn't whole and another state
    /// is in force by then: a writer may have deleted what the older one named.
    fn read<T>(&self, read: impl Fn(&State) -> T, is_whole: impl Fn(&T) -> bool) -> Result<T> {
        let mut attempt = 1;
        loop {
            let state = self.root.state()?;
            let found = read(&state);
            if is_whole(&found) || attempt == LEASE_ATTEMPTS || self.root.head()? == state.head {
                return Ok(found);
            }
            attempt += 1;
        }
    }

    /// Who says that they have a package of this store: notes of sessions, some of which may have been killed.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn sessions(&self) -> Result<Vec<LeaseNote>> {
        lease::notes(&self.root, None)
    }

    /// Holds `package` for a session. Take the lease before the package is opened.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the version is no longer the enabled one: read [`Self::enabled`] again,
    /// or use [`Self::enabled_with_leases`], which does.
    pub fn lease(&self, package: &InstalledPackage, session_name: &str) -> Result<Lease> {
        let lease = Lease::take(package, session_name)?;
        // Section 12: only now is it known that no writer switched between reading and locking. A package of the
        // store below knows that store.
        let state = package.root().state()?;
        match state.generation.enabled(package.id()) {
            Some((_, installed)) if installed.manifest == package.manifest_digest() => Ok(lease),
            _ => Err(Error::NotFound {
                what: format!(
                    "{} {} as an enabled package",
                    package.id(),
                    package.version()
                ),
                next: "Another command changed the selection meanwhile; try again".to_owned(),
            }),
        }
    }

    /// Every enabled package with a lease on it, all of one selection. Starts again, up to three times,
    /// when a writer changes the selection meanwhile.
    ///
    /// # Errors
    /// As [`Self::enabled`] and [`Self::lease`].
    pub fn enabled_with_leases(
        &self,
        session_name: &str,
    ) -> Result<Vec<(InstalledPackage, Lease)>> {
        let mut attempt = 1;
        loop {
            let packages = self.enabled()?;
            let leased = packages.into_iter().map(|package| {
                let lease = self.lease(&package, session_name)?;
                Ok((package, lease))
            });
            match leased.collect() {
                Err(Error::NotFound { .. }) if attempt < LEASE_ATTEMPTS => attempt += 1,
                other => return other,
            }
        }
    }

    /// The store has the format this crate knows; it is made if it may be.
    fn ensure_format(&self) -> Result<()> {
        let head_missing = |store: &Self| match store.root.fs.open(&Head::path()) {
            Ok(_) => Ok(false),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(store.root.io("open", &Head::path())(error)),
        };
        if head_missing(self)? {
            if !self.options.create {
                return Err(no_store(&self.root.path));
            }
            let _lock = WriterLock::take(&self.root, self.options.lock_wait_ms)?;
            // Another process may have made it while this one waited.
            if head_missing(self)? {
                create::create(&self.root, system_time_s())?;
            }
        }
        let path = StorePath::fixed("FORMAT");
        let found = self
            .root
            .fs
            .read(&path, SMALL_FILE_MAX_BYTES)
            .map_err(self.root.io("read", &path))?;
        match found == create::FORMAT.as_bytes() {
            true => Ok(()),
            false => Err(Error::StoreCorrupt {
                path: path.under(&self.root.path),
                detail: "the store has another format than this guild knows".to_owned(),
                next: "Use the guild that made it",
            }),
        }
    }
}

impl Default for StoreOptions {
    /// Makes a missing store, and waits ten seconds for another command.
    fn default() -> Self {
        Self {
            create: true,
            lock_wait_ms: 10_000,
            shared: false,
        }
    }
}

fn no_store(path: &Path) -> Error {
    Error::NotFound {
        what: format!("a package store at {}", path.display()),
        next:
            "`guild kernel trust add KEY.json --scope PREFIX` makes one; GUILD_DATA_DIR says where"
                .to_owned(),
    }
}

/// Only the owner may write to the root, and the owner is this user or root.
pub(crate) fn check_root(fs: &RealFs, path: &Path) -> Result<()> {
    let metadata = fs
        .root()
        .and_then(|root| root.metadata())
        .map_err(Error::io("read", path))?;
    let owner = metadata.uid();
    let own = rustix::process::geteuid().as_raw();
    let unsafe_because = |detail: String, next: String| Error::StoreUnsafe {
        path: path.to_owned(),
        detail,
        next,
    };
    if owner != 0 && owner != own {
        let detail = format!("it belongs to user {owner}, neither to you nor to root");
        let next = "Work as its owner, or name a folder of your own with --data-dir";
        return Err(unsafe_because(detail, next.to_owned()));
    }
    match metadata.mode() & 0o022 {
        0 => Ok(()),
        _ => Err(unsafe_because(
            "others than its owner may write to it".to_owned(),
            format!("If nobody has, `chmod go-w {}`", path.display()),
        )),
    }
}
