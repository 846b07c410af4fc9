//! What can go wrong with a package, as data. The message says what happened and why, [`Error::next_step`] what to do;
//! each error has one stable code, which is also the exit code of the command line.

mod next_step;
mod uncounted;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::digest::Digest;
use crate::elf::Refusal;
use crate::key::KeyId;
use crate::limits::EPOCH_RISE_MAX;
use crate::name::{AbiVersion, ArtifactPath, PackageId, PackageVersion, ScopePrefix};
use crate::sign::Mistake;
use crate::store::LeaseNote;
use crate::text::{Invalid, Time};
use crate::trust::Right;

pub use uncounted::{NotCounted, Uncounted};

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The stable codes of package errors. Names and numbers never change meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The caller asked for something that has no meaning.
    Usage,
    /// The bundle carries no signature.
    Unsigned,
    /// A signature does not belong to these bytes.
    SignatureInvalid,
    /// No trusted key signed.
    KeyUntrusted,
    /// The signing key was retired or compromised.
    KeyRevoked,
    /// The key may not sign for this package.
    ScopeDenied,
    /// The bytes are not a bundle, manifest or envelope of this format.
    BundleMalformed,
    /// Content does not have the digest that was signed or recorded.
    DigestMismatch,
    /// The version exists with other content.
    VersionImmutable,
    /// The version or security epoch would fall.
    DowngradeRefused,
    /// The package or key is outside its time.
    Expired,
    /// The package does not fit this machine or host.
    Incompatible,
    /// A package this one depends on is not enabled.
    DependencyMissing,
    /// The library can't be a plugin.
    PreflightRefused,
    /// The code failed its trial run.
    ProbeFailed,
    /// A session uses the package.
    ActiveSessionBusy,
    /// Another process is changing the store.
    StoreLocked,
    /// The store contradicts itself.
    StoreCorrupt,
    /// There is no such package, key or file.
    NotFound,
    /// No version to go back to.
    RollbackUnavailable,
    /// The operating system refused a file operation.
    Io,
}

impl Code {
    /// The stable name, such as `KEY_UNTRUSTED`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// The exit code of a command that ends with this error.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        self.row().1
    }

    const fn row(self) -> (&'static str, u8) {
        match self {
            Self::Usage => ("USAGE", 2),
            Self::Unsigned => ("UNSIGNED", 10),
            Self::SignatureInvalid => ("SIGNATURE_INVALID", 11),
            Self::KeyUntrusted => ("KEY_UNTRUSTED", 12),
            Self::KeyRevoked => ("KEY_REVOKED", 13),
            Self::ScopeDenied => ("SCOPE_DENIED", 14),
            Self::BundleMalformed => ("BUNDLE_MALFORMED", 15),
            Self::DigestMismatch => ("DIGEST_MISMATCH", 16),
            Self::VersionImmutable => ("VERSION_IMMUTABLE", 17),
            Self::DowngradeRefused => ("DOWNGRADE_REFUSED", 18),
            Self::Expired => ("EXPIRED", 19),
            Self::Incompatible => ("INCOMPATIBLE", 20),
            Self::DependencyMissing => ("DEPENDENCY_MISSING", 21),
            Self::PreflightRefused => ("PREFLIGHT_REFUSED", 22),
            Self::ProbeFailed => ("PROBE_FAILED", 23),
            Self::ActiveSessionBusy => ("ACTIVE_SESSION_BUSY", 30),
            Self::StoreLocked => ("STORE_LOCKED", 31),
            Self::StoreCorrupt => ("STORE_CORRUPT", 32),
            Self::NotFound => ("NOT_FOUND", 33),
            Self::RollbackUnavailable => ("ROLLBACK_UNAVAILABLE", 34),
            Self::Io => ("IO", 40),
        }
    }
}

