//! The secret half of a key and the file it lies in: private, new, and encrypted under a passphrase where one is
//! given (`docs/package-format.md`, section 6).

use std::fmt;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use argon2::{Algorithm, Argon2, Params, Version};
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use ed25519_dalek::SigningKey;
use zeroize::Zeroizing;

use crate::digest::{from_hex, to_hex};
use crate::error::{Error, Result};
use crate::key::{KeyId, PublicKey};
use crate::limits::SMALL_FILE_MAX_BYTES;
use crate::outside;
use crate::text::escape;

/// First words of a seed file: format version, protection and algorithm.
const PLAIN_TAG: &str = "guild-seed-1 plain ed25519 ";
const ENCRYPTED_TAG: &str = "guild-seed-1 argon2id ed25519 ";

/// What a new file asks of whoever tries passphrases: 64 MiB and three passes for each.
const COST: Cost = Cost {
    memory_kib: 64 << 10,
    passes: 3,
    lanes: 1,
};
/// What a file may ask of its reader.
const COST_MAX: Cost = Cost {
    memory_kib: 1 << 20,
    passes: 16,
    lanes: 4,
};

const SALT_BYTES: usize = 16;
const NONCE_BYTES: usize = 24;
/// The seed and the tag behind it.
const CIPHERTEXT_BYTES: usize = 48;

/// The 32-byte secret of a key, wiped when dropped.
pub struct SecretSeed(Zeroizing<[u8; 32]>);

/// What a seed file is encrypted under, wiped when dropped.
#[derive(Clone)]
pub struct Passphrase(Zeroizing<String>);

/// A seed file that was read.
#[derive(Debug)]
pub enum SeedFile {
    /// Whoever reads the file has the seed.
    Plain(SecretSeed),
    /// The seed comes out with the passphrase.
    Encrypted(EncryptedSeed),
}

/// An encrypted seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncryptedSeed {
    /// For errors.
    path: PathBuf,
    cost: Cost,
    salt: [u8; SALT_BYTES],
    nonce: [u8; NONCE_BYTES],
    ciphertext: [u8; CIPHERTEXT_BYTES],
}

/// The work for one passphrase (Argon2id, RFC 9106).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cost {
    memory_kib: u32,
    passes: u32,
    lanes: u32,
}

impl SecretSeed {
    /// A fresh seed from the operating system.
    ///
    /// # Errors
    /// [`Error::Io`] if it gives no random bytes; `path` is for the error.
    pub fn generate(path: &Path) -> Result<Self> {
        let mut bytes = Zeroizing::new([0; 32]);
        random(bytes.as_mut_slice(), path)?;
        Ok(Self(bytes))
    }

    /// A seed from bytes, for tests with published vectors.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The public half. It is always computed: a caller-supplied one could be used to leak the seed.
    ///
    /// # Errors
    /// [`Error::KeyUnacceptable`], which no seed leads to.
    pub fn public_key(&self) -> Result<PublicKey> {
        PublicKey::from_bytes(self.signing_key().verifying_key().as_bytes())
    }

    /// The id of its key, which must be `key` or begin with it and 12 digits or more.
    ///
    /// # Errors
    /// [`Error::Usage`] for another key.
    pub fn check_id(&self, key: &str) -> Result<KeyId> {
        let found = self.public_key()?.id();
        match found.matches(key) {
            true => Ok(found),
            false if found.to_string().starts_with(key) => Err(Error::usage(
                format!("`{}` is too little of a key's id", escape(key)),
                "Give the whole id, or its first 12 digits or more behind `gk1-`",
            )),
            false => Err(Error::usage(
                format!("this is the seed of {found}, not of {}", escape(key)),
                "Give the key id that `guild kernel keygen` printed",
            )),
        }
    }

    pub(crate) fn signing_key(&self) -> SigningKey {
        SigningKey::from_bytes(&self.0)
    }

