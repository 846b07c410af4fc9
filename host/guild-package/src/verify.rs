//! Verification, in the order of `docs/package-format.md`, section 8. Each stage is a type that only the
//! stage before can make, and [`VerifiedPackage`] is made here and nowhere else: to hold one is to know
//! that its bytes are signed, authorised and intact.
//!
//! The same first two stages run again whenever an installed package is opened for loading.

mod history;
mod known;
mod recorded;
mod threshold;

pub(crate) use history::{History, check_floor};
pub(crate) use known::KnownPackage;
pub use recorded::Recorded;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::audit::Unaccepted;
use crate::bundle::{Bundle, BundleEntry};
use crate::countersign::Voice;
use crate::digest::Digest;
use crate::envelope::Envelope;
use crate::error::{Error, NotCounted, Result};
use crate::key::{KeyId, test_mark};
use crate::manifest::{Artifact, Kind, Manifest, Role as ArtifactRole};
use crate::name::{ArtifactPath, PackageId, PackageVersion};
use crate::outside;
use crate::preflight;
use crate::ptx;
use crate::sign::Purpose;
use crate::text::PlainText;
use crate::trust::{KeyStatus, Right, Role, TrustStore, TrustedKey};

use history::{NoHistory, check_history, check_publisher, check_rise};
use threshold::check_thresholds;

/// What the caller expects, and the time to judge expiry by.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    /// Refuse a bundle of another package.
    pub id: Option<PackageId>,
    /// Refuse another version.
    pub version: Option<PackageVersion>,
    /// Refuse another kind.
    pub kind: Option<Kind>,
    /// Seconds since 1970-01-01 UTC.
    pub now_s: u64,
}

/// A key whose signature counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signer {
    /// The key.
    pub key: KeyId,
    /// Its name for people.
    pub label: PlainText,
    /// Who holds it.
    pub operator: PlainText,
    /// Whether it was made by a test or demonstration.
    pub test_identity: bool,
}

/// A key whose statement about the release counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Countersigner {
    /// As whom it speaks.
    pub role: Role,
    /// Whose it is.
    pub signer: Signer,
    /// What it says, one text a statement.
    pub statements: Vec<PlainText>,
}

/// A bundle whose signature, authority and every byte were checked.
#[derive(Debug)]
pub struct VerifiedPackage {
    authorized: AuthorizedManifest,
    bundle: Bundle<File>,
}

/// Stage 3: a manifest that enough keys with the right to do so have signed.
#[derive(Clone, Debug)]
pub struct AuthorizedManifest {
    manifest: Manifest,
    manifest_bytes: Vec<u8>,
    manifest_digest: Digest,
    envelope_bytes: Vec<u8>,
    signers: Vec<Signer>,
    countersigners: Vec<Countersigner>,
}

/// Stage 2: manifest bytes, not yet looked into, that known keys have signed.
struct SignedManifest<'trust> {
    bytes: Vec<u8>,
    envelope: Envelope,
    envelope_bytes: Vec<u8>,
    signers: Vec<&'trust TrustedKey>,
}

/// For what a manifest is checked.
#[derive(Clone, Copy)]
pub(crate) enum Occasion<'a> {
    /// A new bundle: everything is judged.
    Install {
        /// The caller's expectations.
        options: &'a VerifyOptions,
        /// The store's memory.
        history: &'a dyn History,
        /// Accept other signers than the pinned ones.
        accept_new_publisher: bool,
    },
    /// Loading what generation `installed_gen` installed: time and retirement are not judged again,
    /// compromise is.
    Load {
        /// The generation that installed the version.
        installed_gen: u64,
    },
}

