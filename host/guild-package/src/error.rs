//! What can go wrong with a package, as data. Each message says what happened, why, and which command
//! comes next; each error has one stable code, which is also the exit code of the command line.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::digest::Digest;
use crate::elf::Refusal;
use crate::key::KeyId;
use crate::limits::EPOCH_RISE_MAX;
use crate::name::{AbiVersion, ArtifactPath, PackageId, PackageVersion, ScopePrefix};
use crate::store::LeaseNote;
use crate::text::Invalid;
use crate::trust::Right;

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

/// A refusal or failure. [`Error::code`] gives its stable code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller's arguments or staging folder are at fault.
    #[error("{what}. {next}")]
    Usage {
        /// What is wrong.
        what: String,
        /// What to do.
        next: String,
    },
    /// No signature at all.
    #[error(
        "the bundle has no signature: {detail}. Ask the publisher for the signed bundle, or sign it with `guild kernel sign`"
    )]
    Unsigned {
        /// Where the signature is missing.
        detail: &'static str,
    },
    /// A known key's signature does not fit.
    #[error(
        "the signature by {key} is not valid: {reason}. The bundle was changed after signing or damaged in transit; fetch it again"
    )]
    SignatureInvalid {
        /// The key the signature names.
        key: KeyId,
        /// What the check found.
        reason: &'static str,
    },
    /// Signed, but by nobody this store knows.
    #[error(
        "signed by {}, which this store does not trust. Compare the fingerprint with the publisher's, then `guild kernel trust add KEY.json --scope PREFIX`", list(.keys)
    )]
    KeyUntrusted {
        /// The keys that signed.
        keys: Vec<KeyId>,
    },
    /// Too few distinct keys or reviewers.
    #[error(
        "{id} needs {needed} {role} signature(s) by distinct trusted keys and has {found}. See the policy in `guild kernel trust list`"
    )]
    ThresholdNotMet {
        /// The package.
        id: PackageId,
        /// `publish` or `reviewer`.
        role: &'static str,
        /// How many the policy asks for.
        needed: u64,
        /// How many there are.
        found: u64,
    },
    /// Another publisher than at first install.
    #[error(
        "{id} was first installed from {}, this bundle is signed by {}. If the publisher announced the change, install with --accept-new-publisher", list(.pinned), list(.offered)
    )]
    PublisherChanged {
        /// The package.
        id: PackageId,
        /// The keys that were pinned at first install.
        pinned: Vec<KeyId>,
        /// The keys that signed this bundle.
        offered: Vec<KeyId>,
    },
    /// A key that no one should use.
    #[error(
        "the public key is not acceptable: {reason}. Ask its owner for a key made by `guild kernel keygen`"
    )]
    KeyUnacceptable {
        /// The check that failed.
        reason: &'static str,
    },
    /// Signed by a key that is no longer good.
    #[error("{key} is {status}: {reason}. Install a release signed by a current key")]
    KeyRevoked {
        /// The key.
        key: KeyId,
        /// `retired` or `compromised`.
        status: &'static str,
        /// The reason recorded in the trust store.
        reason: String,
    },
    /// The key's scopes do not allow this.
    #[error(
        "{key} may not sign {id}: {detail}; its scopes are {}. Add a scope with `guild kernel trust add KEY.json --scope PREFIX` if that is intended", list(.scopes)
    )]
    ScopeDenied {
        /// The key.
        key: KeyId,
        /// The package.
        id: PackageId,
        /// Which part of the scope denies.
        detail: String,
        /// The scopes the key has.
        scopes: Vec<ScopePrefix>,
    },
    /// Two notes of a store's chain, or a note and the chain, don't go together.
    #[error(
        "the checkpoint doesn't go with this chain: {detail}. Somebody cut the chain or wrote it anew; look at both machines before you go on"
    )]
    Checkpoint {
        /// What differs.
        detail: String,
    },
    /// A rotation hands on more, or something else, than the old key may.
    #[error(
        "{key} may not be followed so: {detail}. `guild kernel trust show` has the key's scopes, rights and operator; otherwise trust the new key by itself with `guild kernel trust add`"
    )]
    RotationDenied {
        /// The old key.
        key: KeyId,
        /// What stands against it.
        detail: String,
    },
    /// A line of an advisory that none of its signers has a say in.
    #[error(
        "the advisory's {line} isn't covered by the right {right} of a signer: {}. Nothing was changed. Ask for an advisory by a key that has the right, or decide yourself with `guild kernel trust revoke` and `guild kernel floor`", list(.denials)
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
        "the advisory raises the floor of {id} from {floor} to {epoch}, and no advisory may raise one by more than {EPOCH_RISE_MAX}. Nothing was changed. Take the publisher's earlier advisories first, or decide yourself with `guild kernel floor`"
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
    #[error(
        "{what} is malformed: {detail}. It was not made by guild, or was changed since; get it again"
    )]
    Malformed {
        /// Which file or entry.
        what: String,
        /// The rule that was broken.
        detail: String,
    },
    /// Content with another digest.
    #[error("{what} has digest {found}, expected {expected}. {next}")]
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
    #[error(
        "{id} {version} is fixed to manifest {pinned} in this store, the bundle has {offered}. A version never changes: ask the publisher for a new version number"
    )]
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
    #[error(
        "{id} {offered} is older than the installed {installed}. Install a newer release; to go back on purpose, install with --allow-downgrade"
    )]
    DowngradeRefused {
        /// The package.
        id: PackageId,
        /// The newest installed version.
        installed: PackageVersion,
        /// The bundle's version.
        offered: PackageVersion,
    },
    /// An epoch under the floor.
    #[error(
        "{id} {version} has security epoch {epoch}, the floor is {floor}. Install a newer release"
    )]
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
    #[error(
        "{what} is not valid at {now_s} (seconds since 1970): it is valid from {from_s} to {until_s}. Check the clock, or install a newer release"
    )]
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
    #[error("{id} {version} does not fit this machine: it has no plugin for {wanted}, only for {}. Install a build for this machine", list(.offered))]
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
        "{id} {version} asks for a host with ABI {host_min} to {host_max}, this one has {host}. {}", if .host < .host_min { "Upgrade guild" } else { "Install a newer version of the package" }
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
    #[error("{id} needs {dependency} {requirement}{}. Install it with `guild kernel install`, or enable it with `guild kernel enable`", found.as_ref().map(|version| format!(", enabled is {version}")).unwrap_or_default())]
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
    #[error("{id} is needed by {}, and {}. Disable those first", list(.by), .becomes.as_ref().map_or_else(|| "none would be enabled".to_owned(), |version| format!("{version} isn't what they need")))]
    StillNeeded {
        /// The package.
        id: PackageId,
        /// Enabled packages that depend on it, each with what it needs.
        by: Vec<String>,
        /// The version that would be enabled, if any.
        becomes: Option<PackageVersion>,
    },
    /// Somebody works with the package.
    #[error("{id} {version} is in use: {}. {next}", if .sessions.is_empty() { "a session that left no note".to_owned() } else { list(.sessions) })]
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
    /// Nothing that could be enabled instead.
    #[error("{id} can't go back{}: {reason}. Versions that can be enabled: {}", .wanted.as_ref().map(|version| format!(" to {version}")).unwrap_or_default(), list(.possible))]
    RollbackUnavailable {
        /// The package.
        id: PackageId,
        /// Where it should go; absent if there is no such version.
        wanted: Option<PackageVersion>,
        /// What stands in the way.
        reason: String,
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
    #[error("another process has held the lock of {} for {waited_ms} ms. Wait for its command to end, then try again", .path.display())]
    StoreLocked {
        /// The store.
        path: PathBuf,
        /// How long this process waited.
        waited_ms: u64,
    },
    /// The store contradicts itself.
    #[error("{} in the package store is damaged: {detail}. Restore the store folder from a backup, or move it away and install the packages again", .path.display())]
    StoreCorrupt {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        detail: String,
    },
    /// There is none.
    #[error("{what} was not found. {next}")]
    NotFound {
        /// What was looked for.
        what: String,
        /// Where to look.
        next: String,
    },
    /// The file holds another package than the one that was asked for.
    #[error(
        "the bundle holds {found}, asked for was {wanted}. Check the file name, or fetch the right bundle"
    )]
    OtherPackage {
        /// What the caller asked for.
        wanted: String,
        /// What the signed manifest says.
        found: String,
    },
    /// The code was run apart from the host, and that failed.
    #[error("the trial run of {id} {version} failed: {reason}. Nothing was changed. {next}")]
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
    #[error("cannot {action} {}: {source}. {}", .path.display(), io_next(source))]
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
    pub const fn code(&self) -> Code {
        match self {
            Self::Usage { .. } => Code::Usage,
            Self::Unsigned { .. } => Code::Unsigned,
            Self::SignatureInvalid { .. } => Code::SignatureInvalid,
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
            Self::RollbackUnavailable { .. } => Code::RollbackUnavailable,
            Self::Preflight { .. } => Code::PreflightRefused,
            Self::ProbeFailed { .. } => Code::ProbeFailed,
            Self::StoreLocked { .. } => Code::StoreLocked,
            Self::StoreCorrupt { .. } | Self::Checkpoint { .. } => Code::StoreCorrupt,
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

    pub(crate) fn invalid(what: impl Into<String>, invalid: &Invalid) -> Self {
        Self::malformed(what, invalid.to_string())
    }

    pub(crate) fn usage(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self::Usage {
            what: what.into(),
            next: next.into(),
        }
    }

    pub(crate) fn corrupt(path: impl Into<PathBuf>, detail: impl Into<String>) -> Self {
        Self::StoreCorrupt {
            path: path.into(),
            detail: detail.into(),
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

fn io_next(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => "Check the path",
        io::ErrorKind::PermissionDenied => "Check owner and permissions",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "Free some space, then try again"
        }
        io::ErrorKind::AlreadyExists => "Choose another path; what is there stays",
        _ => "Nothing was committed; try again",
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
        let text = error.to_string();
        assert!(text.contains("1.0.1") && text.contains("1.0.0"));
        assert!(text.contains("--allow-downgrade"));
    }
}
