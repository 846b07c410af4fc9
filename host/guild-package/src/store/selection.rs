//! Which version of a package is loaded: `enable`, `disable` and `rollback`. Each writes a new generation; numbers
//! never go back, so nobody can replay an old state by asking for it (`docs/package-format.md`, section 13).

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::manifest::Manifest;
use crate::name::{PackageId, PackageVersion};
use crate::preflight;
use crate::store::Store;
use crate::store::generation::{Active, ActiveMode, Generation};
use crate::store::installed::{InstalledPackage, incompatible};
use crate::store::lease::Held;
use crate::store::state::{Head, State};
use crate::store::transaction::Transaction;
use crate::verify::{History as _, system_time_s};

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
    /// The generation in force afterwards.
    pub generation: u64,
    /// Whether a generation was written; not where it was so already.
    pub changed: bool,
}

/// Where `rollback` goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RollbackOptions {
    /// To what this generation had enabled; absent, to the version before.
    pub to_generation: Option<u64>,
    /// Don't let an install enable a version up to the one that is left behind.
    pub pin: bool,
}

#[derive(Serialize)]
struct Arguments<'a> {
    id: &'a PackageId,
    version: Option<&'a PackageVersion>,
    held: Option<&'a PackageVersion>,
}

impl Store {
    /// Enables an installed version; absent, the newest. Sessions that run keep the version they have.
    ///
    /// # Errors
    /// [`Error::NotFound`]; what loading would refuse, under today's trust; [`Error::EpochBelowFloor`],
    /// [`Error::DependencyMissing`]; [`Error::StoreLocked`], [`Error::StoreCorrupt`] and [`Error::Io`].
    pub fn enable(&self, id: &PackageId, version: Option<&PackageVersion>) -> Result<Selected> {
        let transaction = Transaction::begin(&self.root, self.options.lock_wait_ms)?;
        let state = transaction.state();
        let installed = state.generation.packages.get(id);
        let newest = installed.and_then(|package| package.versions.keys().next_back());
        let Some(version) = version.or(newest).cloned() else {
            return Err(not_installed(id, None));
        };
        let package = self.selectable(state, id, &version)?;
        self.select(transaction, "enable", &package, None)
    }

    /// Disables a package: sessions that begin from now on don't load it. Where sessions use it, it is refused, or
    /// they are waited for until `drain` is over; it stays disabled then too.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::StillNeeded`], [`Error::SessionsActive`]; [`Error::StoreLocked`],
    /// [`Error::StoreCorrupt`] and [`Error::Io`].
    pub fn disable(&self, id: &PackageId, drain: Option<Duration>) -> Result<Selected> {
        let transaction = Transaction::begin(&self.root, self.options.lock_wait_ms)?;
        let state = transaction.state();
        let Some((version, installed)) = state.generation.enabled(id) else {
            return match state.generation.packages.contains_key(id) {
                true => Ok(unchanged(id, None, &state.head)),
                false => Err(not_installed(id, None)),
            };
        };
        let (version, manifest) = (version.clone(), installed.manifest);
        self.check_not_needed(state, id)?;
        // Without waiting the lock is held until the commit, so that no session begins meanwhile.
        let _held = match drain {
            Some(_) => None,
            None => Some(Held::take(&self.root, id, &version, manifest)?),
        };
        let mut next = successor(state, "disable", id, None, None)?;
        deselect(&mut next, id);
        self.hand_over(state, &mut next);
        let selected = Selected {
            id: id.clone(),
            previous: Some(version.clone()),
            enabled: None,
            generation: transaction.commit(&next)?.n,
            changed: true,
        };
        if let Some(drain) = drain {
            self.wait_for_sessions(id, &version, manifest, drain)?;
        }
        Ok(selected)
    }

