//! A signed statement: the exact bytes that were signed, what for, and who signed. Countersignatures, key
//! rotations, advisories and checkpoints are statements (`docs/package-format.md`, section 6).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::envelope::{EnvelopeSignature, check_signatures};
use crate::error::{Error, Result};
use crate::json;
use crate::seed::SecretSeed;
use crate::sign::Purpose;
use crate::text::Invalid;

/// A statement and its signatures. Field order is part of the format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedStatement {
    /// What the signatures are for.
    #[serde(rename = "type")]
    pub purpose: Purpose,
    /// The exact bytes that were signed, in base64.
    pub body: Base64Bytes,
    /// Signatures over them, strictly ascending by key id.
    pub signatures: Vec<EnvelopeSignature>,
}

/// Bytes in padded standard base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Base64Bytes(pub Vec<u8>);

impl SignedStatement {
    /// Signs `body` with each of `seeds`; `what` names it in errors.
    ///
    /// # Errors
    /// As [`EnvelopeSignature::sign`]; [`Error::Malformed`] if a seed is given twice.
    pub fn sign(
        what: &'static str,
        purpose: Purpose,
        body: &impl Serialize,
        seeds: &[&SecretSeed],
    ) -> Result<Self> {
        let body = json::encode(what, body)?;
        let signatures = seeds
            .iter()
            .map(|seed| EnvelopeSignature::sign(seed, purpose, &body));
        let mut statement = Self {
            purpose,
            signatures: signatures.collect::<Result<_>>()?,
            body: Base64Bytes(body),
        };
        statement.signatures.sort_by_key(|entry| entry.keyid);
        statement.check(what, purpose)?;
        Ok(statement)
    }

    /// Reads a file that holds one statement for `purpose`.
    ///
    /// # Errors
    /// [`Error::Malformed`] for any deviation from the one encoding, and for another purpose.
    pub fn decode(what: &'static str, purpose: Purpose, bytes: &[u8]) -> Result<Self> {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let statement: Self = json::decode_canonical(what, bytes)?;
        statement.check(what, purpose)?;
        Ok(statement)
    }

    /// The bytes of a file that holds it.
    ///
    /// # Errors
    /// None in practice; encoding is fallible in general.
    pub fn encode(&self, what: &'static str) -> Result<Vec<u8>> {
        let mut bytes = json::encode(what, self)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// What was signed, parsed. Call it once a signature over the bytes is known to be good.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn content<T: DeserializeOwned + Serialize>(&self, what: &'static str) -> Result<T> {
        json::decode_canonical(what, &self.body.0)
    }

    pub(crate) fn check(&self, what: &'static str, purpose: Purpose) -> Result<()> {
        if self.purpose != purpose {
            return Err(Error::malformed(what, "it has another type"));
        }
        check_signatures(what, &self.signatures)
    }
}

impl TryFrom<String> for Base64Bytes {
    type Error = Invalid;
    fn try_from(text: String) -> Result<Self, Invalid> {
        BASE64
            .decode(&text)
            .map(Self)
            .map_err(|_| Invalid::new("body", &text, "padded base64"))
    }
}

impl From<Base64Bytes> for String {
    fn from(bytes: Base64Bytes) -> Self {
        BASE64.encode(bytes.0)
    }
}
