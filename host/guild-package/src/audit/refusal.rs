//! What a record says, and which errors are refusals.

use std::fmt;
use std::fs::File;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::audit::tally::RATE_LIMITED;
use crate::bundle::digest_of;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::json;
use crate::key::KeyId;
use crate::limits::{AUDIT_BODY_MAX_BYTES, AUDIT_RECORDS_MAX, AUDIT_WINDOW_S, SIGNATURES_MAX};
use crate::name::{PackageId, PackageVersion};
use crate::store::generation::Pin;
use crate::text::{Invalid, PlainText};

/// Longest name of a code, in bytes.
const CODE_MAX_BYTES: usize = 32;

/// One refusal, as it stands in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// The version of this format, 1.
    pub schema: u64,
    /// When, in seconds since 1970-01-01 UTC.
    pub at: u64,
    /// The stable code of the refusal.
    pub code: String,
    /// What was asked for.
    pub command: Attempt,
    /// What it was about, as far as that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
    /// The keys that the refusal names.
    pub keys: Vec<KeyId>,
    /// The user that asked.
    pub uid: u32,
    /// What was said, escaped and cut off.
    pub detail: PlainText,
    /// How often the same was refused since the record of it before this one, without a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<u64>,
    /// How many others have no record, since the last record that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<u64>,
}

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Attempt {
    /// To install a bundle.
    Install,
    /// To enable an installed version.
    Enable,
    /// To go back to an earlier one.
    Rollback,
    /// To load what is enabled.
    Load,
    /// To believe what a signed file says of keys.
    Trust,
}

/// What a refusal is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Subject {
    /// A version of a package, written `id@version`. Only an error after the signature's check names one.
    Package(Pin),
    /// The bundle with this SHA-256.
    Bundle(Digest),
}

/// What makes an error a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The stable code.
    pub code: &'static str,
    /// What it is about, where the error knows.
    pub subject: Option<Subject>,
    /// The keys that it names.
    pub keys: Vec<KeyId>,
}

/// A bundle that was not accepted.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct Unaccepted {
    /// Why.
    pub error: Error,
    /// SHA-256 of the bytes that were judged; absent where none were, or the error is no refusal.
    pub bundle: Option<Digest>,
}

impl Refusal {
    /// A refusal by this process's user at the time `at`, with the message of the error.
    #[must_use]
    pub fn new(at: u64, command: Attempt, refused: Refused, message: &str) -> Self {
        let Refused {
            code,
            subject,
            mut keys,
        } = refused;
        keys.truncate(SIGNATURES_MAX);
        Self {
            schema: 1,
            at,
            code: code.to_owned(),
            command,
            subject,
            keys,
            uid: rustix::process::getuid().as_raw(),
            detail: PlainText::first_line_of(message),
            repeated: None,
            dropped: None,
        }
    }

    /// Reads the body of a record.
    ///
    /// # Errors
    /// [`Error::Malformed`] for anything but the one encoding of a refusal.
    pub fn decode(body: &[u8]) -> Result<Self> {
        let refusal: Self = json::decode_canonical("a record", body)?;
        let is_code = |code: &str| {
            let mut bytes = code.bytes();
            !code.is_empty()
                && code.len() <= CODE_MAX_BYTES
                && bytes.all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        };
        if refusal.schema != 1 || !is_code(&refusal.code) || refusal.keys.len() > SIGNATURES_MAX {
            let detail = "its schema, code or number of keys is none of this format";
            return Err(Error::malformed("a record", detail));
        }
        Ok(refusal)
    }

    /// The body of its record.
    ///
    /// # Errors
    /// [`Error::Malformed`] for what [`Self::decode`] would refuse.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let body = json::encode("a record", self)?;
        if body.len() > AUDIT_BODY_MAX_BYTES {
            let detail = format!("its body has {} bytes", body.len());
            return Err(Error::malformed("a record", detail));
        }
        Self::decode(&body)?;
        Ok(body)
    }

    /// Whether both say the same of the same.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let about = |refusal: &Self| (refusal.command, refusal.subject.clone());
        self.code == other.code && about(self) == about(other) && self.keys == other.keys
    }

    /// The digest of what [`Self::is_like`] compares.
    pub(super) fn kind(&self) -> Result<Digest> {
        let key = (&self.code, self.command, &self.subject, &self.keys);
        Ok(Digest::of(&json::encode("a kind", &key)?))
    }

    /// The record that stands in its place when there are too many.
    pub(super) fn limit_reached(&self) -> Self {
        let refused = Refused {
            code: RATE_LIMITED,
            subject: None,
            keys: Vec::new(),
        };
        let message = format!(
            "{AUDIT_RECORDS_MAX} refusals were written within {AUDIT_WINDOW_S} s; further ones are only counted"
        );
        Self {
            uid: self.uid,
            ..Self::new(self.at, self.command, refused, &message)
        }
    }
}

