//! Taking a key's word away. A withdrawal only ever adds: it is never taken back, and it may become stricter, never
//! milder.

use crate::error::{Error, Result};
use crate::key::KeyId;
use crate::text::{PlainText, escape};
use crate::trust::{KeyStatus, TrustStore};

/// Why a key is withdrawn, which decides what becomes of what it signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawal {
    /// Another key took its place: what is installed stays usable, new installs are refused.
    Superseded,
    /// Somebody else may hold it: refused at the next load too, except what was installed up to a generation.
    Compromised {
        /// The last generation whose installs are still believed; 0 believes none.
        since_gen: u64,
    },
}

impl TrustStore {
    /// The one key whose id is `text` or begins with it.
    ///
    /// # Errors
    /// [`Error::NotFound`] if none has or several have.
    pub fn find(&self, text: &str) -> Result<KeyId> {
        let mut matching = self.keys().iter().filter(|key| key.id.matches(text));
        match (matching.next(), matching.next()) {
            (Some(key), None) => Ok(key.id),
            (None, _) => Err(unknown(text, "none")),
            (Some(_), Some(_)) => Err(unknown(text, "more than one")),
        }
    }

    /// The trust store after this one, without `key`'s word. `head` is the generation in force; the next
    /// one will name it.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an unknown key, [`Error::Usage`] for a generation that isn't reached yet and for a
    /// withdrawal that isn't stricter than the one in force.
    pub fn without_key(
        &self,
        key: &KeyId,
        withdrawal: Withdrawal,
        reason: Option<PlainText>,
        head: u64,
    ) -> Result<Self> {
        let mut body = self.next_body();
        let Some(key) = body.keys.iter_mut().find(|other| other.id == *key) else {
            return Err(unknown(&key.to_string(), "none"));
        };
        let (status, since_gen) = match withdrawal {
            Withdrawal::Superseded => (KeyStatus::Retired, head + 1),
            Withdrawal::Compromised { since_gen } => (KeyStatus::Compromised, since_gen),
        };
        if matches!(withdrawal, Withdrawal::Compromised { .. }) && since_gen > head {
            let what = format!("generation {since_gen} isn't reached yet");
            return Err(Error::usage(
                what,
                "`guild kernel log` lists the generations",
            ));
        }
        let is_stricter = match (key.status, status) {
            (KeyStatus::Compromised, KeyStatus::Compromised) => since_gen < key.since_gen,
            (before, after) => before < after,
        };
        if !is_stricter {
            return Err(Error::usage(
                format!("{} is withdrawn already, and not less strictly", key.id),
                "A withdrawal is never taken back; see `guild kernel trust list`",
            ));
        }
        (key.status, key.since_gen, key.reason) = (status, since_gen, reason);
        Self::from_body(body)
    }
}

fn unknown(text: &str, count: &str) -> Error {
    Error::NotFound {
        what: format!("the key {}", escape(text)),
        next: format!(
            "In `guild kernel trust list` {count} has this id, or begins with it and 12 digits or more"
        ),
    }
}
