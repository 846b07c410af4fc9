//! One key follows another. The old key says so and the new one agrees, so nobody hands a name to a key that its
//! holder doesn't have, and nobody takes one over (`docs/package-format.md`, section 14).

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::key::{KeyId, KeyRecord};
use crate::limits::STATEMENT_MAX_BYTES;
use crate::name::ScopePrefix;
use crate::outside;
use crate::seed::SecretSeed;
use crate::sign::{self, Purpose};
use crate::statement::SignedStatement;
use crate::trust::{RightLeft, TrustStore};

const ROTATION: &str = "the key rotation";

/// What both keys sign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RotationBody {
    /// Always 1.
    pub schema: u64,
    /// The old key.
    pub from: KeyId,
    /// The new key, whole: a machine that takes the rotation need not know it before.
    pub to: KeyRecord,
    /// The old key's scopes that pass to the new one; each must have the right `rotate`.
    pub scopes: Vec<ScopePrefix>,
    /// What the old key may still do.
    pub rights_left: Vec<RightLeft>,
    /// When, in seconds since 1970-01-01 UTC.
    pub issued_at: u64,
}

/// A rotation that a trusted key and its successor signed.
#[derive(Clone, Debug)]
pub struct VerifiedRotation {
    body: RotationBody,
    body_sha256: Digest,
}

/// Signs `body` with both keys and writes the new file `path`.
///
/// # Errors
/// [`Error::Usage`] if a seed isn't that of the key which `body` names; [`Error::Io`].
pub fn write_rotation(
    path: &Path,
    body: &RotationBody,
    old_seed: &SecretSeed,
    new_seed: &SecretSeed,
) -> Result<()> {
    old_seed.check_id(&body.from.to_string())?;
    new_seed.check_id(&body.to.id.to_string())?;
    body.check()?;
    let seeds = [old_seed, new_seed];
    let bytes =
        SignedStatement::sign(ROTATION, Purpose::KeyRotation, body, &seeds)?.encode(ROTATION)?;
    outside::write_new(path, &bytes)
}

impl VerifiedRotation {
    /// Reads the file at `path` and checks both signatures: the old key as `trust` knows it, the new one as the
    /// rotation names it.
    ///
    /// # Errors
    /// [`Error::KeyUntrusted`] for an unknown old key, [`Error::SignatureInvalid`] if a signature is missing or
    /// wrong, [`Error::Malformed`] for a file that is no rotation.
    pub fn read(path: &Path, trust: &TrustStore) -> Result<Self> {
        Self::decode(&outside::read_limited(path, STATEMENT_MAX_BYTES)?, trust)
    }

    /// As [`Self::read`], from bytes.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn decode(bytes: &[u8], trust: &TrustStore) -> Result<Self> {
        let statement = SignedStatement::decode(ROTATION, Purpose::KeyRotation, bytes)?;
        let signed_by_known = statement
            .signatures
            .iter()
            .find_map(|entry| trust.key(&entry.keyid).map(|key| (key, entry)));
        let unknown = || Error::KeyUntrusted {
            keys: statement
                .signatures
                .iter()
                .map(|entry| entry.keyid)
                .collect(),
        };
        // Not yet known which of the two it is; its signature decides whether the bytes are looked into at all.
        let (known, entry) = signed_by_known.ok_or_else(unknown)?;
        known.verify(entry, Purpose::KeyRotation, &statement.body.0)?;
        let body: RotationBody = statement.content(ROTATION)?;
        body.check()?;
        let old = trust.key(&body.from).ok_or_else(unknown)?;
        let by = |key: KeyId| {
            let entry = statement.signatures.iter().find(|entry| entry.keyid == key);
            entry.ok_or(Error::SignatureInvalid {
                key,
                reason: "the rotation lacks its signature",
            })
        };
        old.verify(by(old.id)?, Purpose::KeyRotation, &statement.body.0)?;
        let new = by(body.to.id)?;
        sign::verify(
            &body.to.public,
            Purpose::KeyRotation,
            &statement.body.0,
            &new.sig,
        )?;
        match statement.signatures.len() {
            2 => Ok(Self {
                body,
                body_sha256: Digest::of(&statement.body.0),
            }),
            _ => Err(Error::malformed(ROTATION, "it has a third signature")),
        }
    }

    /// What both signed.
    #[must_use]
    pub const fn body(&self) -> &RotationBody {
        &self.body
    }

    /// SHA-256 of the bytes that both signed.
    #[must_use]
    pub const fn body_sha256(&self) -> Digest {
        self.body_sha256
    }
}

impl RotationBody {
    fn check(&self) -> Result<()> {
        let ensure = |holds, broken| Error::ensure(ROTATION, holds, broken);
        ensure(self.schema == 1, "schema is not 1")?;
        self.to.check(ROTATION)?;
        ensure(self.from != self.to.id, "a key can't follow itself")?;
        ensure(!self.scopes.is_empty(), "it names no scope")?;
        ensure(
            self.scopes.is_sorted_by(|a, b| a < b),
            "its scopes are not strictly ascending",
        )?;
        ensure(
            self.rights_left.is_sorted_by(|a, b| a < b),
            "a right is left twice",
        )
    }
}