    /// Writes the new file `path` with mode 0600, encrypted where there is a passphrase.
    pub(crate) fn write(&self, path: &Path, passphrase: Option<&Passphrase>) -> Result<()> {
        let text = Zeroizing::new(match passphrase {
            Some(passphrase) => EncryptedSeed::seal(self, passphrase, path)?.to_text(),
            None => {
                let hex = Zeroizing::new(to_hex(self.0.as_slice()));
                format!("{PLAIN_TAG}{}\n", hex.as_str())
            }
        });
        outside::create_durable(path, 0o600, |file| {
            file.write_all(text.as_bytes())
                .map_err(Error::io("write", path))
        })
    }
}

impl Passphrase {
    /// A passphrase.
    ///
    /// # Errors
    /// [`Error::Usage`] for an empty one.
    pub fn new(text: Zeroizing<String>) -> Result<Self> {
        match text.is_empty() {
            false => Ok(Self(text)),
            true => Err(Error::usage(
                "the passphrase is empty",
                "Give one; a seed without one is made with --no-passphrase",
            )),
        }
    }

    /// The first line of the file at `path`, which only its owner may read.
    ///
    /// # Errors
    /// [`Error::Usage`] for a file that others may read, an empty line, or text that isn't UTF-8.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = read_private(path)?;
        let text = std::str::from_utf8(&bytes)
            .ok()
            .and_then(|text| text.lines().next());
        let line = text.ok_or_else(|| {
            let what = format!("{} holds no passphrase", path.display());
            Error::usage(what, "Put it into the first line, as UTF-8")
        })?;
        Self::new(Zeroizing::new(line.to_owned()))
    }
}

impl SeedFile {
    /// Reads a seed file made by [`crate::keygen`].
    ///
    /// # Errors
    /// [`Error::Usage`] if others may read the file, it belongs to somebody else, or it is no seed file.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = read_private(path)?;
        let text = std::str::from_utf8(&bytes)
            .ok()
            .and_then(|text| text.strip_suffix('\n'));
        let plain = |text: &str| {
            let seed = from_hex(text.strip_prefix(PLAIN_TAG)?)?;
            Some(Self::Plain(SecretSeed::from_bytes(seed)))
        };
        let encrypted = |text: &str| EncryptedSeed::parse(text, path).map(Self::Encrypted);
        text.and_then(|text| plain(text).or_else(|| encrypted(text)))
            .ok_or_else(|| {
                let what = format!("{} is not a seed file", path.display());
                Error::usage(what, "Make one with `guild kernel keygen`")
            })
    }

    /// The seed; `ask` gives the passphrase and is called only where one is needed.
    ///
    /// # Errors
    /// Those of `ask`; [`Error::Usage`] for another passphrase, or a file that was changed.
    pub fn open(self, ask: impl FnOnce(&Path) -> Result<Passphrase>) -> Result<SecretSeed> {
        match self {
            Self::Plain(seed) => Ok(seed),
            Self::Encrypted(encrypted) => encrypted.open(&ask(&encrypted.path)?),
        }
    }

    /// The seed of a file without a passphrase.
    ///
    /// # Errors
    /// [`Error::Usage`] for an encrypted one.
    pub fn plain(self) -> Result<SecretSeed> {
        self.open(|path| {
            let what = format!("{} is encrypted", path.display());
            Err(Error::usage(what, "Give its passphrase"))
        })
    }
}

impl EncryptedSeed {
    fn seal(seed: &SecretSeed, passphrase: &Passphrase, path: &Path) -> Result<Self> {
        let mut sealed = Self {
            path: path.to_owned(),
            cost: COST,
            salt: [0; SALT_BYTES],
            nonce: [0; NONCE_BYTES],
            ciphertext: [0; CIPHERTEXT_BYTES],
        };
        random(&mut sealed.salt, path)?;
        random(&mut sealed.nonce, path)?;
        let head = sealed.head();
        let payload = Payload {
            msg: seed.0.as_slice(),
            aad: head.as_bytes(),
        };
        let ciphertext = sealed
            .cipher(passphrase)?
            .encrypt(&XNonce::from(sealed.nonce), payload);
        sealed.ciphertext = ciphertext
            .ok()
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or_else(|| Error::usage("the seed can't be encrypted", "Try again"))?;
        Ok(sealed)
    }

