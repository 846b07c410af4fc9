//! What the store believes after one key followed another.

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::key::KeyId;
use crate::name::ScopePrefix;
use crate::rotation::VerifiedRotation;
use crate::trust::{
    KeyStatus, Lineage, Right, RightLeft, Scope, TrustBody, TrustStore, TrustedKey,
};

impl TrustStore {
    /// The trust store after this one, with the new key in the old one's place. `generation` is the one that will
    /// put it in force, `now_s` the time to judge the old key by. Absent where this very rotation was taken before:
    /// whatever became of the keys since, it says nothing new.
    ///
    /// # Errors
    /// [`Error::KeyRevoked`] if one of the keys is withdrawn, [`Error::Expired`] if the old key's time is over,
    /// [`Error::RotationDenied`] for a scope that the old key doesn't have or may not hand on, for another operator, and
    /// for a new key that has such a scope already with other rights.
    pub fn with_rotation(
        &self,
        rotation: &VerifiedRotation,
        generation: u64,
        now_s: u64,
    ) -> Result<Option<Self>> {
        let named = rotation.body();
        let mut taken = self.body().lineage.iter();
        if taken.any(|step| step.body_sha256 == rotation.body_sha256()) {
            return Ok(None);
        }
        let mut body = self.next_body();
        let old = body
            .keys
            .iter_mut()
            .find(|key| key.id == named.from)
            .ok_or_else(|| Error::KeyUntrusted {
                keys: vec![named.from],
            })?;
        old.check_in_force(now_s)?;
        if named.to.operator != old.operator {
            let (from, to) = (&old.operator, &named.to.operator);
            let detail = format!("it is held by {from}, the new key by {to}");
            return Err(old.not_followed(detail));
        }
        let time = (old.not_before, old.not_after);
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
        let mut successor = TrustedKey::added(&named.to, scopes, generation);
        // What was trusted for a time is followed for that time.
        (successor.not_before, successor.not_after) = time;
        body.add_successor(successor, named.from)?;
        Self::from_body(body).map(Some)
    }

    /// Whether one of `ancestors` is `key`, or was followed by it through any number of rotations.
    #[must_use]
    pub fn descends(&self, key: KeyId, ancestors: &[KeyId]) -> bool {
        self.descendants(ancestors).contains(&key)
    }

    /// `ancestors` and the keys that followed them through any number of rotations.
    pub(crate) fn descendants(&self, ancestors: &[KeyId]) -> BTreeSet<KeyId> {
        let mut line: BTreeSet<KeyId> = ancestors.iter().copied().collect();
        // Each round adds a key or is the last, so there are no more rounds than rotations.
        loop {
            let next = self.body().lineage.iter();
            let next: Vec<KeyId> = next
                .filter(|step| line.contains(&step.from) && !line.contains(&step.to))
                .map(|step| step.to)
                .collect();
            if next.is_empty() {
                return line;
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
                .ok_or_else(|| {
                    let detail =
                        format!("it doesn't have scope {prefix}, or that lacks the right rotate");
                    self.not_followed(detail)
                })
        };
        rotation.body().scopes.iter().map(scope).collect()
    }

    fn not_followed(&self, detail: String) -> Error {
        Error::RotationDenied {
            key: self.id,
            detail,
        }
    }
}

impl TrustBody {
    /// Adds the key that follows `old`, or the scopes that a known one lacks.
    fn add_successor(&mut self, successor: TrustedKey, old: KeyId) -> Result<()> {
        let Some(known) = self.keys.iter_mut().find(|key| key.id == successor.id) else {
            self.keys.push(successor);
            return Ok(());
        };
        if known.status != KeyStatus::Active {
            return Err(known.revoked());
        }
        for scope in successor.scopes {
            match known.scopes.iter().find(|own| own.prefix == scope.prefix) {
                Some(own) if *own == scope => {}
                Some(_) => {
                    let prefix = scope.prefix;
                    let detail =
                        format!("the new key has scope {prefix} already, with other rights");
                    return Err(Error::RotationDenied { key: old, detail });
                }
                None => known.scopes.push(scope),
            }
        }
        Ok(())
    }
}