/// A refusal or failure. [`Error::code`] gives its stable code, [`Error::next_step`] what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller's arguments or staging folder are at fault.
    #[error("{what}")]
    Usage {
        /// What is wrong.
        what: String,
        /// What to do.
        next: String,
    },
    /// No signature at all.
    #[error("the bundle has no signature: {detail}")]
    Unsigned {
        /// Where the signature is missing.
        detail: &'static str,
    },
    /// A known key's signature does not fit.
    #[error("the signature by {key} is not valid: {reason}")]
    SignatureInvalid {
        /// The key the signature names.
        key: KeyId,
        /// What the check found.
        reason: &'static str,
    },
    /// A signature that was made elsewhere isn't the one that was asked for.
    #[error(
        "the signature in {} isn't {key}'s pure Ed25519 over the bytes of {}: {mistake}", .signature.display(), .request.display()
    )]
    ExternalSignature {
        /// The key that should have made it.
        key: KeyId,
        /// The file with the signature.
        signature: PathBuf,
        /// The file with the bytes to sign.
        request: PathBuf,
        /// What it is instead, as far as that can be told.
        mistake: Mistake,
    },
    /// Signed, but by nobody this store knows.
    #[error("signed by {}, which this store does not trust", list(.keys))]
    KeyUntrusted {
        /// The keys that signed.
        keys: Vec<KeyId>,
    },
    /// Too few distinct keys or reviewers.
    #[error("{id} needs {needed} {role} signature(s) by distinct trusted keys and has {found}{}", uncounted::not_counted(.uncounted))]
    ThresholdNotMet {
        /// The package.
        id: PackageId,
        /// `publish` or `reviewer`.
        role: &'static str,
        /// How many the policy asks for.
        needed: u64,
        /// How many there are.
        found: u64,
        /// The signatures that don't count, 32 at most.
        uncounted: Vec<Uncounted>,
    },
    /// Another publisher than at first install.
    #[error(
        "{id} was first installed from {}{}; this bundle is signed by {}, which follows none of these by a rotation that this store took", list(.pinned), followed(.followed_by), list(.offered)
    )]
    PublisherChanged {
        /// The package.
        id: PackageId,
        /// The keys that were pinned at first install.
        pinned: Vec<KeyId>,
        /// The keys that signed this bundle.
        offered: Vec<KeyId>,
        /// The keys that follow the pinned ones by rotations that were taken.
        followed_by: Vec<KeyId>,
        /// A key that the publisher may still hand on by a rotation.
        may_hand_on: Option<Box<KeyId>>,
    },
    /// A key that no one should use.
    #[error("the public key is not acceptable: {reason}")]
    KeyUnacceptable {
        /// The check that failed.
        reason: &'static str,
    },
    /// Signed by a key that is no longer good.
    #[error("{key} is {status}: {reason}")]
    KeyRevoked {
        /// The key.
        key: KeyId,
        /// `retired` or `compromised`.
        status: &'static str,
        /// The reason recorded in the trust store.
        reason: String,
    },
    /// The key's scopes do not allow this.
    #[error("{key} may not sign {id}: {detail}; its scopes are {}", list(.scopes))]
    ScopeDenied {
        /// The key.
        key: KeyId,
        /// The package.
        id: PackageId,
        /// Which part of the scope denies.
        detail: String,
        /// The right that it lacks there.
        right: Right,
        /// The scopes the key has.
        scopes: Vec<ScopePrefix>,
    },
    /// Two notes of a store's chain, or a note and the chain, don't go together.
    #[error("the checkpoint doesn't go with this chain: {detail}")]
    Checkpoint {
        /// What differs.
        detail: String,
        /// What to do.
        next: &'static str,
    },
    /// A rotation hands on more, or something else, than the old key may.
    #[error("{key} may not be followed so: {detail}")]
    RotationDenied {
        /// The old key.
        key: KeyId,
        /// What stands against it.
        detail: String,
    },
    /// A line of an advisory that none of its signers has a say in.
    #[error(
        "the advisory's {line} isn't covered by the right {right} of a signer: {}. Nothing was changed", list(.denials)
    )]
    AdvisoryDenied {
        /// Which line.
        line: String,
        /// The right that it needs.
        right: Right,
        /// Why each signer lacks it.
        denials: Vec<Denial>,
    },
    /// A line of an advisory that would leave few numbers above the floor.
    #[error(
        "the advisory raises the floor of {id} from {floor} to {epoch}, and no advisory may raise one by more than {EPOCH_RISE_MAX}. Nothing was changed"
    )]
    FloorRise {
        /// The package.
        id: PackageId,
        /// The floor in force.
        floor: u64,
        /// The floor that is asked for.
        epoch: u64,
    },
    /// Bytes that are not of the format.
    #[error("{what} is malformed: {detail}")]
    Malformed {
        /// Which file or entry.
        what: String,
        /// The rule that was broken.
        detail: String,
    },
    /// Content with another digest.
    #[error("{what} has digest {found}, expected {expected}")]
    DigestMismatch {
        /// Which file or entry.
        what: String,
        /// The signed or recorded digest.
        expected: Digest,
        /// The digest of the bytes.
        found: Digest,
        /// What to do.
        next: &'static str,
    },
    /// Same version, other bytes.
    #[error("{id} {version} is fixed to manifest {pinned} in this store, the bundle has {offered}")]
    VersionImmutable {
        /// The package.
        id: PackageId,
        /// The version.
        version: Box<PackageVersion>,
        /// The manifest that was installed first.
        pinned: Digest,
        /// The manifest of the bundle.
        offered: Digest,
    },
    /// An older version than the newest installed one.
    #[error("{id} {offered} is older than the installed {installed}")]
    DowngradeRefused {
        /// The package.
        id: PackageId,
        /// The newest installed version.
        installed: PackageVersion,
        /// The bundle's version.
        offered: PackageVersion,
    },
    /// An epoch under the floor.
    #[error("{id} {version} has security epoch {epoch}, the floor is {floor}")]
    EpochBelowFloor {
        /// The package.
        id: PackageId,
        /// The version.
        version: PackageVersion,
        /// Its epoch.
        epoch: u64,
        /// The lowest epoch this store accepts.
        floor: u64,
    },
    /// Outside its time.
    #[error("{what} is not valid at {}: it is valid {}", Time(*.now_s), span(*.from_s, *.until_s))]
    Expired {
        /// The package or key.
        what: String,
        /// The time that was compared: never earlier than the newest time the store has seen.
        now_s: u64,
        /// Start, 0 when open.
        from_s: u64,
        /// End, `u64::MAX` when open.
        until_s: u64,
    },
    /// Does not fit this machine.
    #[error("{id} {version} does not fit this machine: it has no plugin for {wanted}, only for {}", list(.offered))]
    Incompatible {
        /// The package.
        id: PackageId,
        /// The version.
        version: PackageVersion,
        /// This machine's target.
        wanted: String,
        /// The targets of the package.
        offered: Vec<String>,
    },
    /// The manifest rules this host out.
    #[error(
        "{id} {version} asks for a host with ABI {host_min} to {host_max}, this one has {host}"
    )]
    HostAbi {
        /// The package.
        id: PackageId,
        /// The version.
        version: Box<PackageVersion>,
        /// This host.
        host: AbiVersion,
        /// Oldest host that the package runs in.
        host_min: AbiVersion,
        /// Newest host that it was tested with; newer minors are compatible, newer majors are not.
        host_max: AbiVersion,
    },
    /// A dependency is not enabled.
    #[error("{id} needs {dependency} {requirement}{}", found.as_ref().map(|version| format!(", enabled is {version}")).unwrap_or_default())]
    DependencyMissing {
        /// The package.
        id: PackageId,
        /// What it needs.
        dependency: PackageId,
        /// Which versions and epoch would do.
        requirement: String,
        /// The version that is enabled, if one is.
        found: Option<PackageVersion>,
    },
    /// Other packages depend on this one.
    #[error("{id} is needed by {}, and {}", list(.by), .becomes.as_ref().map_or_else(|| "none would be enabled".to_owned(), |version| format!("{version} isn't what they need")))]
    StillNeeded {
        /// The package.
        id: PackageId,
        /// Enabled packages that depend on it, each with what it needs.
        by: Vec<String>,
        /// The version that would be enabled, if any.
        becomes: Option<PackageVersion>,
    },
    /// Somebody works with the package.
    #[error("{id} {version} is in use: {}", if .sessions.is_empty() { "a session that left no note".to_owned() } else { list(.sessions) })]
    SessionsActive {
        /// The package.
        id: PackageId,
        /// The version.
        version: Box<PackageVersion>,
        /// Who has it, as far as they said.
        sessions: Vec<LeaseNote>,
        /// What to do.
        next: &'static str,
    },
    /// Nothing was ever selected, so there is nothing to go back from.
    #[error(
        "no package of this store was ever enabled or disabled, so there is nothing to go back to"
    )]
    NothingSelected,
    /// Nothing that could be enabled instead.
    #[error("{id} can't go back{}: {reason}. Versions that can be enabled: {}", .wanted.as_ref().map(|version| format!(" to {version}")).unwrap_or_default(), list(.possible))]
    RollbackUnavailable {
        /// The package.
        id: PackageId,
        /// Where it should go; absent if there is no such version.
        wanted: Option<Box<PackageVersion>>,
        /// What stands in the way.
        reason: String,
        /// What would take that out of the way.
        next: String,
        /// Installed versions that could be enabled now.
        possible: Vec<PackageVersion>,
        /// The error that `reason` is the text of, where enabling it was refused.
        cause: Option<Box<Error>>,
    },
    /// A library that must not be mapped.
    #[error("{library} of {id} {version} may not be loaded: {refusal}")]
    Preflight {
        /// The package.
        id: PackageId,
        /// The version.
        version: Box<PackageVersion>,
        /// The plugin's name in the bundle.
        library: ArtifactPath,
        /// The rule that it breaks.
        refusal: Box<Refusal>,
    },
    /// Somebody else writes.
    #[error("another process has held the lock of {} for {waited_ms} ms", .path.display())]
    StoreLocked {
        /// The store.
        path: PathBuf,
        /// How long this process waited.
        waited_ms: u64,
    },
    /// The store contradicts itself.
    #[error("{} in the package store is damaged: {detail}", .path.display())]
    StoreCorrupt {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        detail: String,
        /// What to do.
        next: &'static str,
    },
    /// Somebody else could have written the store.
    #[error("the folder {} can't be believed: {detail}", .path.display())]
    StoreUnsafe {
        /// The store's folder.
        path: PathBuf,
        /// Who could have.
        detail: String,
        /// What to do.
        next: String,
    },
    /// An enabled package that can't be opened for loading.
    #[error("{id} {version} is enabled and can't be loaded: {error}")]
    EnabledRefused {
        /// The package.
        id: PackageId,
        /// The version.
        version: Box<PackageVersion>,
        /// Whether it is in the store below.
        below: bool,
        /// Why.
        error: Box<Error>,
    },
    /// There is none.
    #[error("{what} was not found")]
    NotFound {
        /// What was looked for.
        what: String,
        /// Where to look.
        next: String,
    },
    /// The file holds another package than the one that was asked for.
    #[error("the bundle holds {found}, asked for was {wanted}")]
    OtherPackage {
        /// What the caller asked for.
        wanted: String,
        /// What the signed manifest says.
        found: String,
    },
    /// The code was run apart from the host, and that failed.
    #[error("the trial run of {id} {version} failed: {reason}. Nothing was changed")]
    ProbeFailed {
        /// The package.
        id: PackageId,
        /// The version.
        version: Box<PackageVersion>,
        /// What happened.
        reason: String,
        /// What to do.
        next: &'static str,
    },
    /// A failed file operation.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// The operation, as a verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// Why a signer has no say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// The signer.
    pub signer: KeyId,
    /// Which part of its scopes denies.
    pub detail: String,
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.signer, self.detail)
    }
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::EnabledRefused { error, .. } => error.code(),
            Self::Usage { .. } => Code::Usage,
            Self::Unsigned { .. } => Code::Unsigned,
            Self::SignatureInvalid { .. } | Self::ExternalSignature { .. } => {
                Code::SignatureInvalid
            }
            Self::KeyUntrusted { .. }
            | Self::KeyUnacceptable { .. }
            | Self::ThresholdNotMet { .. }
            | Self::PublisherChanged { .. } => Code::KeyUntrusted,
            Self::KeyRevoked { .. } => Code::KeyRevoked,
            Self::ScopeDenied { .. }
            | Self::RotationDenied { .. }
            | Self::AdvisoryDenied { .. }
            | Self::FloorRise { .. } => Code::ScopeDenied,
            Self::Malformed { .. } => Code::BundleMalformed,
            Self::DigestMismatch { .. } => Code::DigestMismatch,
            Self::VersionImmutable { .. } => Code::VersionImmutable,
            Self::DowngradeRefused { .. } | Self::EpochBelowFloor { .. } => Code::DowngradeRefused,
            Self::Expired { .. } => Code::Expired,
            Self::Incompatible { .. } | Self::HostAbi { .. } => Code::Incompatible,
            Self::DependencyMissing { .. } | Self::StillNeeded { .. } => Code::DependencyMissing,
            Self::SessionsActive { .. } => Code::ActiveSessionBusy,
            Self::RollbackUnavailable { .. } | Self::NothingSelected => Code::RollbackUnavailable,
            Self::Preflight { .. } => Code::PreflightRefused,
            Self::ProbeFailed { .. } => Code::ProbeFailed,
            Self::StoreLocked { .. } => Code::StoreLocked,
            Self::StoreCorrupt { .. } | Self::StoreUnsafe { .. } | Self::Checkpoint { .. } => {
                Code::StoreCorrupt
            }
            Self::NotFound { .. } | Self::OtherPackage { .. } => Code::NotFound,
            Self::Io { .. } => Code::Io,
        }
    }

    /// Bytes of a bundle that are others than were verified a moment ago.
    pub(crate) fn staged_changed(what: impl Into<String>, expected: Digest, found: Digest) -> Self {
        Self::DigestMismatch {
            what: what.into(),
            expected,
            found,
            next: "The staged bundle changed after it was verified; install again",
        }
    }

    pub(crate) fn malformed(what: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Malformed {
            what: what.into(),
            detail: detail.into(),
        }
    }

    /// A rule of `what` that holds, or else is `broken`.
    pub(crate) fn ensure(what: &'static str, holds: bool, broken: &'static str) -> Result<()> {
        match holds {
            true => Ok(()),
            false => Err(Self::malformed(what, broken)),
        }
    }

    pub(crate) fn invalid(what: impl Into<String>, invalid: &Invalid) -> Self {
        Self::malformed(what, invalid.to_string())
    }

    pub(crate) fn usage(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self::Usage {
            what: what.into(),
            next: next.into(),
        }
    }

    /// Wraps a failed operation on `path`; for `map_err`.
    pub(crate) fn io<E: Into<io::Error>>(
        action: &'static str,
        path: impl AsRef<Path>,
    ) -> impl FnOnce(E) -> Self {
        move |source| Self::Io {
            action,
            path: path.as_ref().to_owned(),
            source: source.into(),
        }
    }
}

