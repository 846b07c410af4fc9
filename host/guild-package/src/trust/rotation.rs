//! What the store believes after one key followed another.

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::key::{KeyId, KeyRecord};
use crate::name::ScopePrefix;
use crate::rotation::VerifiedRotation;
use crate::trust::{
    KeyStatus, Lineage, Right, RightLeft, Scope, TrustBody, TrustStore, TrustedKey,
};

impl TrustStore {
    /// The trust store after this one, with the new key in the old one's place. `generation` is the one that will
    /// put it in force, `now_s` the time to judge the old key by.
    ///
    /// # Errors
    /// [`Error::KeyRevoked`] if one of the keys is withdrawn, [`Error::Expired`] if the old key's time is over,
    /// [`Error::ScopeRotation`] for a scope that the old key doesn't have or may not hand on.
    pub fn with_rotation(
        &self,
        rotation: &VerifiedRotation,
        generation: u64,
        now_s: u64,
    ) -> Result<Self> {
        let named = rotation.body();
        let mut body = self.next_body();
        let old = body
            .keys
            .iter_mut()
            .find(|key| key.id == named.from)
            .ok_or_else(|| Error::KeyUntrusted {
                keys: vec![named.from],
            })?;
        if old.status != KeyStatus::Active {
            return Err(old.revoked());
        }
        old.check_time(now_s)?;
        let scopes = old.scopes_handed_on(rotation)?;
        // Without any right left it is refused at the next load too, whatever it installed.
        (old.status, old.since_gen) = match named.rights_left.contains(&RightLeft::VerifyInstalled)
        {
            true => (KeyStatus::Retired, generation),
            false => (KeyStatus::Compromised, 0),
        };
        old.reason = format!("followed by {}", named.to.id).parse().ok();
        body.lineage.push(Lineage {
            from: named.from,
            to: named.to.id,
            body_sha256: rotation.body_sha256(),
            rights_left: named.rights_left.clone(),
        });
        body.add_successor(&named.to, scopes, generation)?;
        Self::from_body(body)
    }

    /// Whether one of `ancestors` is `key`, or was followed by it through any number of rotations.
    #[must_use]
    pub fn descends(&self, key: KeyId, ancestors: &[KeyId]) -> bool {
        let mut line: BTreeSet<KeyId> = ancestors.iter().copied().collect();
        // Each round adds a key or is the last, so there are no more rounds than rotations.
        loop {
            let next = self.body().lineage.iter();
            let next: Vec<KeyId> = next
                .filter(|step| line.contains(&step.from) && !line.contains(&step.to))
                .map(|step| step.to)
                .collect();
            if next.is_empty() {
                return line.contains(&key);
            }
            line.extend(next);
        }
    }
}

impl TrustedKey {
    fn scopes_handed_on(&self, rotation: &VerifiedRotation) -> Result<Vec<Scope>> {
        let scope = |prefix: &ScopePrefix| {
            let scope = self.scopes.iter().find(|scope| scope.prefix == *prefix);
            scope
                .filter(|scope| scope.rights.contains(&Right::Rotate))
                .cloned()
                .ok_or_else(|| Error::ScopeRotation {
                    key: self.id,
                    prefix: prefix.clone(),
                })
        };
        rotation.body().scopes.iter().map(scope).collect()
    }
}

impl TrustBody {
    /// Adds the key, or the scopes that a known one lacks.
    fn add_successor(
        &mut self,
        record: &KeyRecord,
        scopes: Vec<Scope>,
        generation: u64,
    ) -> Result<()> {
        match self.keys.iter_mut().find(|key| key.id == record.id) {
            Some(key) if key.status != KeyStatus::Active => Err(key.revoked()),
            Some(key) => {
                let has = |scope: &Scope| key.scopes.iter().any(|own| own.prefix == scope.prefix);
                let lacking: Vec<Scope> = scopes.into_iter().filter(|scope| !has(scope)).collect();
                key.scopes.extend(lacking);
                Ok(())
            }
            None => {
                self.keys
                    .push(TrustedKey::added(record, scopes, generation));
                Ok(())
            }
        }
    }
}
