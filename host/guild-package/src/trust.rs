//! The trust store: which keys may sign what. It starts empty. Each change is a new file that names the
//! hash of the one before (`docs/package-format.md`, section 7); the store's generation says which file
//! is in force, so a change of trust commits like any other change.

mod advisory;
mod authority;
mod changes;
mod rotation;
mod succession;
mod withdrawal;

pub(crate) use advisory::Advised;
pub use changes::{NamedKey, TrustChange};
pub use withdrawal::Withdrawal;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::envelope::EnvelopeSignature;
use crate::error::{Error, Result};
use crate::json;
use crate::key::{Algorithm, KeyId, KeyRecord, PublicKey};
use crate::limits::{LIST_MAX, STATE_FILE_MAX_BYTES};
use crate::manifest::Kind;
use crate::name::{PackageId, ScopePrefix, TargetPattern};
use crate::sign::{self, Purpose};
use crate::text::{Invalid, PlainText};

const TRUST_FILE: &str = "the trust file";

/// A trust file that was read and checked, with the digest of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustStore {
    body: TrustBody,
    bytes: Vec<u8>,
    digest: Digest,
}

/// The content of a trust file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustBody {
    /// Always 1.
    pub schema: u64,
    /// Position in the chain, from 0.
    pub n: u64,
    /// Digest of file `n - 1`; [`Digest::NONE`] for file 0.
    pub prev: Digest,
    /// Every key ever added, ascending by id.
    pub keys: Vec<TrustedKey>,
    /// Which key followed which.
    pub lineage: Vec<Lineage>,
    /// What a package needs beyond one good signature, by id prefix.
    pub policy: Vec<Policy>,
}

/// A key and its rights.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedKey {
    /// The key's id; must follow from the key.
    pub id: KeyId,
    /// The only algorithm under which its signatures count.
    pub alg: Algorithm,
    /// The key, in base64.
    pub public: PublicKey,
    /// A name for people.
    pub label: PlainText,
    /// Who holds the key.
    pub operator: PlainText,
    /// Whether the key was made by a test or demonstration.
    pub test_identity: bool,
    /// What it may sign. Prefixes differ.
    pub scopes: Vec<Scope>,
    /// Start of validity, in seconds since 1970-01-01 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<u64>,
    /// End of validity, in seconds since 1970-01-01 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after: Option<u64>,
    /// Whether it is still good.
    pub status: KeyStatus,
    /// For an active key the generation that added it; for a retired one the generation that retired
    /// it; for a compromised one the last generation whose installs are still believed.
    pub since_gen: u64,
    /// Why the status changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<PlainText>,
}

/// Whether a key is still good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyStatus {
    /// It may sign.
    Active,
    /// Superseded: what it signed stays usable, new installs are refused.
    Retired,
    /// Somebody else may hold it: refused at the next load too.
    Compromised,
}

impl KeyStatus {
    /// Its name in a trust file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Retired => "retired",
            Self::Compromised => "compromised",
        }
    }

    /// The same, with what is still believed of a compromised key whose `since_gen` this is.
    #[must_use]
    pub fn in_words(self, since_gen: u64) -> String {
        match (self, since_gen) {
            (Self::Compromised, 0) => "compromised, believed in nothing".to_owned(),
            (Self::Compromised, _) => {
                format!("compromised, believed up to generation {since_gen}")
            }
            (Self::Active | Self::Retired, _) => self.name().to_owned(),
        }
    }

    /// As [`Self::in_words`], with the reason where one was given.
    #[must_use]
    pub fn with_reason(self, since_gen: u64, reason: Option<&PlainText>) -> String {
        let words = self.in_words(since_gen);
        match reason {
            Some(reason) => format!("{words}: {reason}"),
            None => words,
        }
    }
}

/// An area of package ids and what a key may do there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// The area.
    pub prefix: ScopePrefix,
    /// Kinds of bundle.
    pub kinds: Vec<Kind>,
    /// Rights.
    pub rights: Vec<Right>,
    /// Machines.
    pub targets: Vec<TargetPattern>,
}

/// One thing a key may do in a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Right {
    /// Release packages.
    Publish,
    /// Countersign them in a role.
    Countersign(Role),
    /// Raise a security epoch floor.
    Epoch,
    /// Name a successor key.
    Rotate,
    /// Withdraw keys and releases.
    Revoke,
}

/// In which role somebody countersigns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Looked at the source.
    Reviewer,
    /// Built the same bytes again.
    Builder,
    /// Runs the machines.
    Site,
    /// Passes the bundle on.
    Mirror,
}

