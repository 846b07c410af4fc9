//! An installed package as the loader gets it. Only the store makes one, and only from a manifest and an
//! envelope that passed the same verifier as at install, under today's trust.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;

use crate::digest::{Digest, Hasher};
use crate::error::{Error, Result};
use crate::limits::{COPY_CHUNK_BYTES, ENVELOPE_MAX_BYTES, MANIFEST_MAX_BYTES, RECEIPT_MAX_BYTES};
use crate::manifest::{Artifact, ElfFacts, Manifest, Role, Target};
use crate::name::{ArtifactPath, PackageId, PackageVersion};
use crate::preflight;
use crate::receipt::Receipt;
use crate::store::generation::VersionState;
use crate::store::path::{Area, StorePath};
use crate::store::state::{Root, State};
use crate::verify::{AuthorizedManifest, Countersigner, Occasion, Signer};

/// What writes a receipt of a version that is installed.
const NEW_RECEIPT: &str = "`guild kernel disable` and then `guild kernel enable` write one";

/// A package of the store whose signature holds under the trust in force.
#[derive(Clone, Debug)]
pub struct InstalledPackage {
    root: Root,
    authorized: AuthorizedManifest,
    envelope_digest: Digest,
    installed_gen: u64,
    receipt: Option<Digest>,
    enabled: bool,
    strict_ambient: bool,
}

/// One artifact of an installed package: what the signed manifest says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactInfo {
    artifact: Artifact,
    target: Option<Target>,
}

/// An open object of the store, and what its bytes must be. The descriptor was opened beneath the store
/// and its owner, mode and size were checked; its content is checked while it is copied.
#[derive(Debug)]
pub struct ObjectSource {
    file: File,
    name: String,
    sha256: Digest,
    size: u64,
}

impl InstalledPackage {
    /// Reads and verifies one version.
    pub(super) fn open(
        root: &Root,
        state: &State,
        id: &PackageId,
        version: &PackageVersion,
        installed: &VersionState,
    ) -> Result<Self> {
        let manifest = root.meta(installed.manifest, MANIFEST_MAX_BYTES)?;
        let envelope = root.meta(installed.envelope, ENVELOPE_MAX_BYTES)?;
        let occasion = Occasion::Load {
            installed_gen: installed.installed_gen,
        };
        let authorized = AuthorizedManifest::check(manifest, envelope, &state.trust, occasion)?;
        if authorized.manifest().id != *id || authorized.manifest().version != *version {
            let path = StorePath::content(Area::Meta, installed.manifest);
            return Err(root.corrupt(&path, format!("it is not the manifest of {id} {version}")));
        }
        let policy = state.trust.policy(id);
        Ok(Self {
            strict_ambient: policy.is_some_and(|policy| policy.strict_ambient),
            root: root.clone(),
            authorized,
            envelope_digest: installed.envelope,
            installed_gen: installed.installed_gen,
            receipt: installed.receipt,
            enabled: state
                .generation
                .enabled(id)
                .is_some_and(|(enabled, _)| enabled == version),
        })
    }

    /// The package.
    #[must_use]
    pub fn id(&self) -> &PackageId {
        &self.manifest().id
    }

    /// Its version.
    #[must_use]
    pub fn version(&self) -> &PackageVersion {
        &self.manifest().version
    }

    /// The signed manifest.
    #[must_use]
    pub const fn manifest(&self) -> &Manifest {
        self.authorized.manifest()
    }

    /// The bytes that were signed.
    pub(crate) fn manifest_bytes(&self) -> &[u8] {
        self.authorized.manifest_bytes()
    }

    /// The identity: SHA-256 of the manifest's bytes.
    #[must_use]
    pub const fn manifest_digest(&self) -> Digest {
        self.authorized.manifest_digest()
    }

    /// SHA-256 of the envelope's bytes.
    #[must_use]
    pub const fn envelope_digest(&self) -> Digest {
        self.envelope_digest
    }

    /// The generation that installed this version.
    #[must_use]
    pub const fn installed_gen(&self) -> u64 {
        self.installed_gen
    }

    /// Digest of the receipt of its last acceptance; absent if that was before there were receipts.
    #[must_use]
    pub const fn receipt_digest(&self) -> Option<Digest> {
        self.receipt
    }

