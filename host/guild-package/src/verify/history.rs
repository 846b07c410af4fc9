//! Steps 8.12 to 8.14: what a package store remembers of a package's past, and what it refuses because of it.

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::key::KeyId;
use crate::limits::EPOCH_RISE_MAX;
use crate::manifest::Manifest;
use crate::name::{PackageId, PackageVersion};
use crate::trust::{KeyStatus, Right, TrustStore, TrustedKey};

/// What a package store knows about a package's past.
pub(crate) trait History {
    /// The lowest acceptable security epoch.
    fn floor(&self, id: &PackageId) -> u64;
    /// The highest security epoch that any publisher may release.
    fn epoch_ceiling(&self, id: &PackageId) -> u64 {
        self.floor(id).saturating_add(EPOCH_RISE_MAX)
    }
    /// The manifest this version was first installed with.
    fn pin(&self, id: &PackageId, version: &PackageVersion) -> Option<Digest>;
    /// The keys pinned at first install; empty before it.
    fn signers(&self, id: &PackageId) -> Vec<KeyId>;
    /// The newest time any command has seen.
    fn time_seen(&self) -> u64;
}

/// Step 8.12: the epoch floor.
pub(crate) fn check_floor(manifest: &Manifest, history: &dyn History) -> Result<()> {
    let floor = history.floor(&manifest.id);
    match manifest.security_epoch < floor {
        false => Ok(()),
        true => Err(Error::EpochBelowFloor {
            id: manifest.id.clone(),
            version: manifest.version.clone(),
            epoch: manifest.security_epoch,
            floor,
        }),
    }
}

/// Step 8.12: an epoch far above the floor would, once the floor follows it, leave no number for later releases. It
/// needs a signer that may raise epochs.
pub(super) fn check_rise(
    manifest: &Manifest,
    publishers: &[&TrustedKey],
    history: &dyn History,
) -> Result<()> {
    let floor = history.floor(&manifest.id);
    let ceiling = history.epoch_ceiling(&manifest.id);
    let may_raise = |key: &&&TrustedKey| key.authorize(Right::Epoch, manifest).is_ok();
    let is_modest = manifest.security_epoch <= ceiling;
    match (is_modest, publishers.first()) {
        (false, Some(key)) if !publishers.iter().any(|key| may_raise(&key)) => {
            let epoch = manifest.security_epoch;
            Err(key.denied(
                Right::Epoch,
                manifest,
                format!("epoch {epoch} is more than {EPOCH_RISE_MAX} above the floor {floor}, which needs the right epoch"),
            ))
        }
        _ => Ok(()),
    }
}

/// Steps 8.12 and 8.13: epoch floor, then the permanent pin of a version to its first manifest.
pub(super) fn check_history(
    manifest: &Manifest,
    digest: Digest,
    history: &dyn History,
) -> Result<()> {
    let (id, version) = (&manifest.id, &manifest.version);
    check_floor(manifest, history)?;
    match history.pin(id, version) {
        Some(pinned) if pinned != digest => Err(Error::VersionImmutable {
            id: id.clone(),
            version: Box::new(version.clone()),
            pinned,
            offered: digest,
        }),
        _ => Ok(()),
    }
}

/// Step 8.14: a later release comes from somebody who signed the first one, or whose key followed such a key.
pub(super) fn check_publisher(
    manifest: &Manifest,
    publishers: &[&TrustedKey],
    trust: &TrustStore,
    history: &dyn History,
) -> Result<()> {
    let pinned = history.signers(&manifest.id);
    let offered: Vec<KeyId> = publishers.iter().map(|key| key.id).collect();
    if pinned.is_empty() || offered.iter().any(|key| trust.descends(*key, &pinned)) {
        return Ok(());
    }
    let line = trust.descendants(&pinned);
    let is_rotatable = |key: &KeyId| {
        let key = trust.key(key);
        key.is_some_and(|key| {
            key.status == KeyStatus::Active && key.authorize(Right::Rotate, manifest).is_ok()
        })
    };
    let may_hand_on = line.iter().copied().find(is_rotatable);
    Err(Error::PublisherChanged {
        id: manifest.id.clone(),
        followed_by: line
            .into_iter()
            .filter(|key| !pinned.contains(key))
            .collect(),
        pinned,
        offered,
        may_hand_on: may_hand_on.map(Box::new),
    })
}

/// The memory of a machine that never installed anything.
pub(super) struct NoHistory;

impl History for NoHistory {
    fn floor(&self, _: &PackageId) -> u64 {
        0
    }
    fn epoch_ceiling(&self, _: &PackageId) -> u64 {
        u64::MAX
    }
    fn pin(&self, _: &PackageId, _: &PackageVersion) -> Option<Digest> {
        None
    }
    fn signers(&self, _: &PackageId) -> Vec<KeyId> {
        Vec::new()
    }
    fn time_seen(&self) -> u64 {
        0
    }
}