    fn open(&self, passphrase: &Passphrase) -> Result<SecretSeed> {
        let head = self.head();
        let payload = Payload {
            msg: &self.ciphertext,
            aad: head.as_bytes(),
        };
        let opened = self
            .cipher(passphrase)?
            .decrypt(&XNonce::from(self.nonce), payload);
        let seed: Option<[u8; 32]> = opened
            .map(Zeroizing::new)
            .ok()
            .and_then(|bytes| bytes.as_slice().try_into().ok());
        seed.map(SecretSeed::from_bytes).ok_or_else(|| {
            let what = format!(
                "{} doesn't open with this passphrase, or was changed",
                self.path.display()
            );
            Error::usage(what, "Check the passphrase")
        })
    }

    fn cipher(&self, passphrase: &Passphrase) -> Result<XChaCha20Poly1305> {
        let unusable = |_| Error::usage("a passphrase can't be used here", "Give a shorter one");
        let Cost {
            memory_kib,
            passes,
            lanes,
        } = self.cost;
        let params = Params::new(memory_kib, passes, lanes, Some(32)).map_err(unusable)?;
        let mut key = Zeroizing::new([0; 32]);
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(passphrase.0.as_bytes(), &self.salt, key.as_mut_slice())
            .map_err(unusable)?;
        Ok(XChaCha20Poly1305::new(<&Key>::from(&*key)))
    }

    /// Everything before the ciphertext; it is authenticated with it.
    fn head(&self) -> String {
        let Cost {
            memory_kib,
            passes,
            lanes,
        } = self.cost;
        let (salt, nonce) = (to_hex(&self.salt), to_hex(&self.nonce));
        format!("{ENCRYPTED_TAG}{memory_kib} {passes} {lanes} {salt} {nonce} ")
    }

    fn to_text(&self) -> String {
        format!("{}{}\n", self.head(), to_hex(&self.ciphertext))
    }

    /// The line without its end. Costs beyond [`COST_MAX`] are refused before anything is computed.
    fn parse(line: &str, path: &Path) -> Option<Self> {
        let fields: Vec<&str> = line.strip_prefix(ENCRYPTED_TAG)?.split(' ').collect();
        let [memory_kib, passes, lanes, salt, nonce, ciphertext] = fields.as_slice() else {
            return None;
        };
        let cost = Cost {
            memory_kib: memory_kib.parse().ok()?,
            passes: passes.parse().ok()?,
            lanes: lanes.parse().ok()?,
        };
        let is_modest = (1..=COST_MAX.lanes).contains(&cost.lanes)
            && (1..=COST_MAX.passes).contains(&cost.passes)
            && (8 * cost.lanes..=COST_MAX.memory_kib).contains(&cost.memory_kib);
        let parsed = Self {
            path: path.to_owned(),
            cost,
            salt: from_hex(salt)?,
            nonce: from_hex(nonce)?,
            ciphertext: from_hex(ciphertext)?,
        };
        let has_one_spelling = parsed.to_text().strip_suffix('\n') == Some(line);
        (is_modest && has_one_spelling).then_some(parsed)
    }
}

fn random(bytes: &mut [u8], path: &Path) -> Result<()> {
    getrandom::fill(bytes).map_err(|_| Error::Io {
        action: "read random bytes for",
        path: path.to_owned(),
        source: std::io::Error::other("the operating system gave none"),
    })
}

/// The bytes of a small file that nobody else may read.
fn read_private(path: &Path) -> Result<Zeroizing<Vec<u8>>> {
    let file = outside::open_regular(path)?;
    check_private(&file, path)?;
    // Room for all of it at once: a buffer that grows leaves copies behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(SMALL_FILE_MAX_BYTES as usize + 1));
    let read = (&file)
        .take(SMALL_FILE_MAX_BYTES + 1)
        .read_to_end(&mut bytes);
    read.map_err(Error::io("read", path))?;
    match bytes.len() as u64 > SMALL_FILE_MAX_BYTES {
        false => Ok(bytes),
        true => {
            let what = format!(
                "{} is larger than {SMALL_FILE_MAX_BYTES} bytes",
                path.display()
            );
            Err(Error::usage(what, "Check that it is the right file"))
        }
    }
}