impl Refused {
    /// A refusal that names nothing.
    #[must_use]
    pub const fn new(code: &'static str) -> Self {
        Self {
            code,
            subject: None,
            keys: Vec::new(),
        }
    }

    /// The same about `subject`, where it isn't known yet.
    #[must_use]
    pub fn about(self, subject: Option<Subject>) -> Self {
        Self {
            subject: self.subject.or(subject),
            ..self
        }
    }
}

impl Unaccepted {
    /// The error, with the digest of the bytes in `judged` where it refuses them.
    pub(crate) fn of(error: Error, judged: &File) -> Box<Self> {
        // Nothing but a refusal is worth the time, and a digest that can't be had is left out.
        let bundle = error.refused().and_then(|_| digest_of(judged).ok());
        Box::new(Self { error, bundle })
    }
}

impl From<Error> for Box<Unaccepted> {
    fn from(error: Error) -> Self {
        Self::new(Unaccepted {
            error,
            bundle: None,
        })
    }
}

impl Error {
    /// What the audit log says of this error; `None` where it is no sign of distrust or of an attack: a wrong command
    /// line, something missing, busy or damaged, a package for another machine.
    #[must_use]
    pub fn refused(&self) -> Option<Refused> {
        let (subject, keys) = match self {
            Self::Unsigned { .. }
            | Self::FloorRise { .. }
            | Self::KeyUnacceptable { .. }
            | Self::Malformed { .. }
            | Self::DigestMismatch { .. }
            | Self::Expired { .. } => (None, Vec::new()),
            Self::KeyUntrusted { keys } => (None, keys.clone()),
            Self::PublisherChanged { offered, .. } => (None, offered.clone()),
            Self::ThresholdNotMet { uncounted, .. } => {
                let signers = uncounted.iter().map(|it| it.key);
                (None, signers.collect())
            }
            Self::AdvisoryDenied { denials, .. } => {
                let signers = denials.iter().map(|denial| denial.signer);
                (None, signers.collect())
            }
            Self::SignatureInvalid { key, .. }
            | Self::KeyRevoked { key, .. }
            | Self::ScopeDenied { key, .. }
            | Self::RotationDenied { key, .. } => (None, vec![*key]),
            Self::VersionImmutable { id, version, .. }
            | Self::Preflight { id, version, .. }
            | Self::ProbeFailed { id, version, .. } => (subject(id, version), Vec::new()),
            Self::DowngradeRefused {
                id,
                offered: version,
                ..
            }
            | Self::EpochBelowFloor { id, version, .. } => (subject(id, version), Vec::new()),
            Self::EnabledRefused {
                id, version, error, ..
            } => return Some(error.refused()?.about(subject(id, version))),
            // What stands in the way may be a refusal, and says which.
            Self::RollbackUnavailable {
                id, wanted, cause, ..
            } => {
                let wanted = wanted.as_ref().and_then(|version| subject(id, version));
                return Some(cause.as_ref()?.refused()?.about(wanted));
            }
            Self::Usage { .. }
            | Self::ExternalSignature { .. }
            | Self::NothingSelected
            | Self::StoreUnsafe { .. }
            | Self::Checkpoint { .. }
            | Self::Incompatible { .. }
            | Self::HostAbi { .. }
            | Self::DependencyMissing { .. }
            | Self::StillNeeded { .. }
            | Self::SessionsActive { .. }
            | Self::StoreLocked { .. }
            | Self::StoreCorrupt { .. }
            | Self::NotFound { .. }
            | Self::OtherPackage { .. }
            | Self::Io { .. } => return None,
        };
        Some(Refused {
            code: self.code().name(),
            subject,
            keys,
        })
    }
}

fn subject(id: &PackageId, version: &PackageVersion) -> Option<Subject> {
    Some(Subject::Package(Pin::new(id, version)))
}

impl Attempt {
    /// Its name, as in the log.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Enable => "enable",
            Self::Rollback => "rollback",
            Self::Load => "load",
            Self::Trust => "trust",
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Package(pin) => write!(f, "{pin}"),
            Self::Bundle(digest) => write!(f, "{digest}"),
        }
    }
}

impl FromStr for Subject {
    type Err = Invalid;

    /// # Errors
    /// Anything but `id@version` or 64 lower-case hex digits.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.contains('@') {
            true => text.parse().map(Self::Package),
            false => text.parse().map(Self::Bundle),
        }
    }
}

impl TryFrom<String> for Subject {
    type Error = Invalid;
    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl From<Subject> for String {
    fn from(subject: Subject) -> Self {
        subject.to_string()
    }
}
