//! `install`: verify a private copy of the bundle, write its parts, and commit a generation in which the
//! version is installed and enabled.

use std::path::Path;

use serde::Serialize;

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
use crate::verify::{Occasion, Signer, VerifiedPackage, VerifyOptions};

/// What the caller allows and expects.
#[derive(Clone, Debug, Default)]
pub struct InstallOptions {
    /// Expected package, and the time.
    pub verify: VerifyOptions,
    /// Accept a version older than the newest installed one. Never goes below the epoch floor.
    pub allow_downgrade: bool,
    /// Accept other publishers than those of the first install.
    pub accept_new_publisher: bool,
}

/// What an install did.
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
    /// How many of its files were missing or damaged and are whole again; 0 for a first install.
    pub files_restored: usize,
    /// The version that was enabled before.
    pub previous: Option<PackageVersion>,
    /// The version that is enabled now: another one where a rollback was pinned.
    pub enabled: Option<PackageVersion>,
    /// The version up to which an install enables none, since a rollback was pinned.
    pub held: Option<PackageVersion>,
    /// The keys that counted.
    pub signers: Vec<Signer>,
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
    /// written again. Otherwise `probe` runs the code of the verified bytes before anything is committed.
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
        // Step 10.2: the source is opened once; after the copy nothing looks at its path again.
        let source = outside::open_regular(bundle_path)?;
        let mut transaction = Transaction::begin(&self.root, self.options.lock_wait_ms)?;
        let staged = transaction.stage_copy(&source, BUNDLE_MAX_BYTES)?;
        // Step 10.3.
        let state = transaction.state();
        let occasion = Occasion::Install {
            options: &options.verify,
            history: &state.generation,
            accept_new_publisher: options.accept_new_publisher,
        };
        let package = VerifiedPackage::check(staged, &state.trust, occasion)?;
        let manifest = package.manifest();
        let enabled = state.generation.enabled(&manifest.id);
        let before = state.generation.version(&manifest.id, &manifest.version);
        let mut installed = Installed {
            id: manifest.id.clone(),
            version: manifest.version.clone(),
            manifest_digest: package.manifest_digest(),
            generation: state.head.n,
            already_installed: before.is_some(),
            files_restored: 0,
            previous: enabled.map(|(version, _)| version.clone()),
            enabled: enabled.map(|(version, _)| version.clone()),
            held: state.generation.held.get(&manifest.id).cloned(),
            signers: package.signers().to_vec(),
            probed: None,
            receipt: before.and_then(|before| before.receipt),
        };
        if installed.already_installed {
            installed.files_restored = put_parts(&mut transaction, &package, None)?;
            return Ok(installed);
        }
        if !options.allow_downgrade {
            check_not_older(manifest, &state.generation)?;
        }
        check_host(manifest)?;
        check_dependencies(self, state, manifest)?;
        let mut generation = self.compose(state, &package, options)?;
        let probed = probe::run(probe, &Subject::staged(&package))?;
        let receipt = receipt(state, &package, options, &probed)?;
        installed.probed = Some(probed);
        installed.receipt = Some(Digest::of(&receipt));
        generation.set_receipt(&installed.id, &installed.version, Digest::of(&receipt));
        put_parts(&mut transaction, &package, Some(&receipt))?;
        if self.root.fs.is_shared() {
            lease::prepare(&self.root, package.manifest_digest())?;
        }
        installed.enabled = generation.enabled_version(&installed.id).cloned();
        installed.held = generation.held.get(&installed.id).cloned();
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
        // Whoever rolled back and pinned wants nothing enabled until there is something newer.
        let is_held = next
            .held
            .get(&manifest.id)
            .is_some_and(|held| manifest.version <= *held);
        if !is_held {
            self.check_dependents(state, &manifest.id, Some(manifest))?;
            select_version(&mut next, manifest);
        }
        self.hand_over(state, &mut next)?;
        Ok(next)
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

/// Why the package is accepted.
fn receipt(
    state: &State,
    package: &VerifiedPackage,
    options: &InstallOptions,
    probed: &Probed,
) -> Result<Vec<u8>> {
    let grounds = Grounds {
        manifest: package.manifest(),
        manifest_sha256: package.manifest_digest(),
        envelope_sha256: Digest::of(package.authorized().envelope_bytes()),
        signers: package.signers(),
        trust: &state.trust,
        allow_downgrade: options.allow_downgrade,
        accept_new_publisher: options.accept_new_publisher,
    };
    Receipt::new(&grounds, probed)?.encode()
}

/// Steps 10.4 to 10.6. Returns how many files the store lacked.
fn put_parts(
    transaction: &mut Transaction<'_>,
    package: &VerifiedPackage,
    receipt: Option<&[u8]>,
) -> Result<usize> {
    let (objects, meta) = stage_parts(transaction, package, receipt)?;
    failpoint::reach(Boundary::Staged); // B1
    transaction.publish(&objects)?;
    failpoint::reach(Boundary::ObjectsPublished); // B2
    transaction.publish(&meta)?;
    failpoint::reach(Boundary::MetaPublished); // B3
    Ok(objects
        .iter()
        .chain(&meta)
        .filter(|staged| staged.is_new())
        .count())
}

/// Step 10.4: artifacts for `objects/`, then manifest, envelope and receipt for `meta/`.
fn stage_parts(
    transaction: &mut Transaction<'_>,
    package: &VerifiedPackage,
    receipt: Option<&[u8]>,
) -> Result<(Vec<Staged>, Vec<Staged>)> {
    let mut objects = Vec::new();
    for artifact in &package.manifest().artifacts {
        let staged = transaction.stage(Area::Objects, artifact.sha256, artifact.size, |sink| {
            package.read_artifact(artifact, sink)
        })?;
        objects.push(staged);
    }
    let mut meta = Vec::new();
    let signed = package.authorized();
    let signed = [signed.manifest_bytes(), signed.envelope_bytes()];
    for bytes in signed.into_iter().chain(receipt) {
        meta.push(transaction.stage_meta(bytes)?);
    }
    Ok((objects, meta))
}
