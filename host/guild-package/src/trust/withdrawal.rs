//! Taking a key's word away. A withdrawal only ever adds: it is never taken back, and it may become stricter, never
//! milder.

use crate::error::{Error, Result};
use crate::key::KeyId;
use crate::text::{PlainText, escape};
use crate::trust::{KeyStatus, TrustStore, TrustedKey};

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

    /// The key with exactly this id.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub(crate) fn known(&self, id: &KeyId) -> Result<&TrustedKey> {
        self.key(id).ok_or_else(|| unknown(&id.to_string(), "none"))
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
        withdrawal.check_reached(head)?;
        let mut body = self.next_body();
        let Some(key) = body.keys.iter_mut().find(|other| other.id == *key) else {
            return Err(unknown(&key.to_string(), "none"));
        };
        if !key.withdraw(withdrawal, reason, head) {
            return Err(Error::usage(
                format!("{} is withdrawn already, and not less strictly", key.id),
                "A withdrawal is never taken back; see `guild kernel trust list`",
            ));
        }
        Self::from_body(body)
    }
}

impl Withdrawal {
    /// The generation that it names isn't above `head`, the one in force.
    ///
    /// # Errors
    /// [`Error::Usage`].
    pub(super) fn check_reached(self, head: u64) -> Result<()> {
        match self {
            Self::Compromised { since_gen } if since_gen > head => Err(Error::usage(
                format!("generation {since_gen} isn't reached yet"),
                "`guild kernel log` lists the generations",
            )),
            Self::Superseded | Self::Compromised { .. } => Ok(()),
        }
    }
}

impl TrustedKey {
    /// Takes the key's word away, where that is stricter than what is in force; else changes nothing. Whether it was.
    /// The generation after `head` will name it.
    pub(super) fn withdraw(
        &mut self,
        withdrawal: Withdrawal,
        reason: Option<PlainText>,
        head: u64,
    ) -> bool {
        let (status, since_gen) = match withdrawal {
            Withdrawal::Superseded => (KeyStatus::Retired, head + 1),
            Withdrawal::Compromised { since_gen } => (KeyStatus::Compromised, since_gen),
        };
        let is_stricter = match (self.status, status) {
            (KeyStatus::Compromised, KeyStatus::Compromised) => since_gen < self.since_gen,
            (before, after) => before < after,
        };
        if is_stricter {
            (self.status, self.since_gen) = (status, since_gen);
            // Whoever gives no reason leaves the one that was given before.
            self.reason = reason.or(self.reason.take());
        }
        is_stricter
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
