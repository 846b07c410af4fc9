//! Paths inside the store (`docs/package-format.md`, section 9), and inside the audit log's folder. Each is built from numbers and digest
//! bytes, so no name from a bundle, a manifest or a command line can become part of one.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::digest::Digest;

/// A path relative to the store's root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StorePath(String);

/// Directories made with the store, parents first.
pub(super) const DIRECTORIES: [&str; 8] = [
    "gen",
    "trust",
    "objects",
    "objects/sha256",
    "meta",
    "meta/sha256",
    "leases",
    "staging",
];

/// Where content-addressed files lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Area {
    /// Artifacts.
    Objects,
    /// Manifests and envelopes.
    Meta,
}

impl StorePath {
    pub(crate) fn root() -> Self {
        Self(".".to_owned())
    }

    /// A path of the fixed layout.
    pub(super) fn fixed(name: &'static str) -> Self {
        Self(name.to_owned())
    }

    pub(super) fn generation(n: u64, digest: Digest) -> Self {
        Self(format!("gen/{n}-{}.json", digest.short()))
    }

    pub(super) fn trust(n: u64) -> Self {
        Self(format!("trust/{n}.json"))
    }

    /// `AREA/sha256/ab`.
    pub(super) fn fan_out(area: Area, digest: Digest) -> Self {
        let hex = digest.to_string();
        Self(format!("{}/{}", area.root(), &hex[..2]))
    }

    /// `AREA/sha256/ab/<62 digits>`.
    pub(super) fn content(area: Area, digest: Digest) -> Self {
        let hex = digest.to_string();
        Self(format!("{}/{}/{}", area.root(), &hex[..2], &hex[2..]))
    }

    pub(super) fn lease_lock(manifest: Digest) -> Self {
        Self(format!("leases/{manifest}.lock"))
    }

    /// The advisory note of one lease on `manifest`.
    pub(super) fn lease_note(manifest: Digest, process: u32, token: u64) -> Self {
        Self(format!("leases/{manifest}.{process}-{token:016x}.json"))
    }

    pub(super) fn staging(token: u64) -> Self {
        Self(format!("staging/{token:016x}"))
    }

    /// A segment of the audit log, in that log's own folder.
    pub(crate) fn audit_segment(number: u32) -> Self {
        Self(format!("{number:08}.log"))
    }

    /// What takes the place of a segment of the audit log once it is whole.
    pub(crate) fn audit_successor() -> Self {
        Self("next.tmp".to_owned())
    }

    /// Whether it lies where artifacts, manifests and envelopes do.
    pub(super) fn is_content(&self) -> bool {
        [Area::Objects, Area::Meta]
            .iter()
            .any(|area| self.0.starts_with(area.root()))
    }

    /// An entry that a directory listing gave, for removal or inspection.
    pub(super) fn listed(&self, name: &str) -> Self {
        Self(format!("{}/{name}", self.0))
    }

    /// A numbered file in a staging directory.
    pub(super) fn staged(&self, index: usize) -> Self {
        Self(format!("{}/{index}", self.0))
    }

    /// The path below `root`, for messages.
    pub(super) fn under(&self, root: &Path) -> PathBuf {
        root.join(&self.0)
    }

    /// Directory and last component.
    pub(super) fn split(&self) -> (&str, &str) {
        self.0.rsplit_once('/').unwrap_or((".", &self.0))
    }

    /// The path, relative to the store's root.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Area {
    pub(super) fn directory(self) -> StorePath {
        StorePath(self.root().to_owned())
    }

    const fn root(self) -> &'static str {
        match self {
            Self::Objects => "objects/sha256",
            Self::Meta => "meta/sha256",
        }
    }
}

impl fmt::Display for StorePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
