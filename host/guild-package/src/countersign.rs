//! Countersignatures: what somebody other than the publisher says about one release. A statement names
//! the manifest and the exact release signatures it relies on, so it cannot be moved to another package.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::envelope::{Base64Bytes, Countersignature, Envelope, EnvelopeSignature};
use crate::error::{Error, Result};
use crate::json;
use crate::key::{Algorithm, KeyId, SecretSeed};
use crate::manifest::Manifest;
use crate::sign::{self, Purpose};
use crate::text::PlainText;
use crate::trust::{KeyStatus, Right, Role, TrustStore, TrustedKey};

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
/// As [`sign::sign`].
pub fn countersign(seed: &SecretSeed, statement: &Statement) -> Result<Countersignature> {
    let body = json::encode(STATEMENT, statement)?;
    let sig = sign::sign(seed, Purpose::Countersign, &body)?;
    let keyid = seed.public_key()?.id();
    Ok(Countersignature {
        purpose: Purpose::Countersign,
        body: Base64Bytes(body),
        signatures: vec![EnvelopeSignature {
            keyid,
            alg: Algorithm::Ed25519,
            sig,
        }],
    })
}

/// The distinct active keys that countersigned this release as `role`. A statement by unknown keys
/// counts for nothing; one by a known key that does not verify or names another release is an error.
///
/// # Errors
/// [`Error::SignatureInvalid`] or [`Error::Malformed`].
pub(crate) fn countersigners<'trust>(
    envelope: &Envelope,
    manifest: &Manifest,
    manifest_sha256: Digest,
    trust: &'trust TrustStore,
    role: Role,
    now_s: u64,
) -> Result<BTreeMap<KeyId, &'trust TrustedKey>> {
    let releases: Vec<Digest> = envelope
        .signatures
        .iter()
        .map(|entry| entry.sig.digest())
        .collect();
    let mut counted = BTreeMap::new();
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
        let statement: Statement = json::decode(STATEMENT, body)?;
        let about_this = statement.manifest_sha256 == manifest_sha256
            && !statement.over.is_empty()
            && statement.over.iter().all(|over| releases.contains(over));
        if !about_this {
            return Err(Error::malformed(STATEMENT, "it is about another release"));
        }
        let in_time = statement.expires_at.is_none_or(|expires| now_s < expires);
        let counts = |key: &&&TrustedKey| {
            key.status == KeyStatus::Active
                && key.authorize(Right::Countersign(role), manifest).is_ok()
        };
        if statement.role == role && in_time {
            counted.extend(signers.iter().filter(counts).map(|key| (key.id, *key)));
        }
    }
    Ok(counted)
}