/// Items joined by commas, for a message.
fn list<T: ToString>(items: &[T]) -> String {
    match items {
        [] => "none".to_owned(),
        _ => items
            .iter()
            .map(T::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// Who took the place of keys, behind their list.
fn followed(by: &[KeyId]) -> String {
    match by {
        [] => String::new(),
        keys => format!(", followed by {}", list(keys)),
    }
}

/// A stretch of time, open at either end.
fn span(from_s: u64, until_s: u64) -> String {
    let from = format!("from {}", Time(from_s));
    let until = format!("until {}", Time(until_s));
    match (from_s, until_s) {
        (0, _) => until,
        (_, u64::MAX) => from,
        _ => format!("{from} {until}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are the design's exit-code table.
    #[test]
    fn codes_have_the_published_numbers() {
        let numbers = [
            (Code::Usage, 2),
            (Code::Unsigned, 10),
            (Code::SignatureInvalid, 11),
            (Code::KeyUntrusted, 12),
            (Code::KeyRevoked, 13),
            (Code::ScopeDenied, 14),
            (Code::BundleMalformed, 15),
            (Code::DigestMismatch, 16),
            (Code::VersionImmutable, 17),
            (Code::DowngradeRefused, 18),
            (Code::Expired, 19),
            (Code::Incompatible, 20),
            (Code::DependencyMissing, 21),
            (Code::PreflightRefused, 22),
            (Code::ProbeFailed, 23),
            (Code::ActiveSessionBusy, 30),
            (Code::StoreLocked, 31),
            (Code::StoreCorrupt, 32),
            (Code::NotFound, 33),
            (Code::RollbackUnavailable, 34),
            (Code::Io, 40),
        ];
        for (code, number) in numbers {
            assert_eq!(code.exit_code(), number, "{}", code.name());
        }
    }

    #[test]
    fn messages_name_the_next_command() {
        let error = Error::DowngradeRefused {
            id: "org.guild.kernels.cpu".parse().unwrap(),
            installed: "1.0.1".parse().unwrap(),
            offered: "1.0.0".parse().unwrap(),
        };
        let text = error.in_full();
        assert!(text.contains("1.0.1") && text.contains("1.0.0"));
        assert!(text.contains("--allow-downgrade"));
        assert_eq!(text, format!("{error}. {}", error.next_step()));
    }
}