/// One key's succession by another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lineage {
    /// The old key.
    pub from: KeyId,
    /// The new key.
    pub to: KeyId,
    /// Digest of the rotation body both signed.
    pub body_sha256: Digest,
    /// What the old key may still do.
    pub rights_left: Vec<RightLeft>,
}

/// What a rotated key may still do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RightLeft {
    /// Vouch for packages that are installed already.
    VerifyInstalled,
}

/// What packages below a prefix need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The area; the longest matching one decides.
    pub prefix: ScopePrefix,
    /// Distinct publishing keys.
    pub publish: u64,
    /// Distinct reviewing keys.
    pub reviewer: u64,
    /// Whether distinct keys must also have distinct operators.
    pub distinct_operators: bool,
    /// Whether a tainted environment refuses the load.
    pub strict_ambient: bool,
    /// Whether PTX may be compiled at load.
    pub allow_ptx_jit: bool,
}

/// What `trust add` grants beyond the key itself.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The scopes; at least one.
    pub scopes: Vec<Scope>,
    /// Set only when the person confirmed that a scope may be `*`.
    pub everything_understood: bool,
    /// Start of validity, in seconds since 1970-01-01 UTC.
    pub not_before: Option<u64>,
    /// End of validity, in seconds since 1970-01-01 UTC.
    pub not_after: Option<u64>,
}

impl Scope {
    /// The usual scope: may publish both kinds of bundle below `prefix`, for every machine.
    ///
    /// # Errors
    /// [`Invalid`] never in practice: the one built-in pattern is valid.
    pub fn publish(prefix: ScopePrefix) -> Result<Self, Invalid> {
        Ok(Self {
            prefix,
            kinds: vec![Kind::GKernel, Kind::GkModule],
            rights: vec![Right::Publish],
            targets: vec!["*".parse()?],
        })
    }
}

impl TrustStore {
    /// The trust store every package store begins with: no keys.
    ///
    /// # Errors
    /// None in practice; encoding is fallible in general.
    pub fn empty() -> Result<Self> {
        Self::from_body(TrustBody {
            schema: 1,
            n: 0,
            prev: Digest::NONE,
            keys: Vec::new(),
            lineage: Vec::new(),
            policy: Vec::new(),
        })
    }

    /// Reads a trust file.
    ///
    /// # Errors
    /// [`Error::Malformed`] for any deviation.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        if bytes.len() as u64 > STATE_FILE_MAX_BYTES {
            return Err(Error::malformed(TRUST_FILE, "it is too large"));
        }
        let body: TrustBody = json::decode_canonical(TRUST_FILE, bytes)?;
        body.check()?;
        Ok(Self {
            body,
            bytes: bytes.to_vec(),
            digest: Digest::of(bytes),
        })
    }

    /// The trust store after this one, with `record` added or its scopes extended. `generation` is the
    /// one that will put it in force.
    ///
    /// # Errors
    /// [`Error::Usage`] for a missing, global or repeated scope; [`Error::KeyRevoked`] for a key that
    /// was withdrawn before: a withdrawal is never taken back.
    pub fn with_key(&self, record: &KeyRecord, grant: &Grant, generation: u64) -> Result<Self> {
        check_grant(grant)?;
        let mut body = self.next_body();
        match body.keys.iter_mut().find(|key| key.id == record.id) {
            Some(key) if key.status != KeyStatus::Active => return Err(key.revoked()),
            Some(key) => {
                check_new_prefixes(key, grant)?;
                key.scopes.extend(grant.scopes.iter().cloned());
                key.not_before = grant.not_before.or(key.not_before);
                key.not_after = grant.not_after.or(key.not_after);
            }
            None => {
                let mut key = TrustedKey::added(record, grant.scopes.clone(), generation);
                (key.not_before, key.not_after) = (grant.not_before, grant.not_after);
                body.keys.push(key);
            }
        }
        Self::from_body(body)
    }

    /// The trust store after this one, with `policy` in force for its prefix.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a policy that asks for no publisher.
    pub fn with_policy(&self, policy: Policy) -> Result<Self> {
        let mut body = self.next_body();
        body.policy.retain(|other| other.prefix != policy.prefix);
        body.policy.push(policy);
        Self::from_body(body)
    }

    /// The content.
    #[must_use]
    pub const fn body(&self) -> &TrustBody {
        &self.body
    }

    /// The file's exact bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// SHA-256 of [`Self::bytes`].
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Every key ever added, ascending by id.
    #[must_use]
    pub fn keys(&self) -> &[TrustedKey] {
        &self.body.keys
    }

    /// The key with exactly this id.
    #[must_use]
    pub fn key(&self, id: &KeyId) -> Option<&TrustedKey> {
        self.body.keys.iter().find(|key| key.id == *id)
    }

    /// The policy for `id`: the one with the longest matching prefix.
    #[must_use]
    pub fn policy(&self, id: &PackageId) -> Option<&Policy> {
        let matching = self
            .body
            .policy
            .iter()
            .filter(|policy| policy.prefix.covers(id));
        matching.max_by_key(|policy| policy.prefix.specificity())
    }

    pub(crate) fn next_body(&self) -> TrustBody {
        TrustBody {
            n: self.body.n + 1,
            prev: self.digest,
            ..self.body.clone()
        }
    }

    pub(crate) fn from_body(mut body: TrustBody) -> Result<Self> {
        body.keys.sort_by_key(|key| key.id);
        for key in &mut body.keys {
            key.scopes.sort_by(|a, b| a.prefix.cmp(&b.prefix));
        }
        body.policy.sort_by(|a, b| a.prefix.cmp(&b.prefix));
        body.check()?;
        let bytes = json::encode(TRUST_FILE, &body)?;
        let digest = Digest::of(&bytes);
        Ok(Self {
            body,
            bytes,
            digest,
        })
    }
}

