//! The rules of a manifest that its field types do not already hold (`docs/package-format.md`, section 4.2).

use std::collections::BTreeSet;

use crate::bundle::{ENVELOPE_NAME, MANIFEST_NAME};
use crate::error::{Error, Result};
use crate::limits::{
    BUNDLE_MAX_BYTES, BUNDLE_MAX_ENTRIES, GOLDEN_MAX_BYTES, LIST_MAX, TOLERANCE_MAX,
};
use crate::manifest::{Artifact, MANIFEST_SCHEMA, Manifest, Role, SIGNATURE_SCHEME};

impl Manifest {
    /// Checks every rule.
    ///
    /// # Errors
    /// [`Error::Malformed`] naming the rule.
    pub(super) fn check(&self) -> Result<()> {
        ensure(self.schema == MANIFEST_SCHEMA, "schema is not 1")?;
        let scheme_known = (1..=SIGNATURE_SCHEME).contains(&self.min_scheme);
        ensure(scheme_known, "min_scheme is not 1")?;
        ensure(
            self.abi.host_min <= self.abi.host_max,
            "abi.host_min is above abi.host_max",
        )?;
        let expires_later = self
            .expires_at
            .is_none_or(|expires| expires > self.issued_at);
        ensure(expires_later, "expires_at is not after issued_at")?;
        self.check_list_lengths()?;
        self.check_names()?;
        self.check_artifacts()?;
        self.check_plugins()?;
        self.check_golden()
    }

    fn check_list_lengths(&self) -> Result<()> {
        let lengths = [
            self.targets.len(),
            self.provides.len(),
            self.runners.len(),
            self.devices.len(),
            self.golden.len(),
            self.depends.len(),
            self.provenance
                .as_ref()
                .map_or(0, |provenance| provenance.materials.len()),
        ];
        ensure(
            lengths.iter().all(|length| *length <= LIST_MAX),
            "a list is longer than 1024",
        )?;
        ensure(!self.targets.is_empty(), "targets is empty")?;
        // Two entries of a bundle are the manifest and the envelope.
        let artifacts_fit = self.artifacts.len() <= BUNDLE_MAX_ENTRIES - 2;
        ensure(artifacts_fit, "there are more than 254 artifacts")
    }

    fn check_names(&self) -> Result<()> {
        let operations = self.provides.iter().map(|operation| &operation.op);
        ensure(
            operations.clone().all(|op| op.is_operation()),
            "an operation has no @N",
        )?;
        let plain = self
            .runners
            .iter()
            .chain(&self.devices)
            .all(|name| !name.is_operation());
        ensure(plain, "a runner or device id has an @N")?;
        for operation in &self.provides {
            let twins = self
                .provides
                .iter()
                .filter(|other| other.op == operation.op && other.layout == operation.layout);
            ensure(
                twins.count() == 1,
                "provides lists one operation and layout twice",
            )?;
        }
        let singular = self
            .runners
            .iter()
            .chain(&self.devices)
            .collect::<BTreeSet<_>>()
            .len();
        let distinct = singular == self.runners.len() + self.devices.len();
        ensure(distinct, "a runner or device is listed twice")?;
        let depends = self
            .depends
            .iter()
            .map(|dependency| &dependency.id)
            .collect::<BTreeSet<_>>();
        ensure(
            depends.len() == self.depends.len(),
            "a dependency is listed twice",
        )?;
        ensure(!depends.contains(&self.id), "the package depends on itself")?;
        ensure(
            self.replaces.as_ref() != Some(&self.id),
            "the package replaces itself",
        )
    }

    fn check_artifacts(&self) -> Result<()> {
        let ascending = self.artifacts.is_sorted_by(|a, b| a.path < b.path);
        ensure(ascending, "artifact paths are not strictly ascending")?;
        for artifact in &self.artifacts {
            let reserved = [MANIFEST_NAME, ENVELOPE_NAME].contains(&artifact.path.as_str());
            ensure(!reserved, "an artifact has a reserved name")?;
            ensure(
                artifact.size <= BUNDLE_MAX_BYTES,
                "an artifact is larger than a bundle",
            )?;
            let target_known = artifact
                .target
                .is_none_or(|index| index < self.targets.len() as u64);
            ensure(target_known, "an artifact's target is not in targets")?;
            let is_plugin = artifact.role == Role::Plugin;
            ensure(
                artifact.elf.is_some() == is_plugin,
                "elf is present exactly for plugins",
            )?;
            let is_ptx = artifact.role == Role::Ptx;
            ensure(
                artifact.ptx.is_some() == is_ptx,
                "ptx is present exactly for PTX artifacts",
            )?;
        }
        Ok(())
    }

    /// Each target has exactly one plugin, so "which library is loaded here" has one answer.
    fn check_plugins(&self) -> Result<()> {
        let plugins = |index: u64| {
            let of_target = |artifact: &&Artifact| {
                artifact.role == Role::Plugin && artifact.target == Some(index)
            };
            self.artifacts.iter().filter(of_target).count()
        };
        for (index, target) in self.targets.iter().enumerate() {
            ensure(
                plugins(index as u64) == 1,
                "a target does not have exactly one plugin",
            )?;
            let same_machine = |other: &&crate::manifest::Target| {
                other.os == target.os && other.arch == target.arch
            };
            let twins = self.targets.iter().filter(same_machine).count();
            ensure(twins == 1, "two targets have one os and arch")?;
        }
        let placed = self
            .artifacts
            .iter()
            .all(|artifact| artifact.role != Role::Plugin || artifact.target.is_some());
        ensure(placed, "a plugin has no target")
    }

    fn check_golden(&self) -> Result<()> {
        let is_small = |artifact: &Artifact| {
            artifact.role != Role::Golden || artifact.size <= GOLDEN_MAX_BYTES
        };
        let small = self.artifacts.iter().all(is_small);
        ensure(small, "a file of golden vectors is larger than 1 MiB")?;
        for golden in &self.golden {
            let provided = self
                .provides
                .iter()
                .any(|operation| operation.op == golden.op);
            ensure(
                provided,
                "golden names an operation that provides does not list",
            )?;
            let tolerable = golden.tolerance <= TOLERANCE_MAX;
            ensure(
                tolerable,
                "a golden vector allows an error above one per cent",
            )?;
            let has_vector = self.artifacts.iter().any(|artifact| {
                artifact.role == Role::Golden && artifact.sha256 == golden.vector_sha256
            });
            ensure(has_vector, "golden names a vector that is not an artifact")?;
        }
        Ok(())
    }
}

fn ensure(holds: bool, broken: &'static str) -> Result<()> {
    match holds {
        true => Ok(()),
        false => Err(Error::malformed("manifest.json", broken)),
    }
}
