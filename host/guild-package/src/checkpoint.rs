//! A signed note of how long a store's chain is and what its last generation hashes to. Kept, or cosigned, on a second
//! machine, it shows a chain that was cut or written anew (`docs/package-format.md`, section 13).

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::envelope::{EnvelopeSignature, add_signature};
use crate::error::{Error, Result};
use crate::key::{KeyId, KeyRecord, PublicKey};
use crate::limits::STATEMENT_MAX_BYTES;
use crate::outside;
use crate::seed::SecretSeed;
use crate::sign::{self, Purpose};
use crate::statement::SignedStatement;
use crate::text::PlainText;

const CHECKPOINT: &str = "the checkpoint";

/// What is signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// Always 1.
    pub schema: u64,
    /// Which store, for people: the name of a machine or a group of them.
    pub origin: PlainText,
    /// Number of generations.
    pub size: u64,
    /// SHA-256 of the last one. It names its predecessor, so this fixes all of them.
    pub root: Digest,
}

/// A checkpoint whose signatures are good.
#[derive(Clone, Debug)]
pub struct SignedCheckpoint {
    checkpoint: Checkpoint,
    statement: SignedStatement,
}

impl Checkpoint {
    /// What to do where a chain isn't the one that was noted.
    pub(crate) const REWRITTEN: &'static str =
        "Somebody cut the chain or wrote it anew; look at both machines before you go on";

    /// Signs it.
    ///
    /// # Errors
    /// As [`SignedStatement::sign`].
    pub fn sign(self, seed: &SecretSeed) -> Result<SignedCheckpoint> {
        Ok(SignedCheckpoint {
            statement: SignedStatement::sign(CHECKPOINT, Purpose::Checkpoint, &self, &[seed])?,
            checkpoint: self,
        })
    }

    /// This chain can have grown from the one that `earlier` describes, as far as two notes can tell.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] for another origin, a shorter chain, or another chain of the same length.
    pub fn check_follows(&self, earlier: &Self) -> Result<()> {
        let differs = |detail: String| {
            Err(Error::Checkpoint {
                detail,
                next: Self::REWRITTEN,
            })
        };
        if self.origin != earlier.origin {
            let (before, now) = (&earlier.origin, &self.origin);
            return Err(Error::Checkpoint {
                detail: format!("one is of {before}, the other of {now}"),
                next: "Give two checkpoints of one store; `log --checkpoint` names it with --origin",
            });
        }
        if self.size < earlier.size {
            let (before, now) = (earlier.size, self.size);
            return differs(format!("the chain had {before} generations and has {now}"));
        }
        if self.size == earlier.size && self.root != earlier.root {
            let size = self.size;
            return differs(format!("there are two chains of {size} generations"));
        }
        Ok(())
    }
}

impl SignedCheckpoint {
    /// Reads the file at `path`, which one of `keys` must have signed. Signatures by other keys are passed over.
    ///
    /// # Errors
    /// [`Error::KeyUntrusted`], [`Error::SignatureInvalid`], [`Error::Malformed`].
    pub fn read(path: &Path, keys: &[KeyRecord]) -> Result<Self> {
        let bytes = outside::read_limited(path, STATEMENT_MAX_BYTES)?;
        let statement = SignedStatement::decode(CHECKPOINT, Purpose::Checkpoint, &bytes)?;
        let mut is_known = false;
        for entry in &statement.signatures {
            let Some(key) = keys.iter().find(|key| key.id == entry.keyid) else {
                continue;
            };
            sign::verify(
                &key.public,
                Purpose::Checkpoint,
                &statement.body.0,
                &entry.sig,
            )?;
            is_known = true;
        }
        if !is_known {
            let keys = statement.signatures.iter().map(|entry| entry.keyid);
            return Err(Error::KeyUntrusted {
                keys: keys.collect(),
            });
        }
        let checkpoint: Checkpoint = statement.content(CHECKPOINT)?;
        match checkpoint.schema == 1 && checkpoint.size >= 1 {
            true => Ok(Self {
                checkpoint,
                statement,
            }),
            false => Err(Error::malformed(
                CHECKPOINT,
                "schema or size is not 1 or more",
            )),
        }
    }

    /// Adds a signature.
    ///
    /// # Errors
    /// [`Error::Usage`] if the key has signed already.
    pub fn cosign(mut self, seed: &SecretSeed) -> Result<Self> {
        let entry = EnvelopeSignature::sign(seed, Purpose::Checkpoint, &self.statement.body.0)?;
        add_signature(&mut self.statement.signatures, entry)?;
        Ok(self)
    }

    /// Whether `key` signed it.
    ///
    /// # Errors
    /// [`Error::SignatureInvalid`] for a signature under its name that isn't by it.
    pub fn is_signed_by(&self, key: &PublicKey) -> Result<bool> {
        let id = key.id();
        let mut entries = self.statement.signatures.iter();
        let Some(entry) = entries.find(|entry| entry.keyid == id) else {
            return Ok(false);
        };
        sign::verify(key, Purpose::Checkpoint, &self.statement.body.0, &entry.sig)?;
        Ok(true)
    }

    /// Writes it to the new file `path`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, path: &Path) -> Result<()> {
        let bytes = self.statement.encode(CHECKPOINT)?;
        outside::write_new(path, &bytes)
    }

    /// What was signed.
    #[must_use]
    pub const fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Who signed it, ascending; not all need be known.
    pub fn signers(&self) -> impl Iterator<Item = KeyId> {
        self.statement.signatures.iter().map(|entry| entry.keyid)
    }
}