    /// Enables what was enabled before: the version before the current one, or the one of a generation. A second
    /// rollback goes back to where the first one left. Without an id it is the package whose selection changed last.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::RollbackUnavailable`], with the reason and the versions that would do;
    /// [`Error::StoreLocked`], [`Error::StoreCorrupt`] and [`Error::Io`].
    pub fn rollback(&self, id: Option<&PackageId>, options: RollbackOptions) -> Result<Selected> {
        let transaction = Transaction::begin(&self.root, self.options.lock_wait_ms)?;
        let state = transaction.state();
        let id = match id {
            Some(id) => id.clone(),
            None => self.last_selected(state)?.ok_or_else(|| Error::NotFound {
                what: "a change of selection to take back".to_owned(),
                next: "`guild kernel log` lists what changed the store".to_owned(),
            })?,
        };
        let id = &id;
        let Some(package) = state.generation.packages.get(id) else {
            return Err(not_installed(id, None));
        };
        let target = match options.to_generation {
            Some(n) => {
                let past = self.root.past_generation(state, n)?;
                past.enabled(id).map(|(version, _)| version.clone())
            }
            None => {
                let others = package.history.iter().rev();
                let mut others = others.filter(|version| package.enabled.as_ref() != Some(version));
                others.next().cloned()
            }
        };
        let unavailable = |wanted: Option<&PackageVersion>, reason: String| {
            Err(Error::RollbackUnavailable {
                id: id.clone(),
                wanted: wanted.cloned(),
                reason,
                possible: self.possible_versions(state, id),
            })
        };
        let Some(target) = target else {
            let reason = match options.to_generation {
                Some(n) => format!("generation {n} had no version of it enabled"),
                None => "no other version of it was ever enabled".to_owned(),
            };
            return unavailable(None, reason);
        };
        match self.selectable(state, id, &target) {
            Ok(package) => {
                let left = state
                    .generation
                    .enabled(id)
                    .map(|(version, _)| version.clone());
                let held = left.filter(|_| options.pin);
                self.select(transaction, "rollback", &package, held)
            }
            Err(error @ (Error::StoreCorrupt { .. } | Error::Io { .. })) => Err(error),
            Err(error) => unavailable(Some(&target), error.to_string()),
        }
    }

    /// Commits `package` as the enabled version of its id.
    fn select(
        &self,
        transaction: Transaction<'_>,
        op: &'static str,
        package: &InstalledPackage,
        held: Option<PackageVersion>,
    ) -> Result<Selected> {
        let state = transaction.state();
        let (id, version) = (package.id(), package.version());
        let previous = state
            .generation
            .enabled(id)
            .map(|(version, _)| version.clone());
        if previous.as_ref() == Some(version) && held.is_none() {
            return Ok(unchanged(id, previous, &state.head));
        }
        let mut next = successor(state, op, id, Some(version), held.as_ref())?;
        if let Some(held) = held {
            next.held.insert(id.clone(), held);
        }
        select_version(&mut next, package.manifest());
        self.hand_over(state, &mut next);
        Ok(Selected {
            id: id.clone(),
            previous,
            enabled: Some(version.clone()),
            generation: transaction.commit(&next)?.n,
            changed: true,
        })
    }

    /// An installed version that may be enabled: under today's trust, not below the floor, for this host, with its
    /// dependencies, and whole.
    pub(super) fn selectable(
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
        let floor = state.generation.floor(id);
        if manifest.security_epoch < floor {
            return Err(Error::EpochBelowFloor {
                id: id.clone(),
                version: version.clone(),
                epoch: manifest.security_epoch,
                floor,
            });
        }
        if manifest.plugin().is_none() {
            return Err(incompatible(manifest));
        }
        preflight::check_host(manifest)?;
        for artifact in package.artifacts() {
            package
                .open_artifact(&artifact)?
                .copy_verified(|_| Ok(()))?;
        }
        super::install::check_dependencies(self, state, manifest)?;
        Ok(package)
    }

    /// The installed versions that could be enabled now, ascending.
    fn possible_versions(&self, state: &State, id: &PackageId) -> Vec<PackageVersion> {
        let package = state.generation.packages.get(id);
        let versions = package
            .into_iter()
            .flat_map(|package| package.versions.keys());
        versions
            .filter(|version| self.selectable(state, id, version).is_ok())
            .cloned()
            .collect()
    }

    /// No enabled package depends on `id`.
    pub(super) fn check_not_needed(&self, state: &State, id: &PackageId) -> Result<()> {
        let enabled = self.loadable_in(state);
        let needs_it = |package: &&InstalledPackage| {
            package.id() != id && package.manifest().depends.iter().any(|need| need.id == *id)
        };
        match enabled.iter().find(needs_it) {
            Some(other) => Err(Error::StillNeeded {
                id: id.clone(),
                by: other.id().clone(),
            }),
            None => Ok(()),
        }
    }