impl Occasion<'_> {
    /// The time to judge by: never earlier than the newest time the store has seen, so turning the clock
    /// back revives nothing. Absent where time is not judged.
    pub(crate) fn now_s(&self) -> Option<u64> {
        match self {
            Self::Install {
                options, history, ..
            } => Some(options.now_s.max(history.time_seen())),
            Self::Load { .. } => None,
        }
    }

    /// Why `key`'s word doesn't count here as that of a key with `right`, in the order of steps 8.8 to 8.10; absent where
    /// it counts.
    pub(crate) fn not_counted(
        &self,
        key: &TrustedKey,
        right: Right,
        manifest: &Manifest,
    ) -> Option<NotCounted> {
        if let Err(detail) = key.may(right, manifest) {
            return Some(NotCounted::Denied(detail));
        }
        if !self.believes(key) {
            return Some(NotCounted::Withdrawn(key.status));
        }
        let now_s = self.now_s();
        let is_outside = now_s.is_some_and(|now_s| key.check_time(now_s).is_err());
        is_outside.then_some(NotCounted::OutOfTime)
    }

    /// Whether a key's word still counts, whatever it says: its status, judged for this occasion.
    pub(crate) fn believes(&self, key: &TrustedKey) -> bool {
        match (key.status, self) {
            (KeyStatus::Active, _) | (KeyStatus::Retired, Self::Load { .. }) => true,
            (KeyStatus::Compromised, Self::Load { installed_gen }) => {
                *installed_gen <= key.since_gen
            }
            (KeyStatus::Retired | KeyStatus::Compromised, Self::Install { .. }) => false,
        }
    }
}

/// Verifies the bundle at `path` against `trust`, without any store.
///
/// # Errors
/// The first check of section 8 that fails.
pub fn verify_bundle(
    path: &Path,
    trust: &TrustStore,
    options: &VerifyOptions,
) -> Result<VerifiedPackage> {
    verify_or_name(path, trust, options).map_err(|unaccepted| unaccepted.error)
}

/// As [`verify_bundle`]; a refusal has the digest of the bundle's bytes with it.
///
/// # Errors
/// As [`verify_bundle`].
pub fn verify_or_name(
    path: &Path,
    trust: &TrustStore,
    options: &VerifyOptions,
) -> Result<VerifiedPackage, Box<Unaccepted>> {
    let occasion = Occasion::Install {
        options,
        history: &NoHistory,
        accept_new_publisher: false,
    };
    let file = outside::open_regular(path)?;
    let judged = file.try_clone().map_err(Error::io("open", path))?;
    VerifiedPackage::check(file, trust, occasion).map_err(|error| Unaccepted::of(error, &judged))
}

impl VerifiedPackage {
    /// All stages over an open file.
    pub(crate) fn check(file: File, trust: &TrustStore, occasion: Occasion<'_>) -> Result<Self> {
        Self::check_bundle(Bundle::parse(file)?, trust, occasion)
    }

    fn check_bundle(
        bundle: Bundle<File>,
        trust: &TrustStore,
        occasion: Occasion<'_>,
    ) -> Result<Self> {
        let signed = SignedManifest::check(bundle.manifest()?, bundle.envelope()?, trust)?;
        let authorized = AuthorizedManifest::authorize(signed, trust, occasion)?;
        check_artifacts(&bundle, &authorized.manifest)?;
        let package = Self { authorized, bundle };
        package.check_code()?;
        Ok(package)
    }

    /// Step 8.16: each plugin may be mapped, those for other machines as well. A library for an architecture
    /// that this guild doesn't know can't be judged; no host loads it, since loading asks again.
    fn check_code(&self) -> Result<()> {
        let manifest = self.manifest();
        for artifact in &manifest.artifacts {
            let is_library =
                artifact.role == ArtifactRole::Plugin && preflight::can_judge(manifest, artifact);
            if !is_library && artifact.role != ArtifactRole::Ptx {
                continue;
            }
            // The signed size was compared with the file's, so this is no more than the bundle holds.
            let mut data = Vec::new();
            self.read_artifact(artifact, |piece| {
                data.extend_from_slice(piece);
                Ok(())
            })?;
            match is_library {
                true => preflight::check_library(manifest, artifact, &data)?,
                false => check_ptx(artifact, &data)?,
            }
        }
        Ok(())
    }

