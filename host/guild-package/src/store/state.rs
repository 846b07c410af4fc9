//! Reading the store: `HEAD` names the generation, the generation names the trust file, and each is
//! believed only if its bytes have the digest by which it is named. Readers take no lock.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::limits::{
    ENVELOPE_MAX_BYTES, MANIFEST_MAX_BYTES, SMALL_FILE_MAX_BYTES, STATE_FILE_MAX_BYTES,
};
use crate::store::fs::StoreFs;
use crate::store::generation::{Generation, TrustReference, VersionState};
use crate::store::log::Chain;
use crate::store::path::{Area, StorePath};
use crate::trust::TrustStore;
use crate::verify::Recorded;

/// What mends a file that a bundle brings.
const MEND_CONTENT: &str = "`guild kernel install` of the same bundle writes it anew";

/// What mends a file that says what is installed and who is trusted.
const MEND_STATE: &str =
    "Restore the store's folder from a backup, or move it away and install the packages again";

/// The content of `HEAD`: `<n> <sha256 of the generation file>` and a line feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub n: u64,
    pub sha256: Digest,
}

/// The root of a store that every part of it works through.
#[derive(Clone)]
pub(crate) struct Root {
    pub fs: Arc<dyn StoreFs>,
    /// For messages only; files are reached through `fs`.
    pub path: PathBuf,
}

/// One consistent state.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub head: Head,
    pub generation: Generation,
    pub trust: TrustStore,
}

impl State {
    /// A copy of the generation to change, as the one after it.
    pub fn successor(&self, op: &str, args: &impl Serialize, now_s: u64) -> Result<Generation> {
        self.generation.successor(self.head.sha256, op, args, now_s)
    }
}

impl Head {
    pub fn path() -> StorePath {
        StorePath::fixed("HEAD")
    }

    pub fn to_text(self) -> String {
        format!("{} {}\n", self.n, self.sha256)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let (n, sha256) = text.strip_suffix('\n')?.split_once(' ')?;
        let head = Self {
            n: n.parse().ok()?,
            sha256: sha256.parse().ok()?,
        };
        (head.to_text() == text).then_some(head)
    }
}

impl Root {
    /// The state `HEAD` names now.
    ///
    /// # Errors
    /// [`Error::StoreCorrupt`] if a file is missing or has another digest than it is named by.
    pub(super) fn state(&self) -> Result<State> {
        let head = self.head()?;
        let generation = self.generation(head)?;
        let trust = self.trust(&generation)?;
        Ok(State {
            head,
            generation,
            trust,
        })
    }

    pub(super) fn head(&self) -> Result<Head> {
        let path = Head::path();
        let bytes = self.read_state_file(&path, SMALL_FILE_MAX_BYTES)?;
        Head::parse(&bytes).ok_or_else(|| self.corrupt(&path, "it is not a number and a digest"))
    }

    pub(super) fn generation(&self, head: Head) -> Result<Generation> {
        let path = StorePath::generation(head.n, head.sha256);
        let bytes = self.read_named(&path, STATE_FILE_MAX_BYTES, head.sha256)?;
        let generation =
            Generation::decode(&bytes).map_err(|error| self.corrupt(&path, error.to_string()))?;
        match generation.n == head.n {
            true => Ok(generation),
            false => Err(self.corrupt(&path, "it has another number than HEAD says")),
        }
    }

    /// Generation `n` of the chain that ends with `state`.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a number that isn't reached yet; as [`Self::state`].
    pub(super) fn past_generation(&self, state: &State, n: u64) -> Result<Generation> {
        for link in Chain::from(self, state) {
            let (head, generation) = link?;
            if head.n == n {
                return Ok(generation);
            }
        }
        Err(Error::NotFound {
            what: format!("generation {n}"),
            next: format!(
                "The newest is {}; `guild kernel log` lists them",
                state.head.n
            ),
        })
    }

    /// The trust that `generation` puts in force.
    pub fn trust(&self, generation: &Generation) -> Result<TrustStore> {
        let trust = self.trust_file(generation.trust)?;
        let mut keys = trust.keys().iter();
        if keys.any(|key| key.since_gen > generation.n) {
            let path = StorePath::trust(generation.trust.n);
            return Err(self.corrupt(&path, "a key's generation comes from the future"));
        }
        Ok(trust)
    }

    /// The trust file of that number and digest.
    pub fn trust_file(&self, reference: TrustReference) -> Result<TrustStore> {
        let path = StorePath::trust(reference.n);
        let bytes = self.read_named(&path, STATE_FILE_MAX_BYTES, reference.sha256)?;
        let trust =
            TrustStore::decode(&bytes).map_err(|error| self.corrupt(&path, error.to_string()))?;
        match trust.body().n == reference.n {
            true => Ok(trust),
            false => Err(self.corrupt(&path, "it has another number than the generation says")),
        }
    }

    /// A manifest or envelope by its digest.
    pub fn meta(&self, digest: Digest, bytes_max: u64) -> Result<Vec<u8>> {
        self.read_named(&StorePath::content(Area::Meta, digest), bytes_max, digest)
    }

    /// What the files of an installed version say. One that is missing or damaged says nothing.
    pub(super) fn recorded(&self, state: &State, installed: &VersionState) -> Recorded {
        let manifest = self.meta(installed.manifest, MANIFEST_MAX_BYTES).ok();
        let envelope = self.meta(installed.envelope, ENVELOPE_MAX_BYTES).ok();
        Recorded::of(manifest.as_deref(), envelope.as_deref(), &state.trust)
    }

    fn read_named(&self, path: &StorePath, bytes_max: u64, named: Digest) -> Result<Vec<u8>> {
        let bytes = self.read_state_file(path, bytes_max)?;
        let found = Digest::of(&bytes);
        match found == named {
            true => Ok(bytes),
            false => Err(self.corrupt(
                path,
                format!("its digest is {found}, it is named by {named}"),
            )),
        }
    }

    fn read_state_file(&self, path: &StorePath, bytes_max: u64) -> Result<Vec<u8>> {
        use std::io::ErrorKind::{FileTooLarge, InvalidInput, NotFound};
        self.fs.read(path, bytes_max).map_err(|error| {
            let is_link = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
            match error.kind() {
                NotFound | InvalidInput | FileTooLarge => self.corrupt(path, error.to_string()),
                _ if is_link => self.corrupt(path, "it is a link"),
                _ => self.io("read", path)(error),
            }
        })
    }

    pub fn corrupt(&self, path: &StorePath, detail: impl Into<String>) -> Error {
        Error::StoreCorrupt {
            path: path.under(&self.path),
            detail: detail.into(),
            next: match path.is_content() {
                true => MEND_CONTENT,
                false => MEND_STATE,
            },
        }
    }

    /// Wraps a failed operation; for `map_err`.
    pub fn io(
        &self,
        action: &'static str,
        path: &StorePath,
    ) -> impl FnOnce(std::io::Error) -> Error {
        Error::io(action, path.under(&self.path))
    }
}

impl std::fmt::Debug for Root {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Root").field(&self.path).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_has_one_form() {
        let head = Head {
            n: 7,
            sha256: Digest::of(b"abc"),
        };
        let text = head.to_text();
        assert_eq!(Head::parse(text.as_bytes()), Some(head));
        for other in [
            text.trim_end().to_owned(),
            format!("{text}\n"),
            format!("0{text}"),
            format!("+{text}"),
            text.replace(' ', "  "),
            text.to_uppercase(),
            String::new(),
        ] {
            assert_eq!(Head::parse(other.as_bytes()), None, "{other:?}");
        }
    }
}