fn check_private(file: &File, path: &Path) -> Result<()> {
    let metadata = file.metadata().map_err(Error::io("read", path))?;
    if metadata.mode() & 0o077 != 0 {
        let what = format!(
            "{} can be read by others (mode {:04o})",
            path.display(),
            metadata.mode() & 0o7777
        );
        let next = format!(
            "Treat the secret as lost if others use this machine; else `chmod 600 {}`",
            path.display()
        );
        return Err(Error::usage(what, next));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        let what = format!("{} belongs to another user", path.display());
        return Err(Error::usage(what, "Sign as the user who owns the key"));
    }
    Ok(())
}

impl fmt::Debug for SecretSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretSeed(..)")
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by libargon2 and libsodium over the documented bytes: the seed 00 01 .. 1f.
    const FOREIGN: &str = "guild-seed-1 argon2id ed25519 65536 3 1 6465666768696a6b6c6d6e6f70717273 c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedf 3cf80c499d53d838488e7bd59a59c08988f3a3679990d0103736c9daf632402abf64b88151cf9f690b9db1e8e2453e31";
    const FOREIGN_PASSPHRASE: &str = "correct horse battery staple ü";

    fn passphrase(text: &str) -> Passphrase {
        Passphrase::new(Zeroizing::new(text.to_owned())).unwrap()
    }

    #[test]
    fn a_seed_that_others_encrypted_opens() {
        let parsed = EncryptedSeed::parse(FOREIGN, Path::new("seed")).unwrap();
        let seed = parsed.open(&passphrase(FOREIGN_PASSPHRASE)).unwrap();
        let expected: Vec<u8> = (0..32).collect();
        assert_eq!(seed.0.as_slice(), expected);
        let wrong = parsed.open(&passphrase("correct horse")).unwrap_err();
        assert_eq!(wrong.code(), crate::Code::Usage);
    }

    #[test]
    fn no_field_of_an_encrypted_seed_can_be_changed() {
        for (field, other) in [
            ("65536 3 1", "65536 2 1"),
            ("6465", "6466"),
            ("c8c9", "c8c8"),
            ("3cf8", "3cf9"),
        ] {
            let changed = FOREIGN.replace(field, other);
            let parsed = EncryptedSeed::parse(&changed, Path::new("seed")).unwrap();
            let refused = parsed.open(&passphrase(FOREIGN_PASSPHRASE));
            assert!(refused.is_err(), "{field} became {other}");
        }
    }

    #[test]
    fn row_11_a_seed_file_can_t_ask_for_much_work_or_memory() {
        for cost in [
            "1048577 3 1",
            "65536 17 1",
            "65536 3 5",
            "65536 0 1",
            "65536 3 0",
            "7 3 1",
            "4294967296 3 1",
            "065536 3 1",
        ] {
            let greedy = FOREIGN.replace("65536 3 1", cost);
            assert!(
                EncryptedSeed::parse(&greedy, Path::new("seed")).is_none(),
                "{cost}"
            );
        }
    }

    #[test]
    fn a_file_holds_what_was_written_into_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seed");
        let seed = SecretSeed::generate(&path).unwrap();
        let words = passphrase("words");
        seed.write(&path, Some(&words)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&to_hex(seed.0.as_slice())), "it is plain");
        let read = SeedFile::read(&path).unwrap();
        assert!(matches!(&read, SeedFile::Encrypted(_)), "{read:?}");
        let opened = read.open(|_| Ok(words)).unwrap();
        assert_eq!(opened.0.as_slice(), seed.0.as_slice());
        let unasked = SeedFile::read(&path).unwrap().plain().unwrap_err();
        assert!(unasked.to_string().contains("is encrypted"), "{unasked}");
    }
}
