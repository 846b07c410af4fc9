//! What a trust file says that the one before didn't, for the log.

use std::fmt;

use crate::key::KeyId;
use crate::text::{PlainText, Time};
use crate::trust::{KeyStatus, Policy, Scope, TrustBody, TrustedKey};

/// One thing that a change of trust changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustChange {
    /// A key is trusted that wasn't.
    KeyAdded {
        /// The key.
        key: NamedKey,
        /// What it may do, and where.
        scopes: Vec<Scope>,
    },
    /// A trusted key may sign more.
    ScopesAdded {
        /// The key.
        key: NamedKey,
        /// What it may do from now on, and where.
        scopes: Vec<Scope>,
    },
    /// A key is good for another time.
    TimeSet {
        /// The key.
        key: NamedKey,
        /// End of validity, in seconds since 1970-01-01 UTC; absent where it has none.
        until_s: Option<u64>,
    },
    /// A key is withdrawn, or more strictly than before.
    KeyWithdrawn {
        /// The key.
        key: NamedKey,
        /// How: retired or compromised.
        status: KeyStatus,
        /// Of a compromised one the last generation whose installs are still believed.
        since_gen: u64,
        /// Why.
        reason: Option<PlainText>,
    },
    /// A key took another one's place.
    KeyFollowed {
        /// The old key.
        key: NamedKey,
        /// The new key.
        by: NamedKey,
        /// What became of the old key: retired, or compromised where no right was left to it.
        status: KeyStatus,
    },
    /// Packages below a prefix need something else than before.
    PolicySet(Policy),
}

/// A key with its name for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedKey {
    /// The key.
    pub id: KeyId,
    /// Its name.
    pub label: PlainText,
}

impl TrustBody {
    /// What this file says that `before` doesn't. A succession stands for the withdrawal that it brings.
    #[must_use]
    pub fn changes_since(&self, before: &Self) -> Vec<TrustChange> {
        let mut changes = Vec::new();
        let followed = self.lineage.iter().skip(before.lineage.len());
        let followed: Vec<_> = followed.collect();
        for key in &self.keys {
            let was = before.keys.iter().find(|other| other.id == key.id);
            let is_followed = followed.iter().any(|step| step.from == key.id);
            key.add_changes_since(was, is_followed, &mut changes);
        }
        for step in followed {
            let find = |id: KeyId| self.keys.iter().find(|key| key.id == id);
            if let (Some(old), Some(by)) = (find(step.from), find(step.to)) {
                changes.push(TrustChange::KeyFollowed {
                    key: NamedKey::from(old),
                    by: NamedKey::from(by),
                    status: old.status,
                });
            }
        }
        let policies = self.policy.iter();
        let set = policies.filter(|policy| !before.policy.contains(policy));
        changes.extend(set.cloned().map(TrustChange::PolicySet));
        changes
    }
}

impl TrustedKey {
    fn add_changes_since(
        &self,
        before: Option<&Self>,
        is_followed: bool,
        changes: &mut Vec<TrustChange>,
    ) {
        let key = NamedKey::from(self);
        let Some(before) = before else {
            let scopes = self.scopes.clone();
            changes.push(TrustChange::KeyAdded { key, scopes });
            return;
        };
        let more = self.scopes.iter();
        let more = more.filter(|scope| !before.scopes.contains(scope));
        let scopes: Vec<Scope> = more.cloned().collect();
        if !scopes.is_empty() {
            let key = key.clone();
            changes.push(TrustChange::ScopesAdded { key, scopes });
        }
        if (self.not_before, self.not_after) != (before.not_before, before.not_after) {
            changes.push(TrustChange::TimeSet {
                key: key.clone(),
                until_s: self.not_after,
            });
        }
        // A key that is compromised already may be believed for less.
        let is_stricter = (self.status, self.since_gen) != (before.status, before.since_gen);
        if is_stricter && !is_followed {
            changes.push(TrustChange::KeyWithdrawn {
                key,
                status: self.status,
                since_gen: self.since_gen,
                reason: self.reason.clone(),
            });
        }
    }
}

impl From<&TrustedKey> for NamedKey {
    fn from(key: &TrustedKey) -> Self {
        Self {
            id: key.id,
            label: key.label.clone(),
        }
    }
}

impl fmt::Display for NamedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.id.short(), self.label)
    }
}

impl fmt::Display for TrustChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |scopes: &[Scope]| {
            let scopes: Vec<String> = scopes.iter().map(ToString::to_string).collect();
            scopes.join(",")
        };
        match self {
            Self::KeyAdded { key, scopes } => write!(f, "key added {key} for {}", list(scopes)),
            Self::ScopesAdded { key, scopes } => {
                write!(f, "scopes added to {key}: {}", list(scopes))
            }
            Self::TimeSet {
                key,
                until_s: Some(until_s),
            } => write!(f, "{key} is good until {}", Time(*until_s)),
            Self::TimeSet { key, until_s: None } => write!(f, "{key} is good for ever"),
            Self::KeyWithdrawn {
                key,
                status,
                since_gen,
                reason,
            } => {
                let words = status.with_reason(*since_gen, reason.as_ref());
                write!(f, "key withdrawn {key}: {words}")
            }
            Self::KeyFollowed { key, by, status } => {
                write!(
                    f,
                    "key followed {key} by {by}; the old one is {}",
                    status.name()
                )
            }
            Self::PolicySet(policy) => write!(f, "policy set {policy}"),
        }
    }
}