    /// Gives names that nobody serves in `next` to the enabled package that was installed last among those that
    /// provide them.
    pub(super) fn hand_over(&self, state: &State, next: &mut Generation) {
        let mut enabled = self.loadable_in(state);
        enabled.retain(|package| {
            let stays = next.enabled(package.id());
            stays.is_some_and(|(version, _)| version == package.version())
        });
        enabled.sort_by_key(InstalledPackage::installed_gen);
        for package in enabled.iter().rev() {
            for name in package.manifest().provided_names() {
                let entry = next.active.entry(name.clone());
                entry.or_insert_with(|| automatic(package.manifest()));
            }
        }
    }

    /// The enabled packages that verify. One that doesn't can't be loaded; it must not keep others from being
    /// changed, nor itself from being disabled.
    fn loadable_in(&self, state: &State) -> Vec<InstalledPackage> {
        let ids = state.generation.packages.keys();
        let enabled = ids.filter_map(|id| Some((id, state.generation.enabled(id)?)));
        enabled
            .filter_map(|(id, (version, installed))| {
                InstalledPackage::open(&self.root, state, id, version, installed).ok()
            })
            .collect()
    }

    /// Waits until nobody holds the version, at most `drain`.
    fn wait_for_sessions(
        &self,
        id: &PackageId,
        version: &PackageVersion,
        manifest: Digest,
        drain: Duration,
    ) -> Result<()> {
        let deadline = Instant::now() + drain;
        loop {
            match Held::take(&self.root, id, version, manifest) {
                Err(Error::SessionsActive { .. }) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(DRAIN_POLL_MS));
                }
                Err(Error::SessionsActive {
                    id,
                    version,
                    sessions,
                    ..
                }) => {
                    return Err(Error::SessionsActive {
                        id,
                        version,
                        sessions,
                        next: "It is disabled, and no new session gets it; these end on it",
                    });
                }
                other => return other.map(drop),
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
    let arguments = Arguments { id, version, held };
    let now_s = system_time_s();
    state
        .generation
        .successor(state.head.sha256, op, &arguments, now_s)
}

/// Makes `manifest`'s version the enabled one of its package, and the one that serves its names.
pub(super) fn select_version(generation: &mut Generation, manifest: &Manifest) {
    let package = generation.packages.entry(manifest.id.clone()).or_default();
    package.enabled = Some(manifest.version.clone());
    package.history.push(manifest.version.clone());
    activate(generation, manifest);
}

/// Leaves no version of `id` enabled, and nothing served by it.
pub(super) fn deselect(generation: &mut Generation, id: &PackageId) {
    if let Some(package) = generation.packages.get_mut(id) {
        package.enabled = None;
    }
    generation.active.retain(|_, active| active.id != *id);
}

/// Names the enabled version provides point to it, names it no longer provides point nowhere, and what a
/// person chose stays.
fn activate(generation: &mut Generation, manifest: &Manifest) {
    generation
        .active
        .retain(|_, active| active.mode == ActiveMode::Manual || active.id != manifest.id);
    for name in manifest.provided_names() {
        let chosen_by_hand = generation
            .active
            .get(name)
            .is_some_and(|active| active.mode == ActiveMode::Manual);
        if !chosen_by_hand {
            generation.active.insert(name.clone(), automatic(manifest));
        }
    }
}

fn automatic(manifest: &Manifest) -> Active {
    Active {
        id: manifest.id.clone(),
        version: manifest.version.clone(),
        mode: ActiveMode::Auto,
    }
}

fn unchanged(id: &PackageId, enabled: Option<PackageVersion>, head: &Head) -> Selected {
    Selected {
        id: id.clone(),
        previous: enabled.clone(),
        enabled,
        generation: head.n,
        changed: false,
    }
}

pub(super) fn not_installed(id: &PackageId, version: Option<&PackageVersion>) -> Error {
    let version = version.map_or_else(String::new, |version| format!(" {version}"));
    Error::NotFound {
        what: format!("{id}{version} in the package store"),
        next: "`guild kernel list` shows what is installed".to_owned(),
    }
}
