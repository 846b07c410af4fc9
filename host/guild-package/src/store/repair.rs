//! `install` of a version that is installed: files that are missing or damaged are written again. What is installed stays
//! usable when its key is retired, its floor rises or its time ends, so it stays mendable too.

use std::fs::File;
use std::sync::Arc;

use crate::digest::Digest;
use crate::envelope::Envelope;
use crate::error::{Error, Result};
use crate::limits::ENVELOPE_MAX_BYTES;
use crate::store::Store;
use crate::store::generation::VersionState;
use crate::store::install::{Installed, Parts, count_lacking, put_parts};
use crate::store::installed::InstalledPackage;
use crate::store::lease;
use crate::store::state::State;
use crate::store::transaction::Transaction;
use crate::verify::{AuthorizedManifest, KnownPackage, Occasion, VerifiedPackage, system_time_s};

impl Store {
    /// The bundle is good, and its version is installed. An envelope with more signatures than the one in force, or in place
    /// of one that no longer suffices, takes its place.
    pub(super) fn install_again(
        &self,
        mut transaction: Transaction<'_>,
        package: &VerifiedPackage,
        before: &VersionState,
        dry_run: bool,
    ) -> Result<Installed> {
        let offered = Digest::of(package.authorized().envelope_bytes());
        let is_other = offered != before.envelope;
        let state = transaction.state();
        let mut installed = Installed::before(state, package);
        let replaces = is_other && self.is_better(state, package, before)?;
        let mut next = state.successor("install", &offered, system_time_s())?;
        let mut parts = Parts::of(package);
        if is_other && !replaces {
            parts.envelope = None;
        }
        installed.files_restored = self.restore(&mut transaction, &parts, package, dry_run)?;
        if replaces {
            // The new envelope itself was never lost.
            installed.files_restored = installed.files_restored.saturating_sub(1);
            installed.signatures_replaced = true;
            if let Some(kept) = next.version_mut(&installed.id, &installed.version) {
                kept.envelope = offered;
            }
        }
        if replaces && !dry_run {
            installed.generation = transaction.commit(&next)?.n;
        }
        Ok(installed)
    }

    /// The bundle was refused as a new one. Where its version is installed and loads all the same, files of it that are
    /// missing or damaged are written again, and nothing else changes; else `refusal` stands.
    pub(super) fn repair(
        &self,
        mut transaction: Transaction<'_>,
        staged: File,
        dry_run: bool,
        refusal: Error,
    ) -> Result<Installed> {
        let state = transaction.state();
        let repairable = match is_asked_of_new_ones_only(&refusal) {
            true => self.repairable(state, staged),
            false => None,
        };
        let Some((known, is_in_force)) = repairable else {
            return Err(refusal);
        };
        let package = known.package();
        let mut installed = Installed::before(state, package);
        installed.refused_as_new = Some(Arc::new(refusal));
        let mut parts = Parts::of(package);
        if !is_in_force {
            parts.envelope = None;
        }
        installed.files_restored = self.restore(&mut transaction, &parts, package, dry_run)?;
        Ok(installed)
    }

    /// The bundle, if it has the manifest of an installed version that loads once its files are whole; and whether its
    /// envelope is the one in force.
    fn repairable(&self, state: &State, staged: File) -> Option<(KnownPackage, bool)> {
        let installed_gen = |manifest: Digest| {
            let mut installed = state.generation.installed();
            let found = installed.find(|(.., version)| version.manifest == manifest);
            found.map(|(.., version)| version.installed_gen)
        };
        let known = KnownPackage::check(staged, &state.trust, installed_gen).ok()??;
        let package = known.package();
        let manifest = package.manifest();
        let before = state.generation.version(&manifest.id, &manifest.version)?;
        let authorized = package.authorized();
        let is_in_force = Digest::of(authorized.envelope_bytes()) == before.envelope;
        if !is_in_force {
            // It stays, so it is the one that has to suffice.
            let envelope = self.root.meta(before.envelope, ENVELOPE_MAX_BYTES).ok()?;
            let bytes = authorized.manifest_bytes().to_vec();
            let occasion = Occasion::Load {
                installed_gen: before.installed_gen,
            };
            AuthorizedManifest::check(bytes, envelope, &state.trust, occasion).ok()?;
        }
        Some((known, is_in_force))
    }

    /// Writes what is missing or damaged, but not in a dry run. How many files that are.
    fn restore(
        &self,
        transaction: &mut Transaction<'_>,
        parts: &Parts<'_>,
        package: &VerifiedPackage,
        dry_run: bool,
    ) -> Result<usize> {
        if dry_run {
            return count_lacking(transaction, parts);
        }
        let restored = put_parts(transaction, parts)?;
        lease::prepare(&self.root, package.manifest_digest())?;
        Ok(restored)
    }

    fn is_better(
        &self,
        state: &State,
        package: &VerifiedPackage,
        before: &VersionState,
    ) -> Result<bool> {
        let manifest = package.manifest();
        let (id, version) = (&manifest.id, &manifest.version);
        match InstalledPackage::open(&self.root, state, id, version, before) {
            Err(error @ Error::Io { .. }) => return Err(error),
            Err(_) => return Ok(true),
            Ok(_) => {}
        }
        let count = |bytes: &[u8]| -> Result<usize> {
            let envelope = Envelope::decode(bytes)?;
            Ok(envelope.signatures.len() + envelope.countersignatures.len())
        };
        let old = self.root.meta(before.envelope, ENVELOPE_MAX_BYTES)?;
        Ok(count(package.authorized().envelope_bytes())? > count(&old)?)
    }
}

/// Whether a bundle that is refused so may be good as at load: steps 8.8 to 8.14 ask more of a new one. What the caller
/// expects, step 8.7, holds then.
fn is_asked_of_new_ones_only(refusal: &Error) -> bool {
    matches!(
        refusal,
        Error::ScopeDenied { .. }
            | Error::KeyRevoked { .. }
            | Error::Expired { .. }
            | Error::ThresholdNotMet { .. }
            | Error::EpochBelowFloor { .. }
            | Error::PublisherChanged { .. }
    )
}
