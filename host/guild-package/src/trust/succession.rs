//! What a trust file may change of the one before: keys and rights are added, a withdrawal becomes stricter.

use crate::trust::{KeyStatus, TrustBody, TrustedKey};

impl TrustBody {
    /// Whether this may follow `older`.
    ///
    /// # Errors
    /// What was taken back.
    pub(crate) fn check_follows(&self, older: &TrustBody) -> Result<(), &'static str> {
        for before in &older.keys {
            let now = self.keys.iter().find(|key| key.id == before.id);
            let now = now.ok_or("its successor lacks one of its keys")?;
            now.check_follows(before)?;
        }
        match self.lineage.starts_with(&older.lineage) {
            true => Ok(()),
            false => Err("its successor lacks one of its successions"),
        }
    }
}

impl TrustedKey {
    fn check_follows(&self, before: &TrustedKey) -> Result<(), &'static str> {
        let is_believed_longer = self.status == KeyStatus::Compromised
            && before.status == KeyStatus::Compromised
            && self.since_gen > before.since_gen;
        if self.status < before.status || is_believed_longer {
            return Err("its successor takes the withdrawal of a key back");
        }
        match before
            .scopes
            .iter()
            .all(|scope| self.scopes.contains(scope))
        {
            true => Ok(()),
            false => Err("its successor changes a scope of a key"),
        }
    }
}
