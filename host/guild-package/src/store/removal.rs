//! Taking versions away: `remove` forgets them in the state, `gc` deletes the files that nothing names any more. What
//! the store remembers against old or changed releases stays: pins, floors and publishers.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::digest::Digest;
use crate::error::Result;
use crate::limits::MANIFEST_MAX_BYTES;
use crate::manifest::Manifest;
use crate::name::{PackageId, PackageVersion};
use crate::store::Store;
use crate::store::contents::stored;
use crate::store::failpoint::{self, Boundary};
use crate::store::generation::Generation;
use crate::store::lease::{self, Held};
use crate::store::path::{Area, StorePath};
use crate::store::providers::deselect;
use crate::store::selection::not_installed;
use crate::store::state::Root;
use crate::store::transaction::Transaction;
use crate::verify::system_time_s;

/// What `remove` did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The package.
    pub id: PackageId,
    /// The versions that are gone, ascending.
    pub versions: Vec<PackageVersion>,
    /// The one of them that was enabled.
    pub disabled: Option<PackageVersion>,
    /// Whether no version of the package is left.
    pub was_last: bool,
    /// The generation in force afterwards.
    pub generation: u64,
}

/// What `gc` did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Files that were deleted.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Versions that nothing names but a session still has; their manifests and artifacts stay.
    pub in_use: usize,
}

#[derive(Serialize)]
struct Arguments<'a> {
    id: &'a PackageId,
    versions: &'a [PackageVersion],
}

impl Store {
    /// Removes one version of a package, or all. Their files stay until [`Self::collect_garbage`].
    ///
    /// # Errors
    /// [`crate::Error::NotFound`], [`crate::Error::StillNeeded`], [`crate::Error::SessionsActive`]; [`crate::Error::StoreLocked`],
    /// [`crate::Error::StoreCorrupt`] and [`crate::Error::Io`].
    pub fn remove(&self, id: &PackageId, version: Option<&PackageVersion>) -> Result<Removed> {
        let transaction = Transaction::begin(&self.root, self.options.lock_wait_ms)?;
        let state = transaction.state();
        let package = state.generation.packages.get(id);
        let package = package.ok_or_else(|| not_installed(id, version))?;
        let versions: Vec<PackageVersion> = match version {
            Some(version) if package.versions.contains_key(version) => vec![version.clone()],
            Some(version) => return Err(not_installed(id, Some(version))),
            None => package.versions.keys().cloned().collect(),
        };
        let disabled = package.enabled.clone();
        let disabled = disabled.filter(|enabled| versions.contains(enabled));
        if disabled.is_some() {
            self.check_dependents(state, id, None)?;
        }
        // Held until the commit, so that no session begins with a version that goes.
        let manifests = versions.iter().map(|version| {
            let installed = &package.versions[version];
            (version, installed.manifest)
        });
        let next = "End them first; `guild kernel disable ID --drain SECONDS` waits for them";
        let _held = Held::take_all(&self.root, id, manifests, next)?;
        let arguments = Arguments {
            id,
            versions: &versions,
        };
        let mut next = state.successor("remove", &arguments, system_time_s())?;
        if disabled.is_some() {
            deselect(&mut next, id);
        }
        let was_last = forget(&mut next, id, &versions);
        self.hand_over(state, &mut next)?;
        Ok(Removed {
            id: id.clone(),
            versions,
            disabled,
            was_last,
            generation: transaction.commit(&next)?.n,
        })
    }

    /// Deletes what the state in force doesn't name: artifacts, manifests and envelopes of versions that were removed
    /// and of changes that never committed. What a session has stays. Generations and trust files stay too: they are
    /// the journal.
    ///
    /// # Errors
    /// [`crate::Error::StoreLocked`]; [`crate::Error::StoreCorrupt`] where a manifest that is in force or in use can't be read, since
    /// then nobody knows what it names; [`crate::Error::Io`].
    pub fn collect_garbage(&self) -> Result<Collected> {
        let transaction = Transaction::begin(&self.root, self.options.lock_wait_ms)?;
        let mut named = Named::by(&self.root, &transaction.state().generation)?;
        let mut collected = Collected::default();
        // Nobody gets a lease on a manifest that isn't in force: a look is enough.
        for digest in stored(&self.root, Area::Meta)?.0 {
            if !named.meta.contains(&digest) && lease::is_in_use(&self.root, digest)? {
                let bytes = self.root.meta(digest, MANIFEST_MAX_BYTES)?;
                named.add_artifacts(&Manifest::decode(&bytes)?);
                named.meta.insert(digest);
                collected.in_use += 1;
            }
        }
        for (area, named) in [(Area::Objects, &named.objects), (Area::Meta, &named.meta)] {
            for digest in stored(&self.root, area)?.0 {
                if !named.contains(&digest) {
                    failpoint::reach(Boundary::Collection); // B9
                    collected.bytes += delete(&self.root, area, digest)?;
                    collected.files += 1;
                }
            }
        }
        Ok(collected)
    }
}

/// Takes versions that aren't enabled out of the state. Whether none is left.
fn forget(generation: &mut Generation, id: &PackageId, versions: &[PackageVersion]) -> bool {
    let Some(package) = generation.packages.get_mut(id) else {
        return true;
    };
    package
        .versions
        .retain(|version, _| !versions.contains(version));
    package
        .history
        .retain(|version| !versions.contains(version));
    let was_last = package.versions.is_empty();
    if was_last {
        generation.packages.remove(id);
    }
    was_last
}

/// What a generation names in the store.
struct Named {
    objects: BTreeSet<Digest>,
    meta: BTreeSet<Digest>,
}

impl Named {
    fn by(root: &Root, generation: &Generation) -> Result<Self> {
        let mut named = Self {
            objects: BTreeSet::new(),
            meta: BTreeSet::new(),
        };
        for (_, _, version) in generation.installed() {
            named.meta.extend([version.manifest, version.envelope]);
            named.meta.extend(version.receipt);
            let bytes = root.meta(version.manifest, MANIFEST_MAX_BYTES)?;
            named.add_artifacts(&Manifest::decode(&bytes)?);
        }
        Ok(named)
    }

    fn add_artifacts(&mut self, manifest: &Manifest) {
        let digests = manifest.artifacts.iter().map(|artifact| artifact.sha256);
        self.objects.extend(digests);
    }
}

/// Deletes a file. Its bytes. That isn't made durable: a file that a power loss brings back is whole, and the next
/// collection finds it.
fn delete(root: &Root, area: Area, digest: Digest) -> Result<u64> {
    let path = StorePath::content(area, digest);
    let file = root.fs.open(&path).map_err(root.io("open", &path))?;
    let bytes = file.metadata().map_err(root.io("read", &path))?.len();
    root.fs
        .remove_file(&path)
        .map_err(root.io("remove", &path))?;
    Ok(bytes)
}
