//! The envelope `signatures.json`: who signed the manifest, and who countersigned. It is the only part
//! of a bundle that no signature covers, so it has one encoding, a closed schema and no room for keys.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::json;
use crate::key::{Algorithm, KeyId};
use crate::limits::{ENVELOPE_MAX_BYTES, SIGNATURES_MAX};
use crate::seed::SecretSeed;
use crate::sign::{Purpose, Signature, sign};
use crate::statement::SignedStatement;

const ENVELOPE: &str = "signatures.json";

/// The whole envelope. Field order is part of the format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Envelope {
    /// Always 1.
    pub schema: u64,
    /// Release signatures, strictly ascending by key id.
    pub signatures: Vec<EnvelopeSignature>,
    /// Statements by others about this release.
    pub countersignatures: Vec<SignedStatement>,
}

/// One signature and the key it claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvelopeSignature {
    /// A hint for looking the key up; no authority of its own.
    pub keyid: KeyId,
    /// Must equal the trusted key's algorithm.
    pub alg: Algorithm,
    /// The signature.
    pub sig: Signature,
}

impl EnvelopeSignature {
    /// Signs `body` for `purpose`.
    ///
    /// # Errors
    /// As [`sign`].
    pub fn sign(seed: &SecretSeed, purpose: Purpose, body: &[u8]) -> Result<Self> {
        Ok(Self {
            keyid: seed.public_key()?.id(),
            alg: Algorithm::Ed25519,
            sig: sign(seed, purpose, body)?,
        })
    }
}

impl Envelope {
    /// An envelope of release signatures, put into order.
    #[must_use]
    pub fn new(mut signatures: Vec<EnvelopeSignature>) -> Self {
        signatures.sort_by_key(|signature| signature.keyid);
        Self {
            schema: 1,
            signatures,
            countersignatures: Vec::new(),
        }
    }

    /// Reads an envelope.
    ///
    /// # Errors
    /// [`Error::Unsigned`] for an empty list of signatures, [`Error::Malformed`] for any deviation
    /// from the one encoding.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        if bytes.len() as u64 > ENVELOPE_MAX_BYTES {
            return Err(Error::malformed(ENVELOPE, "it is larger than 64 KiB"));
        }
        let envelope: Self = json::decode_canonical(ENVELOPE, bytes)?;
        envelope.check()?;
        Ok(envelope)
    }

    /// The one encoding.
    ///
    /// # Errors
    /// As [`Self::decode`].
    pub fn encode(&self) -> Result<Vec<u8>> {
        self.check()?;
        json::encode(ENVELOPE, self)
    }

    fn check(&self) -> Result<()> {
        if self.schema != 1 {
            return Err(Error::malformed(ENVELOPE, "schema is not 1"));
        }
        if self.signatures.is_empty() {
            return Err(Error::Unsigned {
                detail: "signatures.json lists none",
            });
        }
        check_signatures(ENVELOPE, &self.signatures)?;
        if self.countersignatures.len() > SIGNATURES_MAX {
            return Err(Error::malformed(
                ENVELOPE,
                "there are more than 32 countersignatures",
            ));
        }
        for countersignature in &self.countersignatures {
            countersignature.check("a countersignature", Purpose::Countersign)?;
        }
        Ok(())
    }
}

/// Adds a signature where it belongs.
///
/// # Errors
/// [`Error::Usage`] if the key has signed already.
pub(crate) fn add_signature(
    signatures: &mut Vec<EnvelopeSignature>,
    signature: EnvelopeSignature,
) -> Result<()> {
    let key = signature.keyid;
    match signatures.binary_search_by_key(&key, |entry| entry.keyid) {
        Ok(_) => Err(Error::usage(
            format!("{key} has signed already"),
            "Sign with another key",
        )),
        Err(place) => {
            signatures.insert(place, signature);
            Ok(())
        }
    }
}

/// Ascending and distinct, so no key is counted twice.
pub(crate) fn check_signatures(what: &'static str, signatures: &[EnvelopeSignature]) -> Result<()> {
    if !(1..=SIGNATURES_MAX).contains(&signatures.len()) {
        return Err(Error::malformed(
            what,
            "a list of signatures has not 1 to 32 elements",
        ));
    }
    if !signatures.is_sorted_by(|a, b| a.keyid < b.keyid) {
        return Err(Error::malformed(
            what,
            "signatures are not strictly ascending by key id",
        ));
    }
    Ok(())
}