    /// The signed manifest.
    #[must_use]
    pub const fn manifest(&self) -> &Manifest {
        &self.authorized.manifest
    }

    /// The package's identity: SHA-256 of the manifest's bytes.
    #[must_use]
    pub const fn manifest_digest(&self) -> Digest {
        self.authorized.manifest_digest
    }

    /// The keys that counted, ascending.
    #[must_use]
    pub fn signers(&self) -> &[Signer] {
        &self.authorized.signers
    }

    /// Who vouches for the release beside its publishers, ascending by role and key.
    #[must_use]
    pub fn countersigners(&self) -> &[Countersigner] {
        &self.authorized.countersigners
    }

    pub(crate) const fn authorized(&self) -> &AuthorizedManifest {
        &self.authorized
    }

    /// Hands the bytes of `artifact` to `sink` in pieces. The caller hashes again what it keeps.
    pub(crate) fn read_artifact(
        &self,
        artifact: &Artifact,
        sink: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let entry = self
            .bundle
            .artifacts()
            .iter()
            .find(|entry| entry.name == artifact.path);
        match entry {
            Some(entry) => self.bundle.read_entry(entry, sink),
            None => Err(Error::malformed("the bundle", "an artifact has no entry")),
        }
    }
}

impl AuthorizedManifest {
    /// Stages 2 and 3 over bytes that were read from a store.
    pub(crate) fn check(
        manifest_bytes: Vec<u8>,
        envelope_bytes: Vec<u8>,
        trust: &TrustStore,
        occasion: Occasion<'_>,
    ) -> Result<Self> {
        let signed = SignedManifest::check(manifest_bytes, envelope_bytes, trust)?;
        Self::authorize(signed, trust, occasion)
    }

    pub(crate) const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    pub(crate) const fn manifest_digest(&self) -> Digest {
        self.manifest_digest
    }

    pub(crate) fn manifest_bytes(&self) -> &[u8] {
        &self.manifest_bytes
    }

    pub(crate) fn envelope_bytes(&self) -> &[u8] {
        &self.envelope_bytes
    }

    pub(crate) fn signers(&self) -> &[Signer] {
        &self.signers
    }

    pub(crate) fn countersigners(&self) -> &[Countersigner] {
        &self.countersigners
    }

    fn authorize(
        signed: SignedManifest<'_>,
        trust: &TrustStore,
        occasion: Occasion<'_>,
    ) -> Result<Self> {
        // Step 8.6: the manifest is parsed only now that its bytes are known to be signed.
        let manifest = Manifest::decode(&signed.bytes)?;
        let manifest_digest = Digest::of(&signed.bytes);
        if let Occasion::Install { options, .. } = occasion {
            check_expectations(&manifest, options)?;
        }
        let publishers = publishers(&signed.signers, &manifest)?;
        let publishers = unrevoked(publishers, occasion)?;
        let publishers = in_time(publishers, &manifest, occasion)?;
        let countersigners = check_thresholds(
            &signed,
            &publishers,
            &manifest,
            manifest_digest,
            trust,
            occasion,
        )?;
        if let Occasion::Install {
            history,
            accept_new_publisher,
            ..
        } = occasion
        {
            check_history(&manifest, manifest_digest, history)?;
            check_rise(&manifest, &publishers, history)?;
            if !accept_new_publisher {
                check_publisher(&manifest, &publishers, trust, history)?;
            }
        }
        let signers = publishers.into_iter().map(Signer::from).collect();
        Ok(Self {
            manifest,
            manifest_bytes: signed.bytes,
            manifest_digest,
            envelope_bytes: signed.envelope_bytes,
            signers,
            countersigners,
        })
    }
}

