//! Signing and the one place where a signature is checked: DSSE pre-authentication encoding, typed
//! purposes, strict Ed25519 (`docs/package-format.md`, section 6).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ed25519_dalek::Signer as _;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::key::{PublicKey, SecretSeed, decode_base64};
use crate::text::Invalid;

/// What a signature is for. It is part of what is signed, so a signature made for one purpose has no
/// meaning for another; a check names exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Purpose {
    /// A publisher releases a manifest.
    #[serde(rename = "application/vnd.guild.release.v1+json")]
    Release,
    /// Somebody else vouches for a release.
    #[serde(rename = "application/vnd.guild.countersign.v1+json")]
    Countersign,
    /// One key follows another.
    #[serde(rename = "application/vnd.guild.key-rotation.v1+json")]
    KeyRotation,
    /// A key or release is withdrawn.
    #[serde(rename = "application/vnd.guild.revocation.v1+json")]
    Revocation,
    /// A new set of trusted keys.
    #[serde(rename = "application/vnd.guild.trust-root.v1+json")]
    TrustRoot,
    /// The state of a store's chain at one time.
    #[serde(rename = "application/vnd.guild.checkpoint.v1+json")]
    Checkpoint,
}

impl Purpose {
    /// The payload type that enters the pre-authentication encoding.
    #[must_use]
    pub const fn payload_type(self) -> &'static str {
        match self {
            Self::Release => "application/vnd.guild.release.v1+json",
            Self::Countersign => "application/vnd.guild.countersign.v1+json",
            Self::KeyRotation => "application/vnd.guild.key-rotation.v1+json",
            Self::Revocation => "application/vnd.guild.revocation.v1+json",
            Self::TrustRoot => "application/vnd.guild.trust-root.v1+json",
            Self::Checkpoint => "application/vnd.guild.checkpoint.v1+json",
        }
    }
}

/// The 64 bytes of an Ed25519 signature, in base64 in JSON.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Signature([u8; 64]);

/// Signs `body` for `purpose`, and checks the result with the public half before handing it out.
///
/// # Errors
/// [`Error::SignatureInvalid`] if the fresh signature does not verify (a fault of the machine).
pub fn sign(seed: &SecretSeed, purpose: Purpose, body: &[u8]) -> Result<Signature> {
    let message = pre_authentication_encoding(purpose.payload_type(), body);
    let signature = Signature(seed.signing_key().sign(&message).to_bytes());
    verify(&seed.public_key()?, purpose, body, &signature)?;
    Ok(signature)
}

/// Checks that `key` signed `body` for `purpose`. No other function of this crate checks a signature.
///
/// # Errors
/// [`Error::SignatureInvalid`].
#[expect(
    clippy::disallowed_methods,
    reason = "the one call; every other path into the crate is lenient"
)]
pub fn verify(key: &PublicKey, purpose: Purpose, body: &[u8], signature: &Signature) -> Result<()> {
    let invalid = |reason| Error::SignatureInvalid {
        key: key.id(),
        reason,
    };
    // Step 6.3: refused before the library sees it, so that no build option can let it through.
    if !is_below_group_order(signature.scalar()) {
        return Err(invalid("its scalar is not reduced"));
    }
    let message = pre_authentication_encoding(purpose.payload_type(), body);
    let parsed = ed25519_dalek::Signature::from_bytes(&signature.0);
    key.verifying_key()
        .verify_strict(&message, &parsed)
        .map_err(|_| invalid("it was not made by this key over these bytes for this purpose"))
}

/// `"DSSEv1" SP len(type) SP type SP len(body) SP body`, lengths in decimal.
fn pre_authentication_encoding(payload_type: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "DSSEv1 {} {payload_type} {} ",
        payload_type.len(),
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// Whether a little-endian scalar is below L = 2^252 + 27742317777372353535851937790883648493.
fn is_below_group_order(scalar: &[u8]) -> bool {
    const GROUP_ORDER: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    scalar.iter().rev().lt(GROUP_ORDER.iter().rev())
}

impl Signature {
    /// A signature from its bytes: R, then the scalar.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }

    /// The bytes: R, then the scalar.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }

    /// SHA-256 of the bytes, by which a countersignature names what it relies on.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(&self.0)
    }

    fn scalar(&self) -> &[u8] {
        &self.0[32..]
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({})", BASE64.encode(self.0))
    }
}

impl TryFrom<String> for Signature {
    type Error = Invalid;
    fn try_from(text: String) -> Result<Self, Invalid> {
        decode_base64(&text)
            .map(Self)
            .ok_or_else(|| Invalid::new("signature", &text, "64 bytes in padded base64"))
    }
}

impl From<Signature> for String {
    fn from(signature: Signature) -> Self {
        BASE64.encode(signature.0)
    }
}