    /// Why it was accepted. Evidence for people: nothing depends on it.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no receipt, [`Error::StoreCorrupt`] if it is missing or damaged.
    pub fn receipt(&self) -> Result<Receipt> {
        let Some(digest) = self.receipt else {
            return Err(Error::NotFound {
                what: format!("a receipt of {} {}", self.id(), self.version()),
                next: NEW_RECEIPT.to_owned(),
            });
        };
        let bytes = self.root.meta(digest, RECEIPT_MAX_BYTES);
        // No bundle has it, so installing again doesn't bring it back.
        let bytes = bytes.map_err(|error| match error {
            Error::StoreCorrupt { path, detail, .. } => Error::StoreCorrupt {
                path,
                detail,
                next: NEW_RECEIPT,
            },
            other => other,
        });
        Receipt::decode(&bytes?)
    }

    /// Whether this version was the enabled one when the store was read.
    #[must_use]
    pub const fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Whether the trust policy of this package wants no load in a process whose surroundings can bring
    /// other code into it.
    #[must_use]
    pub const fn is_strict_about_ambient(&self) -> bool {
        self.strict_ambient
    }

    pub(crate) const fn authorized(&self) -> &AuthorizedManifest {
        &self.authorized
    }

    /// The keys whose signatures counted.
    #[must_use]
    pub fn signers(&self) -> &[Signer] {
        self.authorized.signers()
    }

    /// Who vouches for the release beside its publishers.
    #[must_use]
    pub fn countersigners(&self) -> &[Countersigner] {
        self.authorized.countersigners()
    }

    /// What loading asks beyond the signature, but for the libraries' bytes: this host's ABI, a plugin for this machine,
    /// and that its file is there as the store left it.
    ///
    /// # Errors
    /// [`Error::HostAbi`], [`Error::Incompatible`]; as [`Self::open_artifact`].
    pub fn check_loadable(&self) -> Result<()> {
        preflight::check_host(self.manifest())?;
        self.open_artifact(&self.plugin_artifact()?).map(drop)
    }

    /// Every artifact, ascending by path.
    pub fn artifacts(&self) -> impl Iterator<Item = ArtifactInfo> {
        self.manifest()
            .artifacts
            .iter()
            .map(|artifact| self.info(artifact))
    }

    /// The plugin for this machine.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if the package has none.
    pub fn plugin_artifact(&self) -> Result<ArtifactInfo> {
        match self.manifest().plugin() {
            Some((_, artifact)) => Ok(self.info(artifact)),
            None => Err(incompatible(self.manifest())),
        }
    }

    /// The debug symbols that belong to the plugin for this machine, if the package has them.
    #[must_use]
    pub fn debug_symbols_artifact(&self) -> Option<ArtifactInfo> {
        let (_, plugin) = self.manifest().plugin()?;
        let belongs = |artifact: &&Artifact| {
            artifact.role == Role::DebugSymbols && artifact.target == plugin.target
        };
        self.manifest()
            .artifacts
            .iter()
            .find(belongs)
            .map(|artifact| self.info(artifact))
    }

    /// Opens an artifact of this package by its digest.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the artifact is another package's, [`Error::StoreCorrupt`] if the object is
    /// missing or has another owner, mode or size than the store gave it.
    pub fn open_artifact(&self, info: &ArtifactInfo) -> Result<ObjectSource> {
        self.object(&info.artifact)
    }

    /// As [`Self::open_artifact`].
    pub(crate) fn object(&self, artifact: &Artifact) -> Result<ObjectSource> {
        if !self.manifest().artifacts.contains(artifact) {
            return Err(Error::NotFound {
                what: format!("artifact {} of {}", artifact.path, self.id()),
                next: "Take it from the same package's artifacts()".to_owned(),
            });
        }
        let Artifact { sha256, size, .. } = *artifact;
        let path = StorePath::content(Area::Objects, sha256);
        let file = self
            .root
            .fs
            .open(&path)
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => self.root.corrupt(&path, "it is missing"),
                _ => self.root.io("open", &path)(error),
            })?;
        check_object(&self.root, &path, &file, size)?;
        Ok(ObjectSource {
            file,
            name: artifact.path.to_string(),
            sha256,
            size,
        })
    }

    /// The plugin's bytes, as they are about to be mapped, obey every rule for libraries. Asked again at
    /// load, since another guild may have installed it.
    ///
    /// # Errors
    /// As [`preflight::check_library`].
    pub fn check_library(&self, info: &ArtifactInfo, data: &[u8]) -> Result<()> {
        preflight::check_library(self.manifest(), &info.artifact, data)
    }

    /// Reads an artifact of this package, and compares it with its digest.
    ///
    /// # Errors
    /// As [`Self::open_artifact`] and [`ObjectSource::copy_verified`].
    pub(super) fn check_artifact(&self, info: &ArtifactInfo) -> Result<()> {
        self.open_artifact(info)?.copy_verified(|_| Ok(()))
    }

    fn info(&self, artifact: &Artifact) -> ArtifactInfo {
        let index = artifact
            .target
            .and_then(|index| usize::try_from(index).ok());
        let target = index.and_then(|index| self.manifest().targets.get(index));
        ArtifactInfo {
            artifact: artifact.clone(),
            target: target.cloned(),
        }
    }

    pub(super) const fn root(&self) -> &Root {
        &self.root
    }
}

