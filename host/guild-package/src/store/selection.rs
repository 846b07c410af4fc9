//! Which version of a package is loaded: `enable`, `disable` and `rollback`. Each writes a new generation; numbers
//! never go back, so nobody can replay an old state by asking for it (`docs/package-format.md`, section 13).

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::name::{PackageId, PackageVersion};
use crate::preflight;
use crate::probe::{self, Probe, Probed, Subject};
use crate::receipt::{Grounds, Receipt};
use crate::store::Store;
use crate::store::generation::Generation;
use crate::store::installed::{InstalledPackage, incompatible};
use crate::store::lease::{self, Held, LeaseNote};
use crate::store::lock::WriterLock;
use crate::store::providers::{deselect, select_version};
use crate::store::state::State;
use crate::store::transaction::Transaction;
use crate::verify::{check_floor, system_time_s};

/// How often a session that is waited for is looked at.
const DRAIN_POLL_MS: u64 = 20;

/// What a change of selection did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    /// The package.
    pub id: PackageId,
    /// The version that was enabled before.
    pub previous: Option<PackageVersion>,
    /// The version that is enabled now.
    pub enabled: Option<PackageVersion>,
    /// The version up to which an install enables none, since a rollback was pinned.
    pub held: Option<PackageVersion>,
    /// The generation in force afterwards.
    pub generation: u64,
    /// Whether a generation was written; not where it was so already.
    pub changed: bool,
    /// What the trial run found; absent where no version was enabled or nothing changed.
    pub probed: Option<Probed>,
    /// Digest of the receipt of what is enabled now.
    pub receipt: Option<Digest>,
    /// Versions that sessions have though the package was disabled already.
    pub in_use: Vec<InUse>,
}

/// A version that sessions have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InUse {
    /// The version.
    pub version: PackageVersion,
    /// Who has it, as far as they said.
    pub sessions: Vec<LeaseNote>,
}

/// Where `rollback` goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RollbackOptions {
    /// To what this generation had enabled; absent, to the version before.
    pub to_generation: Option<u64>,
    /// Don't let an install enable a version up to the one that is left behind.
    pub pin: bool,
}

/// An installed version, as `rollback` sees it.
#[derive(Debug)]
pub struct Candidate {
    /// The package.
    pub id: PackageId,
    /// The version.
    pub version: PackageVersion,
    /// Whether it is the enabled one.
    pub enabled: bool,
    /// Whether it was ever enabled.
    pub was_enabled: bool,
    /// Whether a pinned rollback keeps an install of it from enabling it.
    pub held_back: bool,
    /// Why it can't be enabled now, if it can't.
    pub refusal: Option<Error>,
}

/// Why a rollback leads nowhere.
#[derive(Debug, thiserror::Error)]
enum Unavailable {
    /// There is no version to go to.
    #[error("{reason}")]
    NoTarget { reason: String, next: String },
    /// It may not be enabled.
    #[error("{0}")]
    Refused(Box<Error>),
}

impl Unavailable {
    fn next_step(&self) -> String {
        match self {
            Self::NoTarget { next, .. } => next.clone(),
            Self::Refused(error) => error.next_step(),
        }
    }
}

#[derive(Serialize)]
struct Arguments<'a> {
    id: &'a PackageId,
    version: Option<&'a PackageVersion>,
    held: Option<&'a PackageVersion>,
}

impl Store {
    /// Enables an installed version; absent, the newest. Sessions that run keep the version they have. `probe`
    /// runs its code first, unless it is the enabled one.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::ProbeFailed`]; what loading would refuse, under today's trust; [`Error::EpochBelowFloor`],
    /// [`Error::DependencyMissing`], [`Error::StillNeeded`]; [`Error::StoreLocked`], [`Error::StoreCorrupt`] and
    /// [`Error::Io`].
    pub fn enable(
        &self,
        id: &PackageId,
        version: Option<&PackageVersion>,
        probe: &dyn Probe,
    ) -> Result<Selected> {
        let transaction = Transaction::begin(&self.root, self.options.lock_wait_ms)?;
        let state = transaction.state();
        let newest = || state.generation.newest_version(id);
        let Some(version) = version.or_else(newest).cloned() else {
            return Err(not_installed(id, None));
        };
        let package = self.selectable(state, id, &version)?;
        self.select(transaction, "enable", &package, None, probe)
    }

