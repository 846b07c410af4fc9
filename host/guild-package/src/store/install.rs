//! `install`: verify a private copy of the bundle, write its parts, and commit a generation in which the
//! version is installed and enabled.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use crate::audit::Unaccepted;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::limits::BUNDLE_MAX_BYTES;
use crate::manifest::Manifest;
use crate::name::{PackageId, PackageVersion};
use crate::outside;
use crate::preflight;
use crate::probe::{self, Probe, Probed, Subject};
use crate::receipt::{Grounds, Receipt};
use crate::store::Store;
use crate::store::failpoint::{self, Boundary};
use crate::store::generation::{Generation, Pin, VersionState};
use crate::store::installed::{InstalledPackage, incompatible};
use crate::store::lease;
use crate::store::path::Area;
use crate::store::providers::select_version;
use crate::store::state::State;
use crate::store::transaction::{Staged, Transaction};
use crate::verify::{Countersigner, Occasion, Signer, VerifiedPackage, VerifyOptions};

/// What the caller allows and expects.
#[derive(Clone, Debug, Default)]
pub struct InstallOptions {
    /// Expected package, and the time.
    pub verify: VerifyOptions,
    /// Accept a version older than the newest installed one. Never goes below the epoch floor.
    pub allow_downgrade: bool,
    /// Accept other publishers than those of the first install.
    pub accept_new_publisher: bool,
    /// Check everything, run the code once, and change nothing.
    pub dry_run: bool,
}

/// What an install did, or would do.
#[derive(Clone, Debug)]
pub struct Installed {
    /// The package.
    pub id: PackageId,
    /// The version.
    pub version: PackageVersion,
    /// Its identity.
    pub manifest_digest: Digest,
    /// The generation in force afterwards.
    pub generation: u64,
    /// Whether the very same manifest was installed before, so that the state was not changed.
    pub already_installed: bool,
    /// Why the bundle would be refused if the version weren't installed; nothing but its files was looked after then.
    pub refused_as_new: Option<Arc<Error>>,
    /// How many of its files were missing or damaged and are whole again, or would be; 0 for a first install.
    pub files_restored: usize,
    /// Whether the bundle's signatures took the place of those that the version was installed with.
    pub signatures_replaced: bool,
    /// The version that was enabled before.
    pub previous: Option<PackageVersion>,
    /// The version that is enabled now: another one where a rollback was pinned.
    pub enabled: Option<PackageVersion>,
    /// The version up to which an install enables none, since a rollback was pinned.
    pub held: Option<PackageVersion>,
    /// The keys that counted.
    pub signers: Vec<Signer>,
    /// Who vouches for the release beside its publishers.
    pub countersigners: Vec<Countersigner>,
    /// What the trial run found; absent where the package was installed already.
    pub probed: Option<Probed>,
    /// Digest of the receipt.
    pub receipt: Option<Digest>,
}

/// What `args_digest` covers.
#[derive(Serialize)]
struct Arguments {
    manifest_sha256: Digest,
    allow_downgrade: bool,
    accept_new_publisher: bool,
}

impl Store {
    /// Installs the bundle at `bundle_path` and enables it. On any error the store's state is as it was.
    /// If the very same package is installed already, only its files that are missing or damaged are
    /// written again, also where the bundle would no longer be accepted as a new one and the version still loads. Otherwise `probe` runs the code of the verified bytes before anything is committed.
    ///
    /// # Errors
    /// Whatever verification refuses; [`Error::ProbeFailed`]; [`Error::DowngradeRefused`], [`Error::DependencyMissing`],
    /// [`Error::Incompatible`], [`Error::HostAbi`]; [`Error::StoreLocked`],
    /// [`Error::StoreCorrupt`] and [`Error::Io`].
    pub fn install(
        &self,
        bundle_path: &Path,
        options: &InstallOptions,
        probe: &dyn Probe,
    ) -> Result<Installed> {
        let installed = self.install_or_name(bundle_path, options, probe);
        installed.map_err(|unaccepted| unaccepted.error)
    }

    /// As [`Self::install`]; a refusal has the digest of the bundle's bytes with it.
    ///
    /// # Errors
    /// As [`Self::install`].
    pub fn install_or_name(
        &self,
        bundle_path: &Path,
        options: &InstallOptions,
        probe: &dyn Probe,
    ) -> Result<Installed, Box<Unaccepted>> {
        // Step 10.2: the source is opened once; after the copy nothing looks at its path again.
        let source = outside::open_regular(bundle_path)?;
        let mut transaction = Transaction::begin(&self.root, self.options.lock_wait_ms)?;
        let staged = transaction.stage_copy(&source, BUNDLE_MAX_BYTES)?;
        let judged = staged.try_clone().map_err(Error::io("open", bundle_path))?;
        let installed = self.install_staged(transaction, staged, options, probe);
        installed.map_err(|error| Unaccepted::of(error, &judged))
    }

