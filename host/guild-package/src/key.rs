//! Keys: public keys that passed every check, their ids, and the public record a publisher hands out.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ed25519_dalek::VerifyingKey;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::json;
use crate::limits::SMALL_FILE_MAX_BYTES;
use crate::outside;
use crate::seed::{Passphrase, SecretSeed};
use crate::text::{Invalid, PlainText};

/// A signature algorithm. It is a property of a trusted key, never chosen by a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Algorithm {
    /// Ed25519 under the strict rule of `docs/package-format.md`, section 6.
    #[serde(rename = "ed25519")]
    Ed25519,
}

/// A key's identity: `gk1-` and the SHA-256 of algorithm and public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyId(Digest);

/// An Ed25519 public key that is canonical, of large order and free of torsion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicKey(VerifyingKey);

/// What a publisher hands out: the public key and who it says it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyRecord {
    /// Always 1.
    pub schema: u64,
    /// The key's id; must follow from the key.
    pub id: KeyId,
    /// The algorithm.
    pub alg: Algorithm,
    /// The key, in base64.
    pub public: PublicKey,
    /// A name for people.
    pub label: PlainText,
    /// Who holds the key. Two keys of one operator count once where a policy asks for distinct ones.
    pub operator: PlainText,
    /// Whether the key was made by a test or demonstration and protects nothing.
    pub test_identity: bool,
}

/// What [`keygen`] is to write.
#[derive(Clone, Debug)]
pub struct KeygenOptions {
    /// A name for people.
    pub label: PlainText,
    /// Who holds the key.
    pub operator: PlainText,
    /// Marks the key as made for a test or demonstration.
    pub test_identity: bool,
    /// Encrypts the seed file.
    pub passphrase: Option<Passphrase>,
}

/// Makes a key: the secret seed goes to `seed_file` (new, mode 0600), the public record to
/// `record_file` (new). Both are durable on return.
///
/// # Errors
/// [`Error::Io`] if a file exists or cannot be written; no seed file is left without its record.
pub fn keygen(seed_file: &Path, record_file: &Path, options: &KeygenOptions) -> Result<KeyRecord> {
    let seed = SecretSeed::generate(seed_file)?;
    let public = seed.public_key()?;
    let record = KeyRecord {
        schema: 1,
        id: public.id(),
        alg: Algorithm::Ed25519,
        public,
        label: options.label.clone(),
        operator: options.operator.clone(),
        test_identity: options.test_identity,
    };
    seed.write(seed_file, options.passphrase.as_ref())?;
    if let Err(error) = record.write(record_file) {
        // The seed was made a moment ago and nobody has used it.
        let _ = std::fs::remove_file(seed_file);
        return Err(error);
    }
    Ok(record)
}

/// What stands behind the name of a key wherever it is shown: a test identity protects nothing.
#[must_use]
pub const fn test_mark(test_identity: bool) -> &'static str {
    match test_identity {
        true => " (test identity)",
        false => "",
    }
}

impl KeyId {
    /// The id of a public key: SHA-256 of `"guild-key-v1" 00 alg key`, with 0x01 for Ed25519.
    #[must_use]
    pub fn of(public: &[u8; 32]) -> Self {
        let mut body = b"guild-key-v1\x00\x01".to_vec();
        body.extend(public);
        Self(Digest::of(&body))
    }

    /// The first 20 characters, for tables.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string().chars().take(20).collect()
    }

    /// Whether `text` is the id or a prefix of it with at least 12 digits after `gk1-`.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        const PREFIX_BYTES_MIN: usize = "gk1-".len() + 12;
        text.len() >= PREFIX_BYTES_MIN && self.to_string().starts_with(text)
    }

    /// The first 128 bits as eight words that can be read aloud: consonant, vowel, consonant, vowel,
    /// consonant for each 16 bits (the proquint alphabet).
    #[must_use]
    pub fn words(&self) -> String {
        const CONSONANTS: &[u8; 16] = b"bdfghjklmnprstvz";
        const VOWELS: &[u8; 4] = b"aiou";
        let consonant = |bits: u16| char::from(CONSONANTS[usize::from(bits & 15)]);
        let vowel = |bits: u16| char::from(VOWELS[usize::from(bits & 3)]);
        let (pairs, _) = self.0.as_bytes()[..16].as_chunks::<2>();
        let word = |pair: &[u8; 2]| {
            let bits = u16::from_be_bytes(*pair);
            let letters = [
                consonant(bits >> 12),
                vowel(bits >> 10),
                consonant(bits >> 6),
                vowel(bits >> 4),
                consonant(bits),
            ];
            String::from_iter(letters)
        };
        pairs.iter().map(word).collect::<Vec<_>>().join(" ")
    }
}