    /// Disables a package: sessions that begin from now on don't load it. Where sessions use the version, it is
    /// refused. With `drain` it is disabled all the same, and sessions with any version of the package are waited for.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::StillNeeded`], [`Error::SessionsActive`]; [`Error::StoreLocked`],
    /// [`Error::StoreCorrupt`] and [`Error::Io`].
    pub fn disable(&self, id: &PackageId, drain: Option<Duration>) -> Result<Selected> {
        let transaction = Transaction::begin(&self.root, self.options.lock_wait_ms)?;
        let state = transaction.state();
        let Some(installed) = state.generation.packages.get(id) else {
            return Err(not_installed(id, None));
        };
        let all = installed.versions.iter();
        let all: Vec<_> = all
            .map(|(version, it)| (version.clone(), it.manifest))
            .collect();
        let previous = state.generation.enabled_version(id).cloned();
        if previous.is_some() {
            self.check_dependents(state, id, None)?;
        }
        let selected = match (&previous, drain) {
            (None, _) => {
                let mut selected = selected(&state.generation, id, None, false);
                selected.in_use = self.in_use(&all)?;
                drop(transaction);
                selected
            }
            (Some(version), None) => {
                // Held until the commit, so that no session begins meanwhile.
                let manifest = installed.versions[version].manifest;
                let next = "End them first, or wait for them with --drain SECONDS";
                let _held = Held::take(&self.root, id, (version, manifest), next)?;
                self.commit_disabled(transaction, id)?
            }
            (Some(_), Some(_)) => self.commit_disabled(transaction, id)?,
        };
        if let Some(drain) = drain {
            self.wait_for_sessions(id, &all, drain)?;
            return Ok(Selected {
                in_use: Vec::new(),
                ..selected
            });
        }
        Ok(selected)
    }

    /// The versions that sessions have. Under the writer's lock, so that no other command takes them for a moment.
    fn in_use(&self, versions: &[(PackageVersion, Digest)]) -> Result<Vec<InUse>> {
        let mut found = Vec::new();
        for (version, manifest) in versions {
            if lease::is_in_use(&self.root, *manifest)? {
                found.push(InUse {
                    version: version.clone(),
                    sessions: lease::notes(&self.root, Some(*manifest))?,
                });
            }
        }
        Ok(found)
    }

    fn commit_disabled(&self, transaction: Transaction<'_>, id: &PackageId) -> Result<Selected> {
        let state = transaction.state();
        let mut next = successor(state, "disable", id, None, None)?;
        deselect(&mut next, id);
        self.hand_over(state, &mut next)?;
        let previous = state.generation.enabled_version(id).cloned();
        transaction.commit(&next)?;
        Ok(selected(&next, id, previous, true))
    }

    /// Enables what was enabled before: the version before the current one, or the one of a generation. A second
    /// rollback goes back to where the first one left. Without an id it is the package whose selection changed last.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a package or generation that isn't there; [`Error::NothingSelected`];
    /// [`Error::RollbackUnavailable`], with the reason and the versions that would do; [`Error::ProbeFailed`];
    /// [`Error::Usage`] for a pin where no version is left behind; [`Error::StoreLocked`], [`Error::StoreCorrupt`] and
    /// [`Error::Io`].
    pub fn rollback(
        &self,
        id: Option<&PackageId>,
        options: RollbackOptions,
        probe: &dyn Probe,
    ) -> Result<Selected> {
        let transaction = Transaction::begin(&self.root, self.options.lock_wait_ms)?;
        let state = transaction.state();
        let id = match id {
            Some(id) => id.clone(),
            None => self.last_selected(state)?.ok_or(Error::NothingSelected)?,
        };
        let target = self.rollback_target(state, &id, options)?;
        let left = state.generation.enabled_version(&id).cloned();
        let left = left.filter(|left| *left != target);
        if options.pin && left.is_none() {
            return Err(Error::usage(
                format!("no version of {id} is left behind that could be held back"),
                "Roll back without --pin",
            ));
        }
        match self.selectable(state, &id, &target) {
            Ok(package) => {
                let held = left.filter(|_| options.pin);
                self.select(transaction, "rollback", &package, held, probe)
            }
            Err(error @ Error::Io { .. }) => Err(error),
            Err(error) => {
                let why = Unavailable::Refused(Box::new(error));
                Err(self.unavailable(state, &id, Some(&target), why))
            }
        }
    }

