//! What the graph is handed in place of a loader: the providers that packages have registered.
//!
//! This crate opens no library and knows no store. Whoever wires the program together implements [`Registry`].

use core::fmt;

pub use crate::call::{PluginTable, RunnerTable};
use crate::report::ProviderIdentity;

/// The registered providers. Answers don't change while a plan is made.
pub trait Registry {
    /// The providers of an operation, the preferred one first: installed packages before built-in
    /// ones, then by rank, then by package id. A provider of other versions may be listed; it is
    /// refused with its range.
    fn operations(&self, name: &str, version: u32) -> Vec<Candidate>;

    /// Every runner of every package.
    fn runners(&self) -> Vec<RunnerCandidate>;
}

/// Which package, exactly.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct PackageIdentity {
    /// Package id: `org.guild.kernels.cpu`.
    pub id: String,
    /// Package version, SemVer.
    pub version: String,
    /// SHA-256 of the signed content as hex; `None` for a built-in package.
    pub digest: Option<String>,
    /// Whether the package is linked into the program.
    pub builtin: bool,
}

impl fmt::Display for PackageIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.id, self.version)?;
        if self.builtin {
            write!(f, " (built-in)")?;
        }
        Ok(())
    }
}

/// One provider of an operation, as its package described it.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The package.
    pub package: PackageIdentity,
    /// Implementation id: `cpu.rms_norm.avx512`.
    pub implementation: String,
    /// The package's functions.
    pub table: PluginTable,
    /// Number of the operation in the package's own list.
    pub index: u32,
    /// First version served.
    pub op_min: u32,
    /// Last version served.
    pub op_max: u32,
    /// The package's own order; higher is preferred. For reports: the registry has applied it.
    pub rank: i32,
    /// `GUILD_CAP_*` bits.
    pub caps: [u64; 2],
    /// `GUILD_PHASE_*` bits.
    pub phases: u32,
    /// `GUILD_CLASS_*`.
    pub exactness: u32,
    /// SHA-256 of the contract's canonical text that the provider was built against.
    pub contract: [u8; 32],
}

impl Candidate {
    /// Package and implementation, for reports.
    #[must_use]
    pub fn identity(&self) -> ProviderIdentity {
        ProviderIdentity {
            package: self.package.clone(),
            implementation: self.implementation.clone(),
        }
    }
}

/// One architecture runner, as its package described it.
#[derive(Clone, Debug)]
pub struct RunnerCandidate {
    /// The package.
    pub package: PackageIdentity,
    /// Runner id: `guild.runner.qwen3_5_moe.v1`.
    pub id: String,
    /// Architecture names that it may match, for messages.
    pub architectures: Vec<String>,
    /// The package's functions, for their first argument.
    pub table: PluginTable,
    /// The package's `guild.runner/1` extension.
    pub runner: RunnerTable,
    /// Number of the runner in the package's own list.
    pub index: u32,
}