impl PublicKey {
    /// Checks a public key (`docs/package-format.md`, step 6.1).
    ///
    /// # Errors
    /// [`Error::KeyUnacceptable`] for bytes that are no point, a second spelling of a point, a point
    /// of small order, or a point with a torsion part.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self> {
        let unacceptable = |reason| Error::KeyUnacceptable { reason };
        let key = VerifyingKey::from_bytes(bytes)
            .map_err(|_| unacceptable("it is not a point of the curve"))?;
        let point = key.to_edwards();
        if point.compress().as_bytes() != bytes {
            return Err(unacceptable(
                "it is not the canonical encoding of its point",
            ));
        }
        if key.is_weak() {
            return Err(unacceptable(
                "it has small order, so it would accept forged signatures",
            ));
        }
        if !point.is_torsion_free() {
            return Err(unacceptable("it has a torsion part"));
        }
        Ok(Self(key))
    }

    /// The 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// The key's id.
    #[must_use]
    pub fn id(&self) -> KeyId {
        KeyId::of(self.as_bytes())
    }

    pub(crate) const fn verifying_key(&self) -> &VerifyingKey {
        &self.0
    }
}

impl KeyRecord {
    /// Reads and checks a record.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a text that is not a record or an id that is not the key's,
    /// [`Error::Io`] if reading fails.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = outside::read_limited(path, SMALL_FILE_MAX_BYTES)?;
        Self::decode(&bytes)
    }

    /// As [`Self::read`], from bytes.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let what = "the key record";
        let record: Self = json::decode(what, bytes)?;
        record.check(what)?;
        Ok(record)
    }

    /// The rules beyond the fields' own; `what` holds the record, for errors.
    pub(crate) fn check(&self, what: &str) -> Result<()> {
        if self.schema != 1 {
            return Err(Error::malformed(what, "schema is not 1"));
        }
        match self.id == self.public.id() {
            true => Ok(()),
            false => Err(Error::malformed(what, "id is not the id of the public key")),
        }
    }

    fn write(&self, path: &Path) -> Result<()> {
        let mut bytes = json::encode("the key record", self)?;
        bytes.push(b'\n');
        outside::write_new(path, &bytes)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gk1-{}", self.0)
    }
}

impl FromStr for KeyId {
    type Err = Invalid;

    /// # Errors
    /// Anything but `gk1-` and 64 lower-case hex digits.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let digest = text.strip_prefix("gk1-").and_then(|hex| hex.parse().ok());
        digest
            .map(Self)
            .ok_or_else(|| Invalid::new("key id", text, "gk1- and 64 lower-case hex digits"))
    }
}