    fn rollback_target(
        &self,
        state: &State,
        id: &PackageId,
        options: RollbackOptions,
    ) -> Result<PackageVersion> {
        let Some(package) = state.generation.packages.get(id) else {
            return Err(not_installed(id, None));
        };
        if let Some(n) = options.to_generation {
            let past = self.root.past_generation(state, n)?;
            let reason = || format!("generation {n} had no version of it enabled");
            let next = || "`guild kernel log` lists the generations".to_owned();
            return match past.enabled_version(id) {
                Some(version) => Ok(version.clone()),
                None => {
                    let why = Unavailable::NoTarget {
                        reason: reason(),
                        next: next(),
                    };
                    Err(self.unavailable(state, id, None, why))
                }
            };
        }
        let mut earlier = package.history.iter().rev();
        match earlier.find(|version| package.enabled.as_ref() != Some(version)) {
            Some(version) => Ok(version.clone()),
            None => {
                let reason = "no other version of it was ever enabled".to_owned();
                let next = format!("`guild kernel disable {id}` goes on without it");
                Err(self.unavailable(state, id, None, Unavailable::NoTarget { reason, next }))
            }
        }
    }

    fn unavailable(
        &self,
        state: &State,
        id: &PackageId,
        wanted: Option<&PackageVersion>,
        why: Unavailable,
    ) -> Error {
        let package = state.generation.packages.get(id);
        let versions = package
            .into_iter()
            .flat_map(|package| package.versions.keys());
        let possible = versions.filter(|version| self.selectable(state, id, version).is_ok());
        let possible: Vec<PackageVersion> = possible.cloned().collect();
        let enabled = state.generation.enabled_version(id);
        let other = possible.iter().rev().find(|it| Some(*it) != enabled);
        Error::RollbackUnavailable {
            id: id.clone(),
            wanted: wanted.cloned().map(Box::new),
            reason: why.to_string(),
            next: match other {
                Some(other) => format!("`guild kernel enable {id}@{other}` goes to that one"),
                None => why.next_step(),
            },
            possible,
            cause: match why {
                Unavailable::Refused(error) => Some(error),
                Unavailable::NoTarget { .. } => None,
            },
        }
    }

    /// Every installed version of a package, or of all, and whether it could be enabled now.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a package that isn't installed; [`Error::StoreCorrupt`] or [`Error::Io`].
    pub fn candidates(&self, id: Option<&PackageId>) -> Result<Vec<Candidate>> {
        let state = self.root.state()?;
        if let Some(id) = id.filter(|id| !state.generation.packages.contains_key(id)) {
            return Err(not_installed(id, None));
        }
        let installed = state.generation.installed();
        let wanted = installed.filter(|(other, ..)| id.is_none_or(|id| id == *other));
        let candidates = wanted.map(|(id, version, _)| Candidate {
            id: id.clone(),
            version: version.clone(),
            enabled: state.generation.enabled_version(id) == Some(version),
            was_enabled: state.generation.packages[id].history.contains(version),
            held_back: state.generation.is_held_back(id, version),
            refusal: self.selectable(&state, id, version).err(),
        });
        Ok(candidates.collect())
    }

    /// Commits `package`, which is [`Self::selectable`], as the enabled version of its id, and `held` as the version that
    /// installs pass over.
    fn select(
        &self,
        mut transaction: Transaction<'_>,
        op: &'static str,
        package: &InstalledPackage,
        held: Option<PackageVersion>,
        probe: &dyn Probe,
    ) -> Result<Selected> {
        let state = transaction.state();
        let (id, version) = (package.id(), package.version());
        let previous = state.generation.enabled_version(id).cloned();
        let mut next = successor(state, op, id, Some(version), held.as_ref())?;
        select_version(&mut next, package.manifest());
        if let Some(held) = held {
            let before = next.held.get(id);
            let highest = before.filter(|before| **before > held).cloned();
            next.held.insert(id.clone(), highest.unwrap_or(held));
        }
        self.hand_over(state, &mut next)?;
        let is_new = previous.as_ref() != Some(version) || next.held != state.generation.held;
        if !is_new {
            return Ok(selected(&state.generation, id, previous, false));
        }
        let probed = probe::run(probe, &Subject::installed(package))?;
        let grounds = Grounds {
            authorized: package.authorized(),
            trust: &state.trust,
            allow_downgrade: false,
            accept_new_publisher: false,
        };
        let receipt = Receipt::new(&grounds, &probed)?.encode()?;
        if let Some(kept) = next.version_mut(id, version) {
            kept.receipt = Some(Digest::of(&receipt));
        }
        let staged = transaction.stage_meta(&receipt)?;
        transaction.publish(&[staged])?;
        transaction.commit(&next)?;
        Ok(Selected {
            probed: Some(probed),
            ..selected(&next, id, previous, true)
        })
    }

