//! Countersignatures: what somebody other than the publisher says about one release. A statement names
//! the manifest and the exact release signatures it relies on, so it cannot be moved to another package.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::author;
use crate::digest::Digest;
use crate::envelope::{Envelope, EnvelopeSignature, add_signature};
use crate::error::{Error, Result};
use crate::key::KeyId;
use crate::manifest::Manifest;
use crate::seed::SecretSeed;
use crate::sign::Purpose;
use crate::statement::SignedStatement;
use crate::text::PlainText;
use crate::trust::{Right, Role, TrustStore, TrustedKey};
use crate::verify::{Occasion, SignedBundle};

const STATEMENT: &str = "a countersignature's body";

/// The signed statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The release.
    pub manifest_sha256: Digest,
    /// SHA-256 of each release signature relied on, ascending.
    pub over: Vec<Digest>,
    /// In which role the signer speaks.
    pub role: Role,
    /// What the signer says.
    pub statement: PlainText,
    /// When, in seconds since 1970-01-01 UTC.
    pub issued_at: u64,
    /// Until when it counts, in seconds since 1970-01-01 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}

/// Signs `statement`, to be appended to an envelope's countersignatures.
///
/// # Errors
/// As [`SignedStatement::sign`].
pub fn countersign(seed: &SecretSeed, statement: &Statement) -> Result<SignedStatement> {
    SignedStatement::sign(STATEMENT, Purpose::Countersign, statement, &[seed])
}

/// What somebody adds to a bundle.
#[derive(Clone, Debug)]
pub enum Addition {
    /// One more release signature: a second publisher, where a policy asks for two.
    Release,
    /// A statement about the release.
    Statement {
        /// In which role.
        role: Role,
        /// What is said.
        statement: PlainText,
        /// When, in seconds since 1970-01-01 UTC.
        issued_at: u64,
        /// Until when it counts.
        expires_at: Option<u64>,
    },
}

/// Adds a signature by `seed` to the bundle at `path`, and writes the new file `out`. The bundle must be signed by a
/// key that `trust` knows, and every file in it intact; how many signatures a policy wants isn't asked.
///
/// # Errors
/// The first check of section 8, up to step 5, that fails, and step 15; [`Error::Usage`] for a second release
/// signature by the same key.
pub fn countersign_bundle(
    path: &Path,
    trust: &TrustStore,
    seed: &SecretSeed,
    addition: &Addition,
    out: &Path,
) -> Result<Manifest> {
    let signed = SignedBundle::read(path, trust)?;
    let mut envelope = signed.envelope().clone();
    match addition {
        Addition::Release => {
            let signature = EnvelopeSignature::sign(seed, Purpose::Release, signed.bytes())?;
            add_signature(&mut envelope.signatures, signature)?;
        }
        Addition::Statement {
            role,
            statement,
            issued_at,
            expires_at,
        } => {
            let mut over: Vec<Digest> = signature_digests(&envelope);
            over.sort();
            let statement = Statement {
                manifest_sha256: Digest::of(signed.bytes()),
                over,
                role: *role,
                statement: statement.clone(),
                issued_at: *issued_at,
                expires_at: *expires_at,
            };
            envelope
                .countersignatures
                .push(countersign(seed, &statement)?);
        }
    }
    author::write_bundle(out, signed.bytes(), &signed.files()?, &envelope)?;
    Ok(signed.into_manifest())
}

fn signature_digests(envelope: &Envelope) -> Vec<Digest> {
    let signatures = envelope.signatures.iter();
    signatures.map(|entry| entry.sig.digest()).collect()
}

/// A key that countersigned, and what it says: nothing, or one text a statement.
pub(crate) struct Voice<'trust> {
    pub key: &'trust TrustedKey,
    pub statements: Vec<PlainText>,
}

/// The distinct keys that countersigned this release in each role and count on this occasion. A statement by unknown keys
/// counts for nothing; one by a known key that does not verify or names another release is an error.
///
/// # Errors
/// [`Error::SignatureInvalid`] or [`Error::Malformed`].
pub(crate) fn countersigners<'trust>(
    envelope: &Envelope,
    (manifest, manifest_sha256): (&Manifest, Digest),
    trust: &'trust TrustStore,
    occasion: Occasion<'_>,
) -> Result<BTreeMap<(Role, KeyId), Voice<'trust>>> {
    let releases = signature_digests(envelope);
    let mut counted: BTreeMap<(Role, KeyId), Voice<'trust>> = BTreeMap::new();
    for countersignature in &envelope.countersignatures {
        let body = &countersignature.body.0;
        let mut signers = Vec::new();
        for entry in &countersignature.signatures {
            if let Some(key) = trust.key(&entry.keyid) {
                key.verify(entry, Purpose::Countersign, body)?;
                signers.push(key);
            }
        }
        if signers.is_empty() {
            continue;
        }
        let statement: Statement = countersignature.content(STATEMENT)?;
        let about_this = statement.manifest_sha256 == manifest_sha256
            && !statement.over.is_empty()
            && statement.over.iter().all(|over| releases.contains(over));
        if !about_this {
            return Err(Error::malformed(STATEMENT, "it is about another release"));
        }
        let role = statement.role;
        // Times are judged at install only, as a publisher's are.
        let now_s = occasion.now_s();
        let ends = statement.expires_at;
        let in_time = now_s.is_none_or(|now_s| ends.is_none_or(|ends| now_s < ends));
        let counts = |key: &&&TrustedKey| {
            occasion.believes(key)
                && now_s.is_none_or(|now_s| key.check_time(now_s).is_ok())
                && key.authorize(Right::Countersign(role), manifest).is_ok()
        };
        if !in_time {
            continue;
        }
        for &key in signers.iter().filter(counts) {
            let voice = counted.entry((role, key.id)).or_insert_with(|| Voice {
                key,
                statements: Vec::new(),
            });
            if !statement.statement.as_str().is_empty() {
                voice.statements.push(statement.statement.clone());
            }
        }
    }
    Ok(counted)
}
