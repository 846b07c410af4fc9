//! A generation: the whole state of the store in one file that names the hash of the file before. The
//! chain is registry, journal and history at once (`docs/package-format.md`, section 9).

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::json;
use crate::key::KeyId;
use crate::limits::STATE_FILE_MAX_BYTES;
use crate::name::{PackageId, PackageVersion, ProvidedName, Word};
use crate::text::Invalid;
use crate::verify::History;

const GENERATION: &str = "the generation file";

/// The content of a generation file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generation {
    /// Always 1.
    pub schema: u64,
    /// Position in the chain, from 0.
    pub n: u64,
    /// Digest of generation `n - 1`; [`Digest::NONE`] for generation 0.
    pub prev: Digest,
    /// The command that made it.
    pub op: Word,
    /// Digest of the command's arguments.
    pub args_digest: Digest,
    /// The trust file in force.
    pub trust: TrustReference,
    /// Installed packages.
    pub packages: BTreeMap<PackageId, PackageState>,
    /// Which package serves each operation, runner and device by default.
    pub active: BTreeMap<ProvidedName, Active>,
    /// The first manifest of each version that was ever installed; never shrinks.
    pub pins: BTreeMap<Pin, Digest>,
    /// The lowest acceptable security epoch by package; never falls.
    pub floors: BTreeMap<PackageId, u64>,
    /// By package the version up to which an install enables none: a rollback was pinned.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub held: BTreeMap<PackageId, PackageVersion>,
    /// The publishers pinned by package.
    pub signers: BTreeMap<PackageId, Vec<KeyId>>,
    /// The newest time any command has seen, in seconds since 1970-01-01 UTC.
    pub time_seen: u64,
}

/// Names a trust file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustReference {
    /// Its number.
    pub n: u64,
    /// Its digest.
    pub sha256: Digest,
}

/// The installed versions of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackageState {
    /// By version.
    pub versions: BTreeMap<PackageVersion, VersionState>,
    /// The version that is loaded, if any.
    pub enabled: Option<PackageVersion>,
    /// Versions that were enabled, oldest first.
    pub history: Vec<PackageVersion>,
}

/// One installed version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionState {
    /// Digest of its manifest, the identity.
    pub manifest: Digest,
    /// Digest of its envelope.
    pub envelope: Digest,
    /// The generation that installed it.
    pub installed_gen: u64,
    /// Digest of the receipt of its last acceptance; absent if that was before there were receipts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Digest>,
}

/// Who serves a name, and who decided so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Active {
    /// The package.
    pub id: PackageId,
    /// Its version.
    pub version: PackageVersion,
    /// Whether an install may change it.
    pub mode: ActiveMode,
}

/// Who decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ActiveMode {
    /// The newest install that provides the name.
    Auto,
    /// A person; an install never changes it.
    Manual,
}

/// A version of a package, written `id@version`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pin {
    /// The package.
    pub id: PackageId,
    /// The version.
    pub version: PackageVersion,
}

impl Generation {
    /// Generation 0 over the empty trust file.
    pub(super) fn first(trust: TrustReference, time_seen: u64) -> Result<Self> {
        Ok(Self {
            schema: 1,
            n: 0,
            prev: Digest::NONE,
            op: operation("init")?,
            args_digest: Digest::of(b"{}"),
            trust,
            packages: BTreeMap::new(),
            active: BTreeMap::new(),
            pins: BTreeMap::new(),
            floors: BTreeMap::new(),
            held: BTreeMap::new(),
            signers: BTreeMap::new(),
            time_seen,
        })
    }

    /// An installed version, to change what is kept of it.
    pub(super) fn version_mut(
        &mut self,
        id: &PackageId,
        version: &PackageVersion,
    ) -> Option<&mut VersionState> {
        self.packages.get_mut(id)?.versions.get_mut(version)
    }

    /// A copy to change, as the successor of this generation, whose file has `digest`.
    pub(super) fn successor(
        &self,
        digest: Digest,
        op: &str,
        args: &impl Serialize,
        now_s: u64,
    ) -> Result<Self> {
        Ok(Self {
            n: self.n + 1,
            prev: digest,
            op: operation(op)?,
            args_digest: Digest::of(&json::encode("the command's arguments", args)?),
            time_seen: self.time_seen.max(now_s),
            ..self.clone()
        })
    }

