//! The trial run: a package's code runs once, apart from the host, before the package becomes active.
//!
//! This crate decides when: after every check of the bytes, before anything is committed. Who runs the code
//! is a [`Probe`] that the caller hands in; the loader has the one that uses a child process. There is no
//! default: whoever calls `install`, `enable` or `rollback` names a probe, and every package has code for
//! the machine that it is installed on, so there is none to leave out.

mod report;

use crate::digest::{Digest, Hasher};
use crate::error::{Error, Result};
use crate::manifest::{Artifact, Manifest, Role};
use crate::store::InstalledPackage;
use crate::store::incompatible;
use crate::text::PlainText;
use crate::verify::VerifiedPackage;

pub use report::{
    Answer, DescribedOperation, Descriptor, GoldenResult, ProbeReport, Refusal, Sandbox,
};

/// Runs a package's code apart from the host.
pub trait Probe {
    /// Runs `subject` and says what it found. The store compares the report with the signed manifest.
    ///
    /// # Errors
    /// [`Error::ProbeFailed`] if the code crashes, hangs, refuses or computes something else than it
    /// should, or if it could not be run at all.
    fn probe(&self, subject: &Subject<'_>) -> Result<Probed>;
}

/// What a trial run found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    /// What kept the code from the rest of the system.
    pub sandbox: Sandbox,
    /// Whether it would have been refused with less.
    pub sandbox_required: bool,
    /// What the plugin said and computed.
    pub report: ProbeReport,
    /// What in the host's surroundings could put other code beside verified code: names, no values.
    pub ambient: Vec<PlainText>,
}

/// A package that is to be tried: its verified manifest, and bytes that are compared with their digests
/// whenever they are read. Only the store makes one.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    manifest: &'a Manifest,
    manifest_bytes: &'a [u8],
    source: Source<'a>,
}

#[derive(Clone, Copy)]
enum Source<'a> {
    /// The store's private copy of a bundle.
    Staged(&'a VerifiedPackage),
    /// Objects of the store.
    Installed(&'a InstalledPackage),
}

impl<'a> Subject<'a> {
    pub(crate) fn staged(package: &'a VerifiedPackage) -> Self {
        Self {
            manifest: package.manifest(),
            manifest_bytes: package.authorized().manifest_bytes(),
            source: Source::Staged(package),
        }
    }

    pub(crate) fn installed(package: &'a InstalledPackage) -> Self {
        Self {
            manifest: package.manifest(),
            manifest_bytes: package.manifest_bytes(),
            source: Source::Installed(package),
        }
    }

    /// The signed manifest.
    #[must_use]
    pub const fn manifest(&self) -> &'a Manifest {
        self.manifest
    }

    /// The bytes that were signed.
    #[must_use]
    pub const fn manifest_bytes(&self) -> &'a [u8] {
        self.manifest_bytes
    }

    /// The plugin for this machine.
    ///
    /// # Errors
    /// [`Error::Incompatible`].
    pub fn plugin(&self) -> Result<&'a Artifact> {
        match self.manifest.plugin() {
            Some((_, artifact)) => Ok(artifact),
            None => Err(incompatible(self.manifest)),
        }
    }

    /// The files with golden vectors, in the manifest's order.
    pub fn golden(&self) -> impl Iterator<Item = &'a Artifact> {
        golden_artifacts(self.manifest)
    }

    /// Hands the bytes of an artifact to `sink` in pieces. They are the signed ones only if this returns `Ok`.
    ///
    /// # Errors
    /// [`Error::DigestMismatch`] if they are others; [`Error::Io`] if reading or `sink` fails.
    pub fn copy(
        &self,
        artifact: &Artifact,
        mut sink: impl FnMut(&[u8]) -> std::io::Result<()>,
    ) -> Result<()> {
        match self.source {
            Source::Staged(package) => {
                let mut hasher = Hasher::default();
                package.read_artifact(artifact, |piece| {
                    hasher.update(piece);
                    sink(piece).map_err(Error::io("copy", artifact.path.as_str()))
                })?;
                match hasher.finish() {
                    (found, _) if found == artifact.sha256 => Ok(()),
                    (found, _) => Err(changed(artifact, found)),
                }
            }
            Source::Installed(package) => package.object(artifact)?.copy_verified(sink),
        }
    }

    /// A trial run of this package that failed.
    #[must_use]
    pub fn failed(&self, reason: impl Into<String>, next: &'static str) -> Error {
        Error::ProbeFailed {
            id: self.manifest.id.clone(),
            version: Box::new(self.manifest.version.clone()),
            reason: reason.into(),
            next,
        }
    }
}

/// The files with golden vectors, in the manifest's order.
pub fn golden_artifacts(manifest: &Manifest) -> impl Iterator<Item = &Artifact> {
    let artifacts = manifest.artifacts.iter();
    artifacts.filter(|artifact| artifact.role == Role::Golden)
}

/// Runs the probe, and compares what it found with the signed manifest.
pub(crate) fn run(probe: &dyn Probe, subject: &Subject<'_>) -> Result<Probed> {
    let probed = probe.probe(subject)?;
    match probed.report.differs_from(subject.manifest) {
        None => Ok(probed),
        Some(difference) => Err(subject.failed(
            difference,
            "The publisher must build and sign the same release",
        )),
    }
}

fn changed(artifact: &Artifact, found: Digest) -> Error {
    Error::staged_changed(artifact.path.to_string(), artifact.sha256, found)
}