impl TrustedKey {
    /// The key of `record`, good from `generation` on and without an end.
    pub(crate) fn added(record: &KeyRecord, scopes: Vec<Scope>, generation: u64) -> Self {
        Self {
            id: record.id,
            alg: record.alg,
            public: record.public.clone(),
            label: record.label.clone(),
            operator: record.operator.clone(),
            test_identity: record.test_identity,
            scopes,
            not_before: None,
            not_after: None,
            status: KeyStatus::Active,
            since_gen: generation,
            reason: None,
        }
    }

    /// What its holder hands out.
    #[must_use]
    pub fn record(&self) -> KeyRecord {
        KeyRecord {
            schema: 1,
            id: self.id,
            alg: self.alg,
            public: self.public.clone(),
            label: self.label.clone(),
            operator: self.operator.clone(),
            test_identity: self.test_identity,
        }
    }

    /// The key is inside its time at `now_s`.
    ///
    /// # Errors
    /// [`Error::Expired`].
    pub(crate) fn check_time(&self, now_s: u64) -> Result<()> {
        let from_s = self.not_before.unwrap_or(0);
        let until_s = self.not_after.unwrap_or(u64::MAX);
        match (from_s..until_s).contains(&now_s) {
            true => Ok(()),
            false => Err(Error::Expired {
                what: self.id.to_string(),
                now_s,
                from_s,
                until_s,
            }),
        }
    }

    /// The key may sign at `now_s`: it isn't withdrawn, and inside its time.
    ///
    /// # Errors
    /// [`Error::KeyRevoked`] or [`Error::Expired`].
    pub(crate) fn check_in_force(&self, now_s: u64) -> Result<()> {
        match self.status {
            KeyStatus::Active => self.check_time(now_s),
            KeyStatus::Retired | KeyStatus::Compromised => Err(self.revoked()),
        }
    }

    /// Checks the signature that `entry` claims this key made over `body` for `purpose`.
    ///
    /// # Errors
    /// [`Error::SignatureInvalid`], also for another algorithm than the trusted key's.
    pub(crate) fn verify(
        &self,
        entry: &EnvelopeSignature,
        purpose: Purpose,
        body: &[u8],
    ) -> Result<()> {
        if entry.alg != self.alg {
            return Err(Error::SignatureInvalid {
                key: self.id,
                reason: "it names another algorithm than the trusted key has",
            });
        }
        sign::verify(&self.public, purpose, body, &entry.sig)
    }

    /// The error that reports this key's withdrawal.
    pub(crate) fn revoked(&self) -> Error {
        let reason = self
            .reason
            .as_ref()
            .map_or("no reason was recorded", PlainText::as_str);
        Error::KeyRevoked {
            key: self.id,
            status: self.status.name(),
            reason: reason.to_owned(),
        }
    }
}

