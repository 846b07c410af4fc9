//! The signed manifest: what a package is, in one strict JSON text (`docs/package-format.md`, section 4).
//!
//! Its SHA-256 is the package's identity. The types here say only what a manifest means; whether to
//! believe one is decided in [`crate::verify`].

mod check;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::error::Result;
use crate::json;
use crate::name::{
    AbiVersion, ArtifactPath, PackageId, PackageVersion, ProvidedName, VersionRequirement, Word,
};
use crate::text::PlainText;

/// The manifest format this crate reads and writes.
pub const MANIFEST_SCHEMA: u64 = 1;
/// The signature scheme this crate reads and writes.
pub const SIGNATURE_SCHEME: u64 = 1;

/// A whole manifest. A field that may be absent is an `Option`; every list is present, even when empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`MANIFEST_SCHEMA`].
    pub schema: u64,
    /// The lowest signature scheme under which this manifest may be accepted.
    pub min_scheme: u64,
    /// What kind of bundle this is.
    pub kind: Kind,
    /// The package.
    pub id: PackageId,
    /// Its version, for people.
    pub version: PackageVersion,
    /// Its version against rollback attacks: a store may refuse epochs below a floor.
    pub security_epoch: u64,
    /// Who made it.
    pub publisher: PlainText,
    /// When it was signed, in seconds since 1970-01-01 UTC.
    pub issued_at: u64,
    /// When it may no longer be installed, in seconds since 1970-01-01 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// One line for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<PlainText>,
    /// The licence expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<PlainText>,
    /// Which hosts it runs in.
    pub abi: Abi,
    /// The machines it was built for.
    pub targets: Vec<Target>,
    /// Every file of the bundle but manifest and envelope, strictly ascending by path.
    pub artifacts: Vec<Artifact>,
    /// The operations it implements.
    pub provides: Vec<Operation>,
    /// The runners it registers.
    pub runners: Vec<ProvidedName>,
    /// The devices it brings.
    pub devices: Vec<ProvidedName>,
    /// Signed numeric contracts.
    pub golden: Vec<Golden>,
    /// The packages it needs.
    pub depends: Vec<Dependency>,
    /// The package whose place it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<PackageId>,
    /// Where it was built from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
}

/// The two kinds of bundle. They differ in nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Kernels, runners and devices.
    GKernel,
    /// Runtime modules.
    GkModule,
}

/// The range of host ABI versions a package runs in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Abi {
    /// Oldest host.
    pub host_min: AbiVersion,
    /// Newest host it was tested with.
    pub host_max: AbiVersion,
    /// Digest of the ABI tables the package was compiled against, if its SDK states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_hash: Option<Digest>,
}

/// One kind of machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Operating system, such as `linux`.
    pub os: Word,
    /// Processor architecture, such as `x86_64`.
    pub arch: Word,
    /// Instruction sets that must be present.
    pub isa: Vec<Word>,
    /// Processor state that the plugin asks the operating system for in `init`, such as `amx-tile`.
    pub processor_state: Vec<Word>,
    /// GPU compute capabilities times ten, such as 61.
    pub sm: Vec<u64>,
    /// Oldest CUDA driver version times ten, such as 122.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cuda_min: Option<u64>,
}

/// One file of the bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    /// Its entry name.
    pub path: ArtifactPath,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
    /// Its length in bytes.
    pub size: u64,
    /// What it is for.
    pub role: Role,
    /// Index into [`Manifest::targets`]; absent for a file that fits every machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<u64>,
    /// What the library says about itself; present exactly for plugins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elf: Option<ElfFacts>,
    /// What the PTX text says; present exactly for PTX.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptx: Option<PtxFacts>,
}

/// What an artifact is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The shared library with the entry symbol: one for each target.
    Plugin,
    /// Symbols of the stripped library, for debuggers and crash records.
    DebugSymbols,
    /// Text for people.
    Doc,
    /// Golden vectors named by [`Golden::vector_sha256`].
    Golden,
    /// GPU code as PTX text.
    Ptx,
    /// Any other file the plugin reads, such as a cubin.
    Data,
}

