//! Changes of what the store believes: keys that are trusted, keys that are withdrawn, epochs below which nothing is
//! accepted. Each commits as an install does.

use std::path::Path;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::key::{KeyId, KeyRecord};
use crate::limits::MANIFEST_MAX_BYTES;
use crate::manifest::Manifest;
use crate::name::PackageId;
use crate::rotation::{RotationBody, VerifiedRotation};
use crate::store::Store;
use crate::store::generation::Pin;
use crate::store::installed::InstalledPackage;
use crate::store::state::State;
use crate::store::transaction::Transaction;
use crate::text::PlainText;
use crate::trust::{Grant, KeyStatus, Policy, TrustStore, TrustedKey, Withdrawal};
use crate::verify::{History as _, system_time_s};

/// What `trust add` did.
#[derive(Clone, Debug)]
pub struct TrustAdded {
    /// The key.
    pub key: KeyId,
    /// The generation in force afterwards.
    pub generation: u64,
}

#[derive(Serialize)]
struct KeyArguments {
    key: KeyId,
    trust_sha256: crate::Digest,
}

/// What `trust revoke` is asked for.
#[derive(Clone, Debug)]
pub struct RevokeOptions {
    /// Why, and so how far.
    pub withdrawal: Withdrawal,
    /// For people.
    pub reason: Option<PlainText>,
    /// Say what would change, and change nothing.
    pub dry_run: bool,
}

/// What `trust revoke` did, or would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revoked {
    /// The key, as the trust file has it afterwards.
    pub key: TrustedKey,
    /// Installed versions that no longer load, ascending.
    pub stopped: Vec<Pin>,
    /// The generation in force afterwards.
    pub generation: u64,
}

/// What `trust rotate` did, or would do.
#[derive(Clone, Debug)]
pub struct Rotated {
    /// What both keys signed.
    pub body: RotationBody,
    /// Whether it wasn't taken before; else nothing is changed.
    pub is_new: bool,
    /// What became of the old key.
    pub old_status: KeyStatus,
    /// Installed versions that no longer load, ascending.
    pub stopped: Vec<Pin>,
    /// The generation in force afterwards.
    pub generation: u64,
}

/// What `trust policy` did.
#[derive(Clone, Debug)]
pub struct PolicySet {
    /// Installed versions that no longer load, ascending.
    pub stopped: Vec<Pin>,
    /// The generation in force afterwards.
    pub generation: u64,
}

/// What raising a floor did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FloorRaised {
    /// The package.
    pub id: PackageId,
    /// The floor before.
    pub previous: u64,
    /// The floor now.
    pub floor: u64,
    /// Installed versions below it, ascending: they can't be enabled any more.
    pub below: Vec<Pin>,
    /// Whether a version of it is or was installed, here or in the store below.
    pub known: bool,
    /// Which of them is enabled all the same; sessions go on loading it until another one is enabled.
    pub enabled_below: Option<Pin>,
    /// The generation in force afterwards.
    pub generation: u64,
}

#[derive(Serialize)]
struct FloorArguments<'a> {
    id: &'a PackageId,
    epoch: u64,
}

impl Store {
    /// Trusts the key of `record` for the scopes of `grant`.
    ///
    /// # Errors
    /// As [`TrustStore::with_key`], and the errors of a commit.
    pub fn trust_add(&self, record: &KeyRecord, grant: &Grant) -> Result<TrustAdded> {
        let transaction = Transaction::begin(&self.root, self.options.lock_wait_ms)?;
        let state = transaction.state();
        let trust = state.trust.with_key(record, grant, state.head.n + 1)?;
        let key = record.id;
        let generation = commit_key(transaction, "trust-add", key, &trust)?;
        Ok(TrustAdded { key, generation })
    }

    /// Puts a new key in an old one's place, as both signed. With `dry_run` it says what would change. A rotation that was
    /// taken before changes nothing.
    ///
    /// # Errors
    /// As [`VerifiedRotation::read`] and [`TrustStore::with_rotation`], and the errors of a commit.
    pub fn trust_rotate(&self, path: &Path, dry_run: bool) -> Result<Rotated> {
        let transaction = Transaction::begin(&self.root, self.options.lock_wait_ms)?;
        let state = transaction.state();
        let rotation = VerifiedRotation::read(path, &state.trust)?;
        let now_s = system_time_s().max(state.generation.time_seen());
        let next = state
            .trust
            .with_rotation(&rotation, state.head.n + 1, now_s)?;
        let body = rotation.body().clone();
        let after = next.as_ref().unwrap_or(&state.trust);
        let mut rotated = Rotated {
            is_new: next.is_some(),
            old_status: after.known(&body.from)?.status,
            stopped: self.stopped_by(state, after)?,
            generation: state.head.n,
            body,
        };
        if let (Some(trust), false) = (&next, dry_run) {
            let key = rotated.body.to.id;
            rotated.generation = commit_key(transaction, "trust-rotate", key, trust)?;
        }
        Ok(rotated)
    }

    /// Says what packages below a prefix need. A policy that is in force already changes nothing.
    ///
    /// # Errors
    /// As [`TrustStore::with_policy`], and the errors of a commit.
    pub fn trust_policy(&self, policy: Policy) -> Result<PolicySet> {
        let transaction = Transaction::begin(&self.root, self.options.lock_wait_ms)?;
        let state = transaction.state();
        if state.trust.body().policy.contains(&policy) {
            return Ok(PolicySet {
                stopped: Vec::new(),
                generation: state.head.n,
            });
        }
        let trust = state.trust.with_policy(policy.clone())?;
        let stopped = self.stopped_by(state, &trust)?;
        let generation = commit_trust(transaction, "trust-policy", &policy, &trust)?;
        Ok(PolicySet {
            stopped,
            generation,
        })
    }

