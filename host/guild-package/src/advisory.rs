//! An advisory: keys that are withdrawn and floors that rise, in a file that a publisher signs and anybody passes on
//! (`docs/package-format.md`, section 19).

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::key::KeyId;
use crate::limits::{ADVISORY_LIST_MAX, STATEMENT_MAX_BYTES};
use crate::name::PackageId;
use crate::outside;
use crate::seed::SecretSeed;
use crate::sign::Purpose;
use crate::statement::SignedStatement;
use crate::text::PlainText;
use crate::trust::{TrustStore, TrustedKey};

const ADVISORY: &str = "the advisory";

/// What is signed. Field order is part of the format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdvisoryBody {
    /// Always 1.
    pub schema: u64,
    /// Keys that are withdrawn, strictly ascending by key.
    pub withdrawals: Vec<WithdrawalLine>,
    /// Floors that rise, strictly ascending by package.
    pub floors: Vec<FloorLine>,
    /// When, in seconds since 1970-01-01 UTC.
    pub issued_at: u64,
}

/// One key that is withdrawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WithdrawalLine {
    /// The key.
    pub key: KeyId,
    /// How far.
    pub status: WithdrawnAs,
    /// Why, for people; not empty.
    pub reason: PlainText,
}

/// How far a key is withdrawn. An advisory names no generation: each machine has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WithdrawnAs {
    /// Another key took its place: what is installed stays usable, new installs are refused.
    Superseded,
    /// Somebody else may hold it: refused at the next load too.
    Compromised,
}

/// One floor that rises.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FloorLine {
    /// The package.
    pub id: PackageId,
    /// The lowest security epoch that is accepted from now on; at least 1.
    pub security_epoch: u64,
    /// Why, for people; not empty.
    pub reason: PlainText,
}

/// An advisory whose signatures are all good, and all by known keys. Whether these have a say in it is judged when it
/// is taken.
#[derive(Clone, Debug)]
pub struct VerifiedAdvisory {
    body: AdvisoryBody,
    body_sha256: Digest,
    signers: Vec<KeyId>,
}

/// Signs `body` with each of `seeds` and writes the new file `path`.
///
/// # Errors
/// [`Error::Malformed`] for a body that no reader takes; [`Error::Io`].
pub fn write_advisory(path: &Path, body: &AdvisoryBody, seeds: &[&SecretSeed]) -> Result<()> {
    body.check()?;
    let statement = SignedStatement::sign(ADVISORY, Purpose::Revocation, body, seeds)?;
    let bytes = statement.encode(ADVISORY)?;
    check_size(&bytes)?;
    outside::write_new(path, &bytes)
}

impl VerifiedAdvisory {
    /// Reads the file at `path` and checks every signature against the keys of `trust`.
    ///
    /// # Errors
    /// [`Error::KeyUntrusted`] if an unknown key is among the signers, [`Error::SignatureInvalid`] if a signature is
    /// wrong, [`Error::Malformed`] for a file that is no advisory.
    pub fn read(path: &Path, trust: &TrustStore) -> Result<Self> {
        Self::decode(&outside::read_limited(path, STATEMENT_MAX_BYTES)?, trust)
    }

    /// As [`Self::read`], from bytes.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn decode(bytes: &[u8], trust: &TrustStore) -> Result<Self> {
        check_size(bytes)?;
        let statement = SignedStatement::decode(ADVISORY, Purpose::Revocation, bytes)?;
        let entries = &statement.signatures;
        let unknown = entries.iter().map(|entry| entry.keyid);
        let unknown: Vec<KeyId> = unknown.filter(|key| trust.key(key).is_none()).collect();
        // Who can't be checked may not stand beside who can: a reader would take both for signers.
        if !unknown.is_empty() {
            return Err(Error::KeyUntrusted { keys: unknown });
        }
        let known = entries
            .iter()
            .filter_map(|entry| Some((trust.key(&entry.keyid)?, entry)));
        let signers: Vec<&TrustedKey> = known
            .map(|(key, entry)| {
                key.verify(entry, Purpose::Revocation, &statement.body.0)?;
                Ok(key)
            })
            .collect::<Result<_>>()?;
        // Only now it is parsed, and the list of signatures is never empty.
        let body: AdvisoryBody = statement.content(ADVISORY)?;
        body.check()?;
        Ok(Self {
            body,
            body_sha256: Digest::of(&statement.body.0),
            signers: signers.into_iter().map(|key| key.id).collect(),
        })
    }

    /// What was signed.
    #[must_use]
    pub const fn body(&self) -> &AdvisoryBody {
        &self.body
    }

    /// SHA-256 of the bytes that were signed.
    #[must_use]
    pub const fn body_sha256(&self) -> Digest {
        self.body_sha256
    }

    /// Who signed it, ascending; at least one.
    #[must_use]
    pub fn signers(&self) -> &[KeyId] {
        &self.signers
    }
}

impl AdvisoryBody {
    fn check(&self) -> Result<()> {
        let ensure = |holds, broken| Error::ensure(ADVISORY, holds, broken);
        ensure(self.schema == 1, "schema is not 1")?;
        let lengths = [self.withdrawals.len(), self.floors.len()];
        ensure(lengths != [0, 0], "it says nothing")?;
        ensure(
            lengths.iter().all(|length| *length <= ADVISORY_LIST_MAX),
            "a list is longer than 128",
        )?;
        ensure(
            self.withdrawals.is_sorted_by(|a, b| a.key < b.key),
            "its withdrawals are not strictly ascending by key",
        )?;
        ensure(
            self.floors.is_sorted_by(|a, b| a.id < b.id),
            "its floors are not strictly ascending by package",
        )?;
        ensure(
            self.floors.iter().all(|line| line.security_epoch > 0),
            "a floor is 0",
        )?;
        let withdrawals = self.withdrawals.iter().map(|line| &line.reason);
        let mut reasons = withdrawals.chain(self.floors.iter().map(|line| &line.reason));
        ensure(
            reasons.all(|reason| !reason.as_str().is_empty()),
            "a line has no reason",
        )
    }
}

/// A reader takes no more.
fn check_size(bytes: &[u8]) -> Result<()> {
    match bytes.len() as u64 > STATEMENT_MAX_BYTES {
        true => Err(Error::malformed(ADVISORY, "it is larger than 64 KiB")),
        false => Ok(()),
    }
}