/// Facts about a shared library that can be read without running it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElfFacts {
    /// `DT_SONAME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soname: Option<PlainText>,
    /// `DT_NEEDED`, in file order.
    pub needed: Vec<PlainText>,
    /// Functions that run at load: `DT_INIT` and both init arrays.
    pub init_count: u64,
    /// Functions that run at unload: `DT_FINI` and the fini array.
    pub fini_count: u64,
    /// SHA-256 of the GUILD note's descriptor, if the library has the note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note_hash: Option<Digest>,
}

/// Facts about a PTX text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PtxFacts {
    /// The `.target` directive, such as `sm_61`.
    pub target: Word,
    /// The kernels' `.entry` names, in file order.
    pub entries: Vec<PlainText>,
}

/// An operation the package implements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// The operation, `org.name.op@N`.
    pub op: ProvidedName,
    /// The element types or block formats it takes, such as `f32` or `q4_k`.
    pub dtype: Vec<Word>,
    /// The weight layout it takes, such as `row-major`.
    pub layout: Word,
    /// Digest of the operation's contract the package was written to, if its SDK states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract_hash: Option<Digest>,
}

/// A numeric contract: inputs and outputs that the implementation must reproduce.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Golden {
    /// The operation.
    pub op: ProvidedName,
    /// The artifact with role [`Role::Golden`] that holds the vectors.
    pub vector_sha256: Digest,
    /// Allowed relative error in units of 1e-9; 0 asks for equal bits.
    pub tolerance: u64,
}

/// A package this one needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dependency {
    /// The package.
    pub id: PackageId,
    /// Which versions will do.
    pub req: VersionRequirement,
    /// The lowest security epoch that will do.
    pub min_epoch: u64,
}

/// Where a package was built from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The source revision.
    pub source_commit: PlainText,
    /// The build service or machine class.
    pub builder: PlainText,
    /// Digests of what went into the build.
    pub materials: Vec<Digest>,
}

impl Dependency {
    /// Whether this package in this version is what is needed.
    #[must_use]
    pub fn is_met_by(&self, manifest: &Manifest) -> bool {
        manifest.id == self.id
            && self.req.matches(&manifest.version)
            && manifest.security_epoch >= self.min_epoch
    }

    /// Which versions would do, for messages.
    #[must_use]
    pub fn requirement(&self) -> String {
        format!(
            "{} with security epoch {} or higher",
            self.req, self.min_epoch
        )
    }
}

impl Manifest {
    /// Reads and checks a manifest.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`] for any deviation from the format.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let manifest: Self = json::decode("manifest.json", bytes)?;
        manifest.check()?;
        Ok(manifest)
    }

    /// The canonical bytes. A signature covers the bytes that were signed, whatever their spacing;
    /// this is the form `sign` writes.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`] if the manifest breaks a rule of the format.
    pub fn encode(&self) -> Result<Vec<u8>> {
        self.check()?;
        json::encode("manifest.json", self)
    }

    /// Names of everything the package provides: operations, then runners, then devices.
    pub fn provided_names(&self) -> impl Iterator<Item = &ProvidedName> {
        let operations = self.provides.iter().map(|operation| &operation.op);
        operations.chain(&self.runners).chain(&self.devices)
    }

    /// The target and plugin for the machine this host was compiled for.
    #[must_use]
    pub fn plugin(&self) -> Option<(&Target, &Artifact)> {
        let here = |target: &Target| {
            target.os.as_str() == std::env::consts::OS
                && target.arch.as_str() == std::env::consts::ARCH
        };
        let (index, target) = self
            .targets
            .iter()
            .enumerate()
            .find(|(_, target)| here(target))?;
        let is_plugin = |artifact: &&Artifact| {
            artifact.role == Role::Plugin && artifact.target == Some(index as u64)
        };
        Some((target, self.artifacts.iter().find(is_plugin)?))
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::GKernel => "gkernel",
            Self::GkModule => "gkmodule",
        })
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.os, self.arch)
    }
}
