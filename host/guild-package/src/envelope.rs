//! The envelope `signatures.json`: who signed the manifest, and who countersigned. It is the only part
//! of a bundle that no signature covers, so it has one encoding, a closed schema and no room for keys.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::json;
use crate::key::{Algorithm, KeyId};
use crate::limits::{ENVELOPE_MAX_BYTES, SIGNATURES_MAX};
use crate::sign::{Purpose, Signature};
use crate::text::Invalid;

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
    pub countersignatures: Vec<Countersignature>,
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

/// A signed statement by somebody other than the publisher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Countersignature {
    /// Always [`Purpose::Countersign`].
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
        check_signatures(&self.signatures)?;
        if self.countersignatures.len() > SIGNATURES_MAX {
            return Err(Error::malformed(
                ENVELOPE,
                "there are more than 32 countersignatures",
            ));
        }
        for countersignature in &self.countersignatures {
            if countersignature.purpose != Purpose::Countersign {
                return Err(Error::malformed(
                    ENVELOPE,
                    "a countersignature has another type",
                ));
            }
            check_signatures(&countersignature.signatures)?;
        }
        Ok(())
    }
}

/// Ascending and distinct, so no key is counted twice.
fn check_signatures(signatures: &[EnvelopeSignature]) -> Result<()> {
    if !(1..=SIGNATURES_MAX).contains(&signatures.len()) {
        return Err(Error::malformed(
            ENVELOPE,
            "a list of signatures has not 1 to 32 elements",
        ));
    }
    if !signatures.is_sorted_by(|a, b| a.keyid < b.keyid) {
        return Err(Error::malformed(
            ENVELOPE,
            "signatures are not strictly ascending by key id",
        ));
    }
    Ok(())
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
