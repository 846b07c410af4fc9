//! SHA-256 digests as a type. Text becomes a digest only through the strict parser, and store paths are
//! built from the 32 bytes, so no text from outside ever becomes part of a path.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::text::Invalid;

/// A SHA-256 digest. Prints as 64 lower-case hex digits.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest named by the first file of a chain as its predecessor: 32 zero bytes.
    pub const NONE: Self = Self([0; 32]);

    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// A digest that was computed elsewhere.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first four bytes as 8 hex digits; only ever part of a file name, never an identity.
    #[must_use]
    pub fn short(&self) -> String {
        to_hex(&self.0[..4])
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = Invalid;

    /// # Errors
    /// Anything but exactly 64 lower-case hex digits.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        from_hex(text)
            .map(Self)
            .ok_or_else(|| Invalid::new("digest", text, "64 lower-case hex digits"))
    }
}

impl TryFrom<String> for Digest {
    type Error = Invalid;
    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

/// A running SHA-256 that also counts, so that "how much was hashed" can be compared with a declared size.
#[derive(Clone, Default)]
pub struct Hasher {
    state: Sha256,
    bytes: u64,
}

impl Hasher {
    /// Adds `bytes`.
    pub fn update(&mut self, bytes: &[u8]) {
        self.state.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    /// The digest and the number of bytes it covers.
    #[must_use]
    pub fn finish(self) -> (Digest, u64) {
        (Digest(self.state.finalize().into()), self.bytes)
    }
}

/// `bytes` as lower-case hex.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

/// `N` bytes from exactly `2 * N` lower-case hex digits.
pub(crate) fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let nibble = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = nibble(*high)? << 4 | nibble(*low)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4 example: SHA-256 of "abc".
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn digest_of_abc_is_the_published_one() {
        assert_eq!(Digest::of(b"abc").to_string(), ABC);
        let mut hasher = Hasher::default();
        hasher.update(b"a");
        hasher.update(b"bc");
        assert_eq!(hasher.finish(), (ABC.parse().unwrap(), 3));
    }

    #[test]
    fn row_54_digest_text_is_strict() {
        let upper = ABC.to_uppercase();
        let long = format!("{ABC}a");
        let padded = format!(" {ABC}");
        let dotted = format!("../{}", &ABC[3..]);
        let wide = format!("{}é", &ABC[2..]);
        for text in [
            "",
            &ABC[1..],
            &long,
            &upper,
            &padded,
            &dotted,
            &wide,
            "sha256:",
        ] {
            assert!(text.parse::<Digest>().is_err(), "{text:?} was accepted");
        }
    }
}