impl ArtifactInfo {
    /// Its name in the bundle, for messages.
    #[must_use]
    pub const fn path(&self) -> &ArtifactPath {
        &self.artifact.path
    }

    /// SHA-256 of its bytes.
    #[must_use]
    pub const fn sha256(&self) -> Digest {
        self.artifact.sha256
    }

    /// Its length in bytes.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.artifact.size
    }

    /// What it is for.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.artifact.role
    }

    /// The machine it was built for; absent if it fits every machine.
    #[must_use]
    pub const fn target(&self) -> Option<&Target> {
        self.target.as_ref()
    }

    /// The signed facts about the library; present exactly for plugins.
    #[must_use]
    pub const fn elf(&self) -> Option<&ElfFacts> {
        self.artifact.elf.as_ref()
    }
}

impl ObjectSource {
    /// The digest the bytes must have.
    #[must_use]
    pub const fn sha256(&self) -> Digest {
        self.sha256
    }

    /// How many bytes there are.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Hands every byte to `sink` in order, and hashes on the way. What `sink` received is the signed
    /// content only if this returns `Ok`: copy first, use after.
    ///
    /// # Errors
    /// [`Error::DigestMismatch`] if the object was changed, [`Error::Io`] if reading or `sink` fails.
    pub fn copy_verified(
        mut self,
        mut sink: impl FnMut(&[u8]) -> std::io::Result<()>,
    ) -> Result<()> {
        let mut hasher = Hasher::default();
        let mut buffer = vec![0; COPY_CHUNK_BYTES];
        loop {
            let length = self
                .file
                .read(&mut buffer)
                .map_err(Error::io("read", &self.name))?;
            let Some(piece) = buffer.get(..length).filter(|piece| !piece.is_empty()) else {
                break;
            };
            hasher.update(piece);
            sink(piece).map_err(Error::io("copy", &self.name))?;
        }
        match hasher.finish() {
            (found, bytes) if found == self.sha256 && bytes == self.size => Ok(()),
            (found, _) => Err(Error::DigestMismatch {
                what: self.name,
                expected: self.sha256,
                found,
                next: "The store was changed from outside; `guild kernel install` of the same bundle writes the file anew",
            }),
        }
    }
}

impl AsFd for ObjectSource {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// The error for a package without a plugin for this machine.
pub(crate) fn incompatible(manifest: &Manifest) -> Error {
    Error::Incompatible {
        id: manifest.id.clone(),
        version: manifest.version.clone(),
        wanted: format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH),
        offered: manifest.targets.iter().map(ToString::to_string).collect(),
    }
}

/// Owner, mode and size as the store left them. A writable object would let its owner's other processes
/// change it between check and use.
pub(super) fn check_object(root: &Root, path: &StorePath, file: &File, size: u64) -> Result<()> {
    let metadata = file.metadata().map_err(root.io("read", path))?;
    if metadata.mode() & 0o7777 != 0o444 {
        let mode = metadata.mode() & 0o7777;
        return Err(root.corrupt(path, format!("its mode is {mode:04o}, expected 0444")));
    }
    let owner = metadata.uid();
    if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        return Err(root.corrupt(path, format!("it belongs to user {owner}")));
    }
    match metadata.len() == size {
        true => Ok(()),
        false => Err(root.corrupt(
            path,
            format!("it has {} bytes, expected {size}", metadata.len()),
        )),
    }
}