    /// An installed version that may be enabled: under today's trust, not below the floor, for this host, with its
    /// dependencies, whole, and one that the enabled packages which depend on it get along with. Those aren't asked about
    /// the version that is enabled already.
    fn selectable(
        &self,
        state: &State,
        id: &PackageId,
        version: &PackageVersion,
    ) -> Result<InstalledPackage> {
        let Some(installed) = state.generation.version(id, version) else {
            return Err(not_installed(id, Some(version)));
        };
        let package = InstalledPackage::open(&self.root, state, id, version, installed)?;
        let manifest = package.manifest();
        check_floor(manifest, &state.generation)?;
        if manifest.plugin().is_none() {
            return Err(incompatible(manifest));
        }
        preflight::check_host(manifest)?;
        for artifact in package.artifacts() {
            package.check_artifact(&artifact)?;
        }
        super::install::check_dependencies(self, state, manifest)?;
        if state.generation.enabled_version(id) != Some(version) {
            self.check_dependents(state, id, Some(manifest))?;
        }
        Ok(package)
    }

    /// Waits until nobody holds a version of the package, at most `drain`.
    fn wait_for_sessions(
        &self,
        id: &PackageId,
        versions: &[(PackageVersion, Digest)],
        drain: Duration,
    ) -> Result<()> {
        // A time that can't be reached isn't waited for in vain: it is for ever.
        let deadline = Instant::now().checked_add(drain);
        loop {
            // Under the writer's lock, so that no other command takes this look for a session.
            let lock = WriterLock::take(&self.root, self.options.lock_wait_ms)?;
            let is_disabled = self.root.state()?.generation.enabled_version(id).is_none();
            let next = match is_disabled {
                true => {
                    "It is disabled, and no new session gets it; the same command waits for these again"
                }
                false => "Another command has enabled it again meanwhile; disable it again",
            };
            let mut versions = versions.iter();
            let free = versions.try_for_each(|(version, manifest)| {
                Held::take(&self.root, id, (version, *manifest), next).map(drop)
            });
            drop(lock);
            let is_over = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            match free {
                Err(Error::SessionsActive { .. }) if is_disabled && !is_over => {
                    std::thread::sleep(Duration::from_millis(DRAIN_POLL_MS));
                }
                other => return other,
            }
        }
    }
}

/// The next generation, unchanged as yet but for what every change of selection does.
fn successor(
    state: &State,
    op: &'static str,
    id: &PackageId,
    version: Option<&PackageVersion>,
    held: Option<&PackageVersion>,
) -> Result<Generation> {
    state.successor(op, &Arguments { id, version, held }, system_time_s())
}

fn selected(
    generation: &Generation,
    id: &PackageId,
    previous: Option<PackageVersion>,
    changed: bool,
) -> Selected {
    Selected {
        id: id.clone(),
        previous,
        enabled: generation.enabled_version(id).cloned(),
        held: generation.held.get(id).cloned(),
        generation: generation.n,
        changed,
        probed: None,
        receipt: generation.enabled(id).and_then(|(_, state)| state.receipt),
        in_use: Vec::new(),
    }
}

pub(super) fn not_installed(id: &PackageId, version: Option<&PackageVersion>) -> Error {
    let version = version.map_or_else(String::new, |version| format!(" {version}"));
    Error::NotFound {
        what: format!("{id}{version} in the package store"),
        next: "`guild kernel list` shows what is installed".to_owned(),
    }
}