    /// Verifies the copy, and installs what it holds.
    fn install_staged(
        &self,
        mut transaction: Transaction<'_>,
        staged: File,
        options: &InstallOptions,
        probe: &dyn Probe,
    ) -> Result<Installed> {
        // Step 10.3.
        let state = transaction.state();
        let occasion = Occasion::Install {
            options: &options.verify,
            history: &state.generation,
            accept_new_publisher: options.accept_new_publisher,
        };
        let kept = staged
            .try_clone()
            .map_err(Error::io("open", "the bundle"))?;
        let package = match VerifiedPackage::check(staged, &state.trust, occasion) {
            Ok(package) => package,
            Err(refusal) => return self.repair(transaction, kept, options.dry_run, refusal),
        };
        let manifest = package.manifest();
        if let Some(before) = state.generation.version(&manifest.id, &manifest.version) {
            let before = *before;
            return self.install_again(transaction, &package, &before, options.dry_run);
        }
        let mut installed = Installed::before(state, &package);
        if !options.allow_downgrade {
            check_not_older(manifest, &state.generation)?;
        }
        check_host(manifest)?;
        check_dependencies(self, state, manifest)?;
        let mut generation = self.compose(state, &package, options)?;
        let (probed, receipt) = try_out(state, &package, options, probe)?;
        installed.probed = Some(probed);
        installed.receipt = Some(Digest::of(&receipt));
        if let Some(kept) = generation.version_mut(&installed.id, &installed.version) {
            kept.receipt = installed.receipt;
        }
        installed.enabled = generation.enabled_version(&installed.id).cloned();
        installed.held = generation.held.get(&installed.id).cloned();
        if options.dry_run {
            return Ok(installed);
        }
        let parts = Parts {
            receipt: Some(&receipt),
            ..Parts::of(&package)
        };
        put_parts(&mut transaction, &parts)?;
        lease::prepare(&self.root, package.manifest_digest())?;
        installed.generation = transaction.commit(&generation)?.n;
        Ok(installed)
    }

    /// Step 10.7: the next generation.
    fn compose(
        &self,
        state: &State,
        package: &VerifiedPackage,
        options: &InstallOptions,
    ) -> Result<Generation> {
        let manifest = package.manifest();
        let arguments = Arguments {
            manifest_sha256: package.manifest_digest(),
            allow_downgrade: options.allow_downgrade,
            accept_new_publisher: options.accept_new_publisher,
        };
        let now_s = options.verify.now_s;
        let mut next = state.successor("install", &arguments, now_s)?;
        let version = VersionState {
            manifest: package.manifest_digest(),
            envelope: Digest::of(package.authorized().envelope_bytes()),
            installed_gen: next.n,
            receipt: None,
        };
        let entry = next.packages.entry(manifest.id.clone()).or_default();
        entry.versions.insert(manifest.version.clone(), version);
        let pin = Pin::new(&manifest.id, &manifest.version);
        next.pins.insert(pin, package.manifest_digest());
        let keys: Vec<_> = package.signers().iter().map(|signer| signer.key).collect();
        let pinned = next.signers.entry(manifest.id.clone()).or_default();
        if !keys.iter().any(|key| pinned.contains(key)) {
            *pinned = keys;
        }
        if !next.is_held_back(&manifest.id, &manifest.version) {
            self.check_dependents(state, &manifest.id, Some(manifest))?;
            select_version(&mut next, manifest);
        }
        self.hand_over(state, &mut next)?;
        Ok(next)
    }
}

impl Installed {
    /// What there is before anything is changed.
    pub(super) fn before(state: &State, package: &VerifiedPackage) -> Self {
        let generation = &state.generation;
        let Manifest { id, version, .. } = package.manifest();
        let before = generation.version(id, version);
        let enabled = generation.enabled_version(id);
        Self {
            id: id.clone(),
            version: version.clone(),
            manifest_digest: package.manifest_digest(),
            generation: state.head.n,
            already_installed: before.is_some(),
            refused_as_new: None,
            files_restored: 0,
            signatures_replaced: false,
            previous: enabled.cloned(),
            enabled: enabled.cloned(),
            held: generation.held.get(id).cloned(),
            signers: package.signers().to_vec(),
            countersigners: package.countersigners().to_vec(),
            probed: None,
            receipt: before.and_then(|before| before.receipt),
        }
    }
}

fn check_not_older(manifest: &Manifest, generation: &Generation) -> Result<()> {
    let newest = generation
        .packages
        .get(&manifest.id)
        .and_then(|state| state.versions.keys().next_back());
    match newest {
        Some(newest) if manifest.version < *newest => Err(Error::DowngradeRefused {
            id: manifest.id.clone(),
            installed: newest.clone(),
            offered: manifest.version.clone(),
        }),
        _ => Ok(()),
    }
}

