//! Signing and the one place where a signature is checked: DSSE pre-authentication encoding, typed
//! purposes, strict Ed25519 (`docs/package-format.md`, section 6).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ed25519_dalek::Signer as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256, Sha512};

use crate::digest::{Digest, to_hex};
use crate::error::{Error, Result};
use crate::key::{PublicKey, decode_base64};
use crate::seed::SecretSeed;
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
    let message = message(purpose, body);
    let signature = Signature(seed.signing_key().sign(&message).to_bytes());
    verify(&seed.public_key()?, purpose, body, &signature)?;
    Ok(signature)
}

/// Checks that `key` signed `body` for `purpose`.
///
/// # Errors
/// [`Error::SignatureInvalid`].
pub fn verify(key: &PublicKey, purpose: Purpose, body: &[u8], signature: &Signature) -> Result<()> {
    let message = message(purpose, body);
    check_strict(key, &message, signature).map_err(|reason| Error::SignatureInvalid {
        key: key.id(),
        reason,
    })
}

/// The bytes that a signature of `body` for `purpose` is over.
#[must_use]
pub fn message(purpose: Purpose, body: &[u8]) -> Vec<u8> {
    pre_authentication_encoding(purpose.payload_type(), body)
}

/// The body inside bytes that [`message`] made for `purpose`.
#[must_use]
pub fn message_body(purpose: Purpose, message: &[u8]) -> Option<&[u8]> {
    let payload_type = purpose.payload_type();
    let head = format!("DSSEv1 {} {payload_type} ", payload_type.len());
    let rest = message.strip_prefix(head.as_bytes())?;
    let digits = rest.iter().position(|byte| *byte == b' ')?;
    let body = rest.get(digits + 1..)?;
    (self::message(purpose, body) == message).then_some(body)
}

/// What a signature that isn't the one asked for is over instead. It lets nothing in: it only finds words for a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mistake {
    /// The body, without what [`message`] puts before it.
    BodyAlone,
    /// The right bytes or the body, as Ed25519ph: with SHA-512 and a domain of its own.
    Prehash,
    /// The digest of the right bytes, or of the body, as if that were what is to be signed.
    Digest(&'static str),
    /// The right bytes and a line break.
    LineBreak,
    /// Nothing that is known.
    Unknown,
}

impl Mistake {
    /// What `signature` by `key` is over, where it isn't what [`verify`] asks for.
    #[must_use]
    pub fn of(key: &PublicKey, purpose: Purpose, body: &[u8], signature: &Signature) -> Self {
        let whole = message(purpose, body);
        let is_over = |bytes: &[u8]| check_strict(key, bytes, signature).is_ok();
        if is_over(body) {
            return Self::BodyAlone;
        }
        if is_over(&[&whole, &b"\n"[..]].concat()) {
            return Self::LineBreak;
        }
        for bytes in [&whole[..], body] {
            if is_prehashed(key, bytes, signature) {
                return Self::Prehash;
            }
            let digests: [(&str, Vec<u8>); 2] = [
                ("SHA-256", Sha256::digest(bytes).to_vec()),
                ("SHA-512", Sha512::digest(bytes).to_vec()),
            ];
            for (name, digest) in digests {
                if is_over(&digest) || is_over(to_hex(&digest).as_bytes()) {
                    return Self::Digest(name);
                }
            }
        }
        Self::Unknown
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BodyAlone => {
                f.write_str("it is over the manifest alone, without the line before it")
            }
            Self::Prehash => f.write_str("it is Ed25519ph, which signs a SHA-512 prehash"),
            Self::Digest(name) => write!(f, "it is over a {name} digest of them"),
            Self::LineBreak => f.write_str("it is over these bytes and a line break behind them"),
            Self::Unknown => f.write_str("it was made by another key or over other bytes"),
        }
    }
}

/// Whether this is Ed25519ph over `message`, with an empty context. No signature is accepted for that.
#[expect(
    clippy::disallowed_methods,
    reason = "it tells a mistake from another, and lets nothing in"
)]
fn is_prehashed(key: &PublicKey, message: &[u8], signature: &Signature) -> bool {
    let prehash = Sha512::new_with_prefix(message);
    let signature = ed25519_dalek::Signature::from_bytes(&signature.0);
    let verified = key
        .verifying_key()
        .verify_prehashed_strict(prehash, None, &signature);
    verified.is_ok()
}