impl TrustBody {
    fn check(&self) -> Result<()> {
        let ensure = |holds, broken| Error::ensure(TRUST_FILE, holds, broken);
        ensure(self.schema == 1, "schema is not 1")?;
        let first_has_no_predecessor = (self.n == 0) == (self.prev == Digest::NONE);
        ensure(
            first_has_no_predecessor,
            "prev is not the digest of a predecessor",
        )?;
        let lengths = [self.keys.len(), self.lineage.len(), self.policy.len()];
        ensure(
            lengths.iter().all(|length| *length <= LIST_MAX),
            "a list is longer than 1024",
        )?;
        ensure(
            self.keys.is_sorted_by(|a, b| a.id < b.id),
            "keys are not strictly ascending by id",
        )?;
        for key in &self.keys {
            ensure(
                key.id == key.public.id(),
                "an id is not the id of its public key",
            )?;
            ensure(!key.scopes.is_empty(), "a key has no scope")?;
            let distinct = key.scopes.is_sorted_by(|a, b| a.prefix < b.prefix);
            ensure(
                distinct,
                "a key's scopes are not strictly ascending by prefix",
            )?;
        }
        let status = |id: KeyId| {
            let key = self.keys.iter().find(|key| key.id == id);
            key.map(|key| key.status)
        };
        for step in &self.lineage {
            let is_whole = status(step.to).is_some()
                && status(step.from).is_some_and(|status| status != KeyStatus::Active);
            ensure(
                is_whole,
                "a succession names an unknown key, or the old one is still active",
            )?;
        }
        let policies = self.policy.is_sorted_by(|a, b| a.prefix < b.prefix);
        ensure(policies, "policies are not strictly ascending by prefix")?;
        ensure(
            self.policy.iter().all(|policy| policy.publish >= 1),
            "a policy asks for no publisher",
        )
    }
}

fn check_grant(grant: &Grant) -> Result<()> {
    if grant.scopes.is_empty() {
        return Err(Error::usage(
            "the key would get no scope",
            "Add --scope PREFIX",
        ));
    }
    let global = grant
        .scopes
        .iter()
        .any(|scope| scope.prefix.is_everything());
    if global && !grant.everything_understood {
        let what = "scope `*` lets the key sign every package";
        return Err(Error::usage(what, "Name a prefix, or add --i-understand"));
    }
    let prefixes: BTreeSet<_> = grant.scopes.iter().map(|scope| &scope.prefix).collect();
    if prefixes.len() != grant.scopes.len() {
        return Err(Error::usage(
            "a scope is given twice",
            "Name each prefix once",
        ));
    }
    Ok(())
}

/// A scope is added, never changed: a change would be easy to miss.
fn check_new_prefixes(key: &TrustedKey, grant: &Grant) -> Result<()> {
    let known = |scope: &&Scope| key.scopes.iter().any(|other| other.prefix == scope.prefix);
    match grant.scopes.iter().find(known) {
        Some(scope) => {
            let what = format!("{} already has scope {}", key.id, scope.prefix);
            Err(Error::usage(
                what,
                "Name a longer or another prefix; `guild kernel trust list` shows those it has",
            ))
        }
        None => Ok(()),
    }
}

impl std::fmt::Display for Policy {
    /// One line for people.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            prefix,
            publish,
            reviewer,
            ..
        } = self;
        write!(f, "{prefix}: publishers {publish}, reviewers {reviewer}")?;
        if self.distinct_operators {
            f.write_str(", of distinct operators")?;
        }
        if self.strict_ambient {
            f.write_str(", in clean surroundings only")?;
        }
        Ok(())
    }
}

impl std::fmt::Display for Scope {
    /// The area, with what the key may do there.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rights: Vec<String> = self.rights.iter().map(ToString::to_string).collect();
        write!(f, "{} ({})", self.prefix, rights.join(" "))
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Reviewer => "reviewer",
            Self::Builder => "builder",
            Self::Site => "site",
            Self::Mirror => "mirror",
        })
    }
}

impl std::fmt::Display for Right {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Publish => "publish",
            Self::Countersign(role) => return write!(f, "countersign:{role}"),
            Self::Epoch => "epoch",
            Self::Rotate => "rotate",
            Self::Revoke => "revoke",
        })
    }
}

impl std::str::FromStr for Right {
    type Err = Invalid;

    /// # Errors
    /// Any other text than a right's name.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let all = [
            Self::Publish,
            Self::Countersign(Role::Reviewer),
            Self::Countersign(Role::Builder),
            Self::Countersign(Role::Site),
            Self::Countersign(Role::Mirror),
            Self::Epoch,
            Self::Rotate,
            Self::Revoke,
        ];
        let rule = "publish, countersign:ROLE, epoch, rotate or revoke";
        let found = all.into_iter().find(|right| right.to_string() == text);
        found.ok_or_else(|| Invalid::new("right", text, rule))
    }
}

impl TryFrom<String> for Right {
    type Error = Invalid;
    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl From<Right> for String {
    fn from(right: Right) -> Self {
        right.to_string()
    }
}