/// The package is for this host and machine. That its library may be mapped, verification has seen.
fn check_host(manifest: &Manifest) -> Result<()> {
    match manifest.plugin() {
        Some(_) => preflight::check_host(manifest),
        None => Err(incompatible(manifest)),
    }
}

/// Each dependency is enabled, in a version and with an epoch that will do.
pub(super) fn check_dependencies(store: &Store, state: &State, manifest: &Manifest) -> Result<()> {
    for need in &manifest.depends {
        let missing = |found: Option<&PackageVersion>| Error::DependencyMissing {
            id: manifest.id.clone(),
            dependency: need.id.clone(),
            requirement: need.requirement(),
            found: found.cloned(),
        };
        let Some(dependency) = enabled_dependency(store, state, &need.id)? else {
            return Err(missing(None));
        };
        if !need.is_met_by(dependency.manifest()) {
            return Err(missing(Some(dependency.version())));
        }
    }
    Ok(())
}

/// The enabled version of `id`, from the store below where this one has none.
fn enabled_dependency(
    store: &Store,
    state: &State,
    id: &PackageId,
) -> Result<Option<InstalledPackage>> {
    if let Some((version, installed)) = state.generation.enabled(id) {
        return InstalledPackage::open(&store.root, state, id, version, installed).map(Some);
    }
    match store.below() {
        Some(below) => enabled_dependency(below, &below.root.state()?, id),
        None => Ok(None),
    }
}

/// Runs the code of the verified bytes. What it found, and the receipt of all that was asked.
fn try_out(
    state: &State,
    package: &VerifiedPackage,
    options: &InstallOptions,
    probe: &dyn Probe,
) -> Result<(Probed, Vec<u8>)> {
    let probed = probe::run(probe, &Subject::staged(package))?;
    let grounds = Grounds {
        authorized: package.authorized(),
        trust: &state.trust,
        allow_downgrade: options.allow_downgrade,
        accept_new_publisher: options.accept_new_publisher,
    };
    let receipt = Receipt::new(&grounds, &probed)?.encode()?;
    Ok((probed, receipt))
}

/// What an install writes of a bundle.
pub(super) struct Parts<'a> {
    package: &'a VerifiedPackage,
    pub(super) envelope: Option<&'a [u8]>,
    receipt: Option<&'a [u8]>,
}

impl<'a> Parts<'a> {
    /// All of it, and no receipt.
    pub(super) fn of(package: &'a VerifiedPackage) -> Self {
        Self {
            package,
            envelope: Some(package.authorized().envelope_bytes()),
            receipt: None,
        }
    }
}

/// Steps 10.4 to 10.6. Returns how many files the store lacked.
pub(super) fn put_parts(transaction: &mut Transaction<'_>, parts: &Parts<'_>) -> Result<usize> {
    let (objects, meta) = stage_parts(transaction, parts)?;
    failpoint::reach(Boundary::Staged); // B1
    transaction.publish(&objects)?;
    failpoint::reach(Boundary::ObjectsPublished); // B2
    transaction.publish(&meta)?;
    failpoint::reach(Boundary::MetaPublished); // B3
    Ok(lacking(&objects, &meta))
}

/// As [`put_parts`], but for what changes the store.
pub(super) fn count_lacking(transaction: &mut Transaction<'_>, parts: &Parts<'_>) -> Result<usize> {
    let (objects, meta) = stage_parts(transaction, parts)?;
    Ok(lacking(&objects, &meta))
}

fn lacking(objects: &[Staged], meta: &[Staged]) -> usize {
    let staged = objects.iter().chain(meta);
    staged.filter(|staged| staged.is_new()).count()
}

/// Step 10.4: artifacts for `objects/`, then manifest, envelope and receipt for `meta/`.
fn stage_parts(
    transaction: &mut Transaction<'_>,
    parts: &Parts<'_>,
) -> Result<(Vec<Staged>, Vec<Staged>)> {
    let package = parts.package;
    let mut objects = Vec::new();
    for artifact in &package.manifest().artifacts {
        let staged = transaction.stage(Area::Objects, artifact.sha256, artifact.size, |sink| {
            package.read_artifact(artifact, sink)
        })?;
        objects.push(staged);
    }
    let mut meta = Vec::new();
    let manifest = package.authorized().manifest_bytes();
    for bytes in [Some(manifest), parts.envelope, parts.receipt]
        .into_iter()
        .flatten()
    {
        meta.push(transaction.stage_meta(bytes)?);
    }
    Ok((objects, meta))
}