impl TryFrom<String> for KeyId {
    type Error = Invalid;
    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl From<KeyId> for String {
    fn from(id: KeyId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for PublicKey {
    type Error = Error;
    fn try_from(text: String) -> Result<Self> {
        Self::from_bytes(&decode_base64(&text).ok_or(Error::KeyUnacceptable {
            reason: "it is not 32 bytes in base64",
        })?)
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> Self {
        BASE64.encode(key.as_bytes())
    }
}

/// Exactly `N` bytes from padded standard base64 in its one spelling.
pub(crate) fn decode_base64<const N: usize>(text: &str) -> Option<[u8; N]> {
    BASE64.decode(text).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::digest::from_hex;
    use crate::seed::SeedFile;

    /// RFC 8032, test 1.
    const RFC_KEY: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

    fn key_bytes(hex: &str) -> [u8; 32] {
        from_hex(hex).unwrap()
    }

    fn options() -> KeygenOptions {
        KeygenOptions {
            label: "example".parse().unwrap(),
            operator: "example operator".parse().unwrap(),
            test_identity: true,
            passphrase: None,
        }
    }

    /// Computed with Python's hashlib over the documented bytes; the words with the proquint
    /// document's example 127.0.0.1, `lusab babad`.
    #[test]
    fn row_23_id_is_the_documented_hash() {
        let id = PublicKey::from_bytes(&key_bytes(RFC_KEY)).unwrap().id();
        assert_eq!(id.to_string(), format!("gk1-{RFC_KEY_ID}"));
        assert!(id.matches(&id.to_string()));
        assert!(id.matches(&format!("gk1-{}", &RFC_KEY_ID[..12])));
        assert!(!id.matches(&format!("gk1-{}", &RFC_KEY_ID[..11])));
        assert!(!id.matches(&RFC_KEY_ID[..16]));
        let localhost = format!("gk1-7f000001{}", "0".repeat(56));
        let words = localhost.parse::<KeyId>().unwrap().words();
        assert_eq!(
            words.split(' ').take(2).collect::<Vec<_>>(),
            ["lusab", "babad"]
        );
        assert_eq!(words.split(' ').count(), 8);
    }

    const RFC_KEY_ID: &str = "7192b85d6165b0426b9937394181d772405c81fc0495db133c4b9b822ec1cb54";

    /// The 14 encodings of the eight points of small order.
    #[test]
    fn row_17_small_order_keys_are_refused() {
        for hex in [
            "0100000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000080",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0000000000000000000000000000000000000000000000000000000000000080",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        ] {
            // Each is a point to the library: the refusal is ours.
            assert!(VerifyingKey::from_bytes(&key_bytes(hex)).is_ok(), "{hex}");
            assert!(PublicKey::from_bytes(&key_bytes(hex)).is_err(), "{hex}");
        }
    }

    /// The y coordinates from p to 2^255 - 1, with either sign: second spellings of small ones.
    #[test]
    fn row_18_second_spellings_are_refused() {
        let mut points = 0;
        for last in 0xed..=0xff_u8 {
            for sign in [0x7f, 0xff] {
                let mut bytes = [0xff; 32];
                (bytes[0], bytes[31]) = (last, sign);
                let is_point = VerifyingKey::from_bytes(&bytes).is_ok();
                points += usize::from(is_point);
                let refusal = PublicKey::from_bytes(&bytes).unwrap_err().to_string();
                let reason = if is_point { "canonical" } else { "not a point" };
                assert!(refusal.contains(reason), "{last:x} {sign:x}: {refusal}");
            }
        }
        assert!(points > 4, "the library takes {points} of them for points");
    }

    /// A good key plus a point of order eight: neither weak nor misspelt.
    #[test]
    fn row_18_keys_with_a_torsion_part_are_refused() {
        let order_eight = "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05";
        let torsion = VerifyingKey::from_bytes(&key_bytes(order_eight))
            .unwrap()
            .to_edwards();
        let good = VerifyingKey::from_bytes(&key_bytes(RFC_KEY))
            .unwrap()
            .to_edwards();
        let mixed = (good + torsion).compress().to_bytes();
        assert!(!VerifyingKey::from_bytes(&mixed).unwrap().is_weak());
        let refusal = PublicKey::from_bytes(&mixed).unwrap_err().to_string();
        assert!(refusal.contains("torsion"), "{refusal}");
    }

    #[test]
    fn row_44_seed_files_are_private_and_new() {
        let folder = tempfile::tempdir().unwrap();
        let (seed, record) = (folder.path().join("seed"), folder.path().join("key.json"));
        let made = keygen(&seed, &record, &options()).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode(&seed), 0o600);
        assert_eq!(KeyRecord::read(&record).unwrap(), made);
        assert!(made.test_identity);
        assert_eq!(
            SeedFile::read(&seed)
                .unwrap()
                .plain()
                .unwrap()
                .public_key()
                .unwrap(),
            made.public
        );

        let before = std::fs::read(&seed).unwrap();
        assert!(keygen(&seed, &folder.path().join("other.json"), &options()).is_err());
        assert_eq!(std::fs::read(&seed).unwrap(), before);
        assert!(!folder.path().join("other.json").exists());
        assert!(keygen(&folder.path().join("seed2"), &record, &options()).is_err());
        assert!(!folder.path().join("seed2").exists());

        for loose in [0o640, 0o604, 0o660, 0o644] {
            std::fs::set_permissions(&seed, PermissionsExt::from_mode(loose)).unwrap();
            let refusal = SeedFile::read(&seed).unwrap_err();
            assert_eq!(refusal.code(), crate::Code::Usage, "{loose:o}");
        }
        std::fs::set_permissions(&seed, PermissionsExt::from_mode(0o600)).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&seed, &link).unwrap();
        assert!(SeedFile::read(&link).is_err());
    }

    #[test]
    fn row_23_a_record_with_a_foreign_id_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (seed, record) = (folder.path().join("seed"), folder.path().join("key.json"));
        let made = keygen(&seed, &record, &options()).unwrap();
        let text = std::fs::read_to_string(&record).unwrap();
        let forged = text.replace(&made.id.to_string(), &format!("gk1-{RFC_KEY_ID}"));
        assert!(KeyRecord::decode(forged.as_bytes()).is_err());
        let grown = text.replacen('{', "{\"private\":1,", 1);
        assert!(KeyRecord::decode(grown.as_bytes()).is_err());
    }
}