/// Steps 6.3 and 6.4: the only function of the crate that accepts an Ed25519 signature.
#[expect(
    clippy::disallowed_methods,
    reason = "the one call; every other path into the library is lenient"
)]
fn check_strict(
    key: &PublicKey,
    message: &[u8],
    signature: &Signature,
) -> Result<(), &'static str> {
    // Refused before the library sees it, so that no build option of the library can let it through.
    if !is_below_group_order(signature.scalar()) {
        return Err("its scalar is not reduced");
    }
    key.verifying_key()
        .verify_strict(message, &ed25519_dalek::Signature::from_bytes(&signature.0))
        .map_err(|_| "it was not made by this key over these bytes for this purpose")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes<const N: usize>(hex: &str) -> [u8; N] {
        let pairs = hex
            .as_bytes()
            .chunks(2)
            .map(|pair| std::str::from_utf8(pair).unwrap());
        let bytes: Vec<u8> = pairs
            .map(|pair| u8::from_str_radix(pair, 16).unwrap())
            .collect();
        bytes.try_into().unwrap()
    }

    /// RFC 8032, section 7.1, tests 1 to 3: seed, public key, message, signature.
    const RFC_8032: [(&str, &str, &[u8], &str); 3] = [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            b"",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            b"\x72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            b"\xaf\x82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ),
    ];

    #[test]
    fn rfc_8032_vectors() {
        for (seed, public, message, signature) in RFC_8032 {
            let seed = SecretSeed::from_bytes(bytes(seed));
            let key = seed.public_key().unwrap();
            assert_eq!(key.as_bytes(), &bytes(public));
            assert_eq!(
                seed.signing_key().sign(message).to_bytes(),
                bytes(signature)
            );
            assert_eq!(
                check_strict(&key, message, &Signature(bytes(signature))),
                Ok(())
            );
        }
    }

    #[test]
    fn rfc_8032_signatures_with_one_flipped_bit_are_refused() {
        let (_, public, message, signature) = RFC_8032[2];
        let key = PublicKey::from_bytes(&bytes(public)).unwrap();
        for bit in 0..512 {
            let mut flipped: [u8; 64] = bytes(signature);
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(
                check_strict(&key, message, &Signature(flipped)).is_err(),
                "bit {bit}"
            );
        }
    }

    /// The sample of the DSSE protocol document.
    #[test]
    fn row_33_encoding_is_the_dsse_one() {
        let encoded = pre_authentication_encoding("http://example.com/HelloWorld", b"hello world");
        assert_eq!(
            encoded,
            b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
        );
        let spaced = pre_authentication_encoding("a", b"1 b 2 c\n");
        assert_eq!(spaced, b"DSSEv1 1 a 8 1 b 2 c\n");
    }

    /// The published scalar plus L: the same equation, another text. L is written out in RFC 8032.
    #[test]
    fn row_19_malleated_scalar_is_refused() {
        let (_, public, message, signature) = RFC_8032[1];
        let key = PublicKey::from_bytes(&bytes(public)).unwrap();
        let order: [u8; 32] =
            bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
        let mut malleated: [u8; 64] = bytes(signature);
        let mut carry = 0;
        for (byte, addend) in malleated[32..].iter_mut().zip(order) {
            let sum = u16::from(*byte) + u16::from(addend) + carry;
            *byte = sum as u8;
            carry = sum >> 8;
        }
        assert_eq!(carry, 0);
        let refusal = check_strict(&key, message, &Signature(malleated));
        assert_eq!(refusal, Err("its scalar is not reduced"));
        assert!(!is_below_group_order(&order));
        assert!(!is_below_group_order(&[0xff; 32]));
        assert!(is_below_group_order(&[0; 32]));
    }

    /// "Taming the many EdDSAs", the set's edge cases: small-order and mixed-order points, unreduced
    /// scalars, second encodings of R. The strict rule together with the key checks refuses each.
    #[test]
    fn row_17_published_edge_cases_are_refused() {
        let cases = include_str!("../tests/data/speccheck.txt");
        let mut count = 0;
        for line in cases.lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.split(' ');
            let mut next = || fields.next().unwrap();
            let (message, public, signature) = (bytes::<32>(next()), bytes(next()), bytes(next()));
            let accepted = PublicKey::from_bytes(&public)
                .is_ok_and(|key| check_strict(&key, &message, &Signature(signature)).is_ok());
            assert!(!accepted, "{line}");
            count += 1;
        }
        assert_eq!(count, 10);
    }

    /// The owner of the third RFC key signs with R = identity: S is k times the secret scalar, computed
    /// from RFC 8032 with Python's integers. The library's lenient check takes it.
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "shows that the lenient check would accept it"
    )]
    fn row_17_a_commitment_of_small_order_is_refused() {
        let (_, public, message, _) = RFC_8032[2];
        let key = PublicKey::from_bytes(&bytes(public)).unwrap();
        let signature: [u8; 64] = bytes(
            "010000000000000000000000000000000000000000000000000000000000000089653588ead4771e2326253c8cc167ed5f891f0c238314c9d136bb6e54f2f206",
        );
        let parsed = ed25519_dalek::Signature::from_bytes(&signature);
        assert!(ed25519_dalek::Verifier::verify(key.verifying_key(), message, &parsed).is_ok());
        assert!(check_strict(&key, message, &Signature(signature)).is_err());
    }

    #[test]
    fn row_21_a_signature_counts_for_one_purpose() {
        let purposes = [
            Purpose::Release,
            Purpose::Countersign,
            Purpose::KeyRotation,
            Purpose::Revocation,
            Purpose::TrustRoot,
            Purpose::Checkpoint,
        ];
        let seed = SecretSeed::from_bytes([7; 32]);
        let key = seed.public_key().unwrap();
        for made_for in purposes {
            let signature = sign(&seed, made_for, b"{}").unwrap();
            for shown_as in purposes {
                let accepted = verify(&key, shown_as, b"{}", &signature).is_ok();
                assert_eq!(
                    accepted,
                    made_for == shown_as,
                    "{made_for:?} as {shown_as:?}"
                );
            }
            let written = serde_json::to_value(made_for).unwrap();
            assert_eq!(written, made_for.payload_type());
        }
    }
}