    /// Withdraws a trusted key.
    ///
    /// # Errors
    /// As [`TrustStore::without_key`], and the errors of a commit.
    pub fn trust_revoke(&self, key: &KeyId, options: &RevokeOptions) -> Result<Revoked> {
        let transaction = Transaction::begin(&self.root, self.options.lock_wait_ms)?;
        let state = transaction.state();
        let reason = options.reason.clone();
        let trust = state
            .trust
            .without_key(key, options.withdrawal, reason, state.head.n)?;
        let mut revoked = Revoked {
            key: trust.known(key)?.clone(),
            stopped: self.stopped_by(state, &trust)?,
            generation: state.head.n,
        };
        if options.dry_run {
            return Ok(revoked);
        }
        revoked.generation = commit_key(transaction, "trust-revoke", *key, &trust)?;
        Ok(revoked)
    }

    /// Raises the lowest security epoch of a package that is accepted. It never falls again.
    ///
    /// # Errors
    /// [`Error::Usage`] for an epoch that isn't above the floor; the errors of a commit. A package that was never
    /// installed may have a floor: it counts for the first install.
    pub fn raise_floor(&self, id: &PackageId, epoch: u64) -> Result<FloorRaised> {
        let transaction = Transaction::begin(&self.root, self.options.lock_wait_ms)?;
        let state = transaction.state();
        let mut raised = self.raise(state, id, epoch)?;
        let arguments = FloorArguments { id, epoch };
        let mut next = state.successor("floor", &arguments, system_time_s())?;
        next.floors.insert(id.clone(), epoch);
        raised.generation = transaction.commit(&next)?.n;
        Ok(raised)
    }

    /// What [`Self::raise_floor`] would do; changes nothing.
    ///
    /// # Errors
    /// As [`Self::raise_floor`], but those of a commit.
    pub fn preview_floor(&self, id: &PackageId, epoch: u64) -> Result<FloorRaised> {
        self.raise(&self.root.state()?, id, epoch)
    }

    fn raise(&self, state: &State, id: &PackageId, epoch: u64) -> Result<FloorRaised> {
        let previous = state.generation.floor(id);
        if epoch <= previous {
            let what = format!("the floor of {id} is {previous} already");
            return Err(Error::usage(
                what,
                "A floor only rises; give a larger epoch",
            ));
        }
        self.floor_raised(state, id, epoch)
    }

    /// What it means that the floor of `id` rises to `epoch`, before it does.
    pub(super) fn floor_raised(
        &self,
        state: &State,
        id: &PackageId,
        epoch: u64,
    ) -> Result<FloorRaised> {
        let below = self.below_epoch(state, id, epoch)?;
        let mut known = state.generation.knows(id);
        if let Some(lower) = self.below() {
            known = known || lower.generation()?.knows(id);
        }
        let enabled = state.generation.enabled_version(id);
        let enabled_below = below.iter().find(|pin| Some(&pin.version) == enabled);
        Ok(FloorRaised {
            id: id.clone(),
            previous: state.generation.floor(id),
            floor: epoch,
            enabled_below: enabled_below.cloned(),
            below,
            known,
            generation: state.head.n,
        })
    }

    /// The installed versions that load under the trust in force and wouldn't under `trust`.
    pub(super) fn stopped_by(&self, state: &State, trust: &TrustStore) -> Result<Vec<Pin>> {
        let after = State {
            trust: trust.clone(),
            ..state.clone()
        };
        let mut stopped = Vec::new();
        for (id, version, installed) in state.generation.installed() {
            let loads = |state: &State| match InstalledPackage::open(
                &self.root, state, id, version, installed,
            ) {
                Err(error @ Error::Io { .. }) => Err(error),
                other => Ok(other.is_ok()),
            };
            if loads(state)? && !loads(&after)? {
                stopped.push(Pin::new(id, version));
            }
        }
        Ok(stopped)
    }

    /// The installed versions of a package whose epoch is below `epoch`, whoever signed them.
    fn below_epoch(&self, state: &State, id: &PackageId, epoch: u64) -> Result<Vec<Pin>> {
        let mut below = Vec::new();
        let installed = state.generation.installed();
        for (_, version, installed) in installed.filter(|(other, ..)| *other == id) {
            let bytes = self.root.meta(installed.manifest, MANIFEST_MAX_BYTES)?;
            if Manifest::decode(&bytes)?.security_epoch < epoch {
                below.push(Pin::new(id, version));
            }
        }
        Ok(below)
    }
}

/// Puts `trust`, which a change of a key made, in force. The generation that names it.
fn commit_key(
    transaction: Transaction<'_>,
    op: &'static str,
    key: KeyId,
    trust: &TrustStore,
) -> Result<u64> {
    let arguments = KeyArguments {
        key,
        trust_sha256: trust.digest(),
    };
    commit_trust(transaction, op, &arguments, trust)
}

/// Puts `trust` in force. The generation that names it.
fn commit_trust(
    mut transaction: Transaction<'_>,
    op: &'static str,
    arguments: &impl Serialize,
    trust: &TrustStore,
) -> Result<u64> {
    let state = transaction.state();
    let mut next = state.successor(op, arguments, system_time_s())?;
    next.trust = transaction.put_trust(trust)?;
    Ok(transaction.commit(&next)?.n)
}