impl<'trust> SignedManifest<'trust> {
    /// Steps 8.3 to 8.5: envelope schema, key look-up, strict verification. A signature by an unknown key is
    /// passed over; one by a known key that fails ends the verification.
    fn check(bytes: Vec<u8>, envelope_bytes: Vec<u8>, trust: &'trust TrustStore) -> Result<Self> {
        let envelope = Envelope::decode(&envelope_bytes)?;
        let mut signers = Vec::new();
        for entry in &envelope.signatures {
            let Some(key) = trust.key(&entry.keyid) else {
                continue;
            };
            key.verify(entry, Purpose::Release, &bytes)?;
            signers.push(key);
        }
        if signers.is_empty() {
            let keys = envelope
                .signatures
                .iter()
                .map(|entry| entry.keyid)
                .collect();
            return Err(Error::KeyUntrusted { keys });
        }
        Ok(Self {
            bytes,
            envelope,
            envelope_bytes,
            signers,
        })
    }
}

/// A bundle that a known key has signed and whose files are whole. It says nothing of who may publish it: it is for
/// adding a signature, never for installing.
#[derive(Debug)]
pub(crate) struct SignedBundle {
    bundle: Bundle<File>,
    bytes: Vec<u8>,
    envelope: Envelope,
    manifest: Manifest,
}

impl SignedBundle {
    /// Steps 8.1 to 8.6 and 8.15; a signer that isn't withdrawn is among them.
    pub(crate) fn read(path: &Path, trust: &TrustStore) -> Result<Self> {
        let bundle = Bundle::parse(outside::open_regular(path)?)?;
        let signed = SignedManifest::check(bundle.manifest()?, bundle.envelope()?, trust)?;
        let is_good = |key: &&&TrustedKey| key.status == KeyStatus::Active;
        if let (None, Some(key)) = (signed.signers.iter().find(is_good), signed.signers.first()) {
            return Err(key.revoked());
        }
        let manifest = Manifest::decode(&signed.bytes)?;
        check_artifacts(&bundle, &manifest)?;
        let SignedManifest {
            bytes, envelope, ..
        } = signed;
        Ok(Self {
            bundle,
            bytes,
            envelope,
            manifest,
        })
    }

    /// The manifest's exact bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) const fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    pub(crate) fn into_manifest(self) -> Manifest {
        self.manifest
    }

    /// Every artifact, by path.
    pub(crate) fn files(&self) -> Result<BTreeMap<ArtifactPath, Vec<u8>>> {
        let read = |entry: &BundleEntry| {
            let mut data = Vec::new();
            self.bundle.read_entry(entry, |piece| {
                data.extend_from_slice(piece);
                Ok(())
            })?;
            Ok((entry.name.clone(), data))
        };
        self.bundle.artifacts().iter().map(read).collect()
    }
}

/// Step 8.7: the caller says which package it wants; the signed text says which it is.
fn check_expectations(manifest: &Manifest, options: &VerifyOptions) -> Result<()> {
    let matches = options.id.as_ref().is_none_or(|id| *id == manifest.id)
        && options
            .version
            .as_ref()
            .is_none_or(|version| *version == manifest.version)
        && options.kind.is_none_or(|kind| kind == manifest.kind);
    if matches {
        return Ok(());
    }
    let part = |text: Option<String>| text.unwrap_or_else(|| "any".to_owned());
    Err(Error::OtherPackage {
        wanted: format!(
            "{} {} ({})",
            part(options.id.as_ref().map(ToString::to_string)),
            part(options.version.as_ref().map(ToString::to_string)),
            part(options.kind.map(|kind| kind.to_string())),
        ),
        found: format!("{} {} ({})", manifest.id, manifest.version, manifest.kind),
    })
}

/// Step 8.8: the signers whose scope lets them publish this manifest.
fn publishers<'trust>(
    signers: &[&'trust TrustedKey],
    manifest: &Manifest,
) -> Result<Vec<&'trust TrustedKey>> {
    let mut denied = None;
    let mut publishers = Vec::new();
    for key in signers {
        match key.authorize(Right::Publish, manifest) {
            Ok(()) => publishers.push(*key),
            Err(error) => denied = denied.or(Some(error)),
        }
    }
    match (publishers.is_empty(), denied) {
        (true, Some(error)) => Err(error),
        _ => Ok(publishers),
    }
}