    /// Reads a generation file.
    ///
    /// # Errors
    /// [`Error::Malformed`] for any deviation.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let generation: Self = json::decode_canonical(GENERATION, bytes)?;
        generation.check()?;
        Ok(generation)
    }

    /// The file's bytes.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the state contradicts itself or is too large.
    pub fn encode(&self) -> Result<Vec<u8>> {
        self.check()?;
        let bytes = json::encode(GENERATION, self)?;
        match bytes.len() as u64 > STATE_FILE_MAX_BYTES {
            true => Err(Error::malformed(GENERATION, "it is too large")),
            false => Ok(bytes),
        }
    }

    /// Whether a version of the package is or was installed.
    #[must_use]
    pub fn knows(&self, id: &PackageId) -> bool {
        self.packages.contains_key(id) || self.pins.keys().any(|pin| pin.id == *id)
    }

    /// The installed version with this id and version.
    #[must_use]
    pub fn version(&self, id: &PackageId, version: &PackageVersion) -> Option<&VersionState> {
        self.packages.get(id)?.versions.get(version)
    }

    /// The enabled version of a package.
    #[must_use]
    pub fn enabled(&self, id: &PackageId) -> Option<(&PackageVersion, &VersionState)> {
        let state = self.packages.get(id)?;
        state.versions.get_key_value(state.enabled.as_ref()?)
    }

    /// The enabled version of a package, alone.
    #[must_use]
    pub fn enabled_version(&self, id: &PackageId) -> Option<&PackageVersion> {
        self.enabled(id).map(|(version, _)| version)
    }

    /// Every installed version, ascending by id and version.
    pub fn installed(&self) -> impl Iterator<Item = (&PackageId, &PackageVersion, &VersionState)> {
        self.packages.iter().flat_map(|(id, package)| {
            let versions = package.versions.iter();
            versions.map(move |(version, installed)| (id, version, installed))
        })
    }

    /// Every enabled version, ascending by id.
    pub fn all_enabled(
        &self,
    ) -> impl Iterator<Item = (&PackageId, &PackageVersion, &VersionState)> {
        let ids = self.packages.keys();
        ids.filter_map(|id| {
            let (version, installed) = self.enabled(id)?;
            Some((id, version, installed))
        })
    }

    fn check(&self) -> Result<()> {
        let ensure = |holds, broken| Error::ensure(GENERATION, holds, broken);
        ensure(self.schema == 1, "schema is not 1")?;
        let first_has_no_predecessor = (self.n == 0) == (self.prev == Digest::NONE);
        ensure(
            first_has_no_predecessor,
            "prev is not the digest of a predecessor",
        )?;
        for (id, state) in &self.packages {
            let enabled_exists = state
                .enabled
                .as_ref()
                .is_none_or(|enabled| state.versions.contains_key(enabled));
            ensure(enabled_exists, "an enabled version is not installed")?;
            for (version, installed) in &state.versions {
                let pin = Pin::new(id, version);
                let pinned = self.pins.get(&pin) == Some(&installed.manifest);
                ensure(pinned, "an installed version is not the pinned one")?;
                ensure(
                    installed.installed_gen <= self.n,
                    "a version comes from the future",
                )?;
            }
        }
        for active in self.active.values() {
            let enabled = self.enabled_version(&active.id) == Some(&active.version);
            ensure(enabled, "an active provider is not enabled")?;
        }
        Ok(())
    }

    /// The newest installed version.
    #[must_use]
    pub fn newest_version(&self, id: &PackageId) -> Option<&PackageVersion> {
        self.packages.get(id)?.versions.keys().next_back()
    }

    /// Whether an install of this version leaves what is enabled as it is: whoever rolled back and pinned wants nothing
    /// enabled until there is something newer.
    #[must_use]
    pub fn is_held_back(&self, id: &PackageId, version: &PackageVersion) -> bool {
        self.held.get(id).is_some_and(|held| version <= held)
    }
}

impl History for Generation {
    fn floor(&self, id: &PackageId) -> u64 {
        self.floors.get(id).copied().unwrap_or(0)
    }

    fn pin(&self, id: &PackageId, version: &PackageVersion) -> Option<Digest> {
        let pin = Pin::new(id, version);
        self.pins.get(&pin).copied()
    }

    fn signers(&self, id: &PackageId) -> Vec<KeyId> {
        self.signers.get(id).cloned().unwrap_or_default()
    }

    fn time_seen(&self) -> u64 {
        self.time_seen
    }
}

fn operation(name: &str) -> Result<Word> {
    name.parse()
        .map_err(|invalid| Error::invalid(GENERATION, &invalid))
}

impl Pin {
    /// Names a version.
    #[must_use]
    pub fn new(id: &PackageId, version: &PackageVersion) -> Self {
        Self {
            id: id.clone(),
            version: version.clone(),
        }
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.id, self.version)
    }
}

impl FromStr for Pin {
    type Err = Invalid;

    /// # Errors
    /// Anything but `id@version`.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let (id, version) = text
            .split_once('@')
            .ok_or_else(|| Invalid::new("pin", text, "id@version"))?;
        Ok(Self {
            id: id.parse()?,
            version: version.parse()?,
        })
    }
}

impl TryFrom<String> for Pin {
    type Error = Invalid;
    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl From<Pin> for String {
    fn from(pin: Pin) -> Self {
        pin.to_string()
    }
}