/// Step 8.9: the publishers that are still good for this occasion.
fn unrevoked<'trust>(
    publishers: Vec<&'trust TrustedKey>,
    occasion: Occasion<'_>,
) -> Result<Vec<&'trust TrustedKey>> {
    let good = publishers.iter().filter(|key| occasion.believes(key));
    let good: Vec<_> = good.copied().collect();
    match (good.is_empty(), publishers.first()) {
        (true, Some(key)) => Err(key.revoked()),
        _ => Ok(good),
    }
}

/// Step 8.10: the publishers whose keys are inside their time, and the package is too. Judged at install.
fn in_time<'trust>(
    publishers: Vec<&'trust TrustedKey>,
    manifest: &Manifest,
    occasion: Occasion<'_>,
) -> Result<Vec<&'trust TrustedKey>> {
    let Some(now_s) = occasion.now_s() else {
        return Ok(publishers);
    };
    let until_s = manifest.expires_at.unwrap_or(u64::MAX);
    if now_s >= until_s {
        let what = format!("{} {}", manifest.id, manifest.version);
        return Err(Error::Expired {
            what,
            now_s,
            from_s: 0,
            until_s,
        });
    }
    let mut outside = None;
    let mut good = Vec::new();
    for key in publishers {
        match key.check_time(now_s) {
            Ok(()) => good.push(key),
            Err(error) => outside = Some(error),
        }
    }
    match (good.is_empty(), outside) {
        (true, Some(error)) => Err(error),
        _ => Ok(good),
    }
}

/// Step 8.15: the entries are exactly the artifacts, with their sizes and digests. No file is exempt.
fn check_artifacts(bundle: &Bundle<File>, manifest: &Manifest) -> Result<()> {
    let entries = bundle.artifacts();
    let names_match = entries.len() == manifest.artifacts.len()
        && entries
            .iter()
            .zip(&manifest.artifacts)
            .all(|(entry, artifact)| entry.name == artifact.path);
    if !names_match {
        return Err(Error::malformed(
            "the bundle",
            "its entries are not the artifacts of its manifest",
        ));
    }
    let pairs = entries.iter().zip(&manifest.artifacts);
    pairs
        .into_iter()
        .try_for_each(|(entry, artifact)| check_artifact(entry, artifact))
}

/// A PTX text is for the processors that the manifest says, and has the kernels that it names.
fn check_ptx(artifact: &Artifact, data: &[u8]) -> Result<()> {
    let name = artifact.path.as_str();
    match Some(ptx::read_facts(name, data)?) == artifact.ptx {
        true => Ok(()),
        false => Err(Error::malformed(
            name,
            "its .target and .entry names are not the signed ones",
        )),
    }
}

fn check_artifact(entry: &BundleEntry, artifact: &Artifact) -> Result<()> {
    if entry.size == artifact.size && entry.sha256 == artifact.sha256 {
        return Ok(());
    }
    Err(Error::DigestMismatch {
        what: entry.name.to_string(),
        expected: artifact.sha256,
        found: entry.sha256,
        next: "The bundle was changed after signing; fetch it again",
    })
}

impl Default for VerifyOptions {
    /// No expectations, and the system's time.
    fn default() -> Self {
        Self {
            id: None,
            version: None,
            kind: None,
            now_s: system_time_s(),
        }
    }
}

/// Seconds since 1970-01-01 UTC by the system's clock; 0 if it stands before that.
#[must_use]
pub fn system_time_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_secs())
}

impl fmt::Display for Signer {
    /// Its name, and whether it is a test identity.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.label, test_mark(self.test_identity))
    }
}

impl Countersigner {
    fn of(role: Role, voice: Voice<'_>) -> Self {
        Self {
            role,
            signer: Signer::from(voice.key),
            statements: voice.statements,
        }
    }
}

impl From<&TrustedKey> for Signer {
    fn from(key: &TrustedKey) -> Self {
        Self {
            key: key.id,
            label: key.label.clone(),
            operator: key.operator.clone(),
            test_identity: key.test_identity,
        }
    }
}
