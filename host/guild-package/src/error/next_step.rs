//! What to do about an error: a command that helps in the state that the error describes, or whom to ask.

use std::io;

use rustix::io::Errno;

use super::{Error, list};
use crate::key::KeyId;
use crate::name::PackageId;
use crate::trust::Right;

impl Error {
    /// What happened, and what to do next.
    #[must_use]
    pub fn in_full(&self) -> String {
        format!("{self}. {}", self.next_step())
    }

    /// What to do next. Never empty.
    #[must_use]
    pub fn next_step(&self) -> String {
        match self {
            Self::Usage { next, .. }
            | Self::NotFound { next, .. }
            | Self::StoreUnsafe { next, .. }
            | Self::RollbackUnavailable { next, .. } => next.clone(),
            Self::DigestMismatch { next, .. }
            | Self::Checkpoint { next, .. }
            | Self::SessionsActive { next, .. }
            | Self::StoreCorrupt { next, .. }
            | Self::ProbeFailed { next, .. } => (*next).to_owned(),
            Self::EnabledRefused {
                id, below, error, ..
            } => without(id, *below, &error.next_step()),
            Self::Io { source, .. } => io_next(source).to_owned(),
            _ => self.of_release().unwrap_or_else(|| self.of_version()),
        }
    }

    /// Of what is wrong with who signed; absent for other errors.
    fn of_release(&self) -> Option<String> {
        let next = match self {
            Self::Unsigned { .. } => {
                "Ask the publisher for the signed bundle; your own is made from its staging folder by `guild kernel sign`"
            }
            Self::SignatureInvalid { .. } => {
                "What was signed was changed afterwards, or damaged on the way; get it again"
            }
            Self::ExternalSignature { .. } => {
                "Sign the bytes of the request as they are, without a hash before it, with that key"
            }
            Self::KeyUntrusted { .. } => {
                "Compare the fingerprint with the publisher's, then `guild kernel trust add KEY.json --scope PREFIX`"
            }
            Self::ThresholdNotMet { id, role, .. } => {
                let role = if *role == "publish" {
                    "publisher"
                } else {
                    role
                };
                return Some(format!(
                    "Get a bundle of {id} to which more have added theirs with `guild kernel countersign --role {role}`, and install it; `guild kernel trust policy` asks for less"
                ));
            }
            Self::PublisherChanged {
                offered,
                followed_by,
                may_hand_on,
                ..
            } => return Some(of_publisher(offered, followed_by, may_hand_on.as_deref())),
            Self::KeyUnacceptable { .. } => "Ask its owner for a key made by `guild kernel keygen`",
            Self::KeyRevoked { .. } => {
                "A withdrawal is never taken back: take another key of its holder, or a release that one signed"
            }
            Self::ScopeDenied {
                id, right, scopes, ..
            } => {
                let is_taken = scopes.iter().any(|scope| scope.to_string() == id.as_str());
                return Some(of_scope(id, *right, is_taken));
            }
            Self::RotationDenied { .. } => {
                "`guild kernel trust show KEY` has its scopes, rights and operator; `guild kernel trust add` trusts the new key by itself"
            }
            Self::AdvisoryDenied { .. } => {
                "Ask for an advisory by a key that has the right, or decide yourself with `guild kernel trust revoke` and `guild kernel floor`"
            }
            Self::FloorRise { .. } => {
                "Take the publisher's earlier advisories first, or decide yourself with `guild kernel floor`"
            }
            Self::Preflight { .. } => {
                "Ask the publisher for another release; the publisher mends the library and signs a new version"
            }
            _ => return None,
        };
        Some(next.to_owned())
    }

    /// Of what is wrong with a version on this machine.
    fn of_version(&self) -> String {
        let next = match self {
            Self::Malformed { .. } => {
                "It was not made by guild, or was changed since; get it again"
            }
            Self::VersionImmutable { .. } => {
                "A version never changes: ask the publisher for a new version number"
            }
            Self::DowngradeRefused { .. } => {
                "Install a newer release; to go back on purpose, install with --allow-downgrade"
            }
            Self::EpochBelowFloor { id, floor, .. } => {
                return format!(
                    "Install a release of {id} with epoch {floor} or more; a floor never falls"
                );
            }
            Self::Expired { .. } => "Check the clock, or install a newer release",
            Self::Incompatible { .. } => "Install a build for this machine",
            Self::HostAbi { host, host_min, .. } if host < host_min => "Upgrade guild",
            Self::HostAbi { .. } => "Install a newer version of the package",
            Self::DependencyMissing { dependency, .. } => {
                return format!(
                    "`guild kernel enable {dependency}@VERSION` enables one that is installed, `guild kernel install BUNDLE --id {dependency}` brings one"
                );
            }
            Self::StillNeeded { by, becomes, .. } => return of_dependents(by, becomes.is_some()),
            Self::NothingSelected => "`guild kernel log` lists what changed the store",
            Self::StoreLocked { .. } => "Wait for its command to end, then try again",
            Self::OtherPackage { .. } => "Check the file name, or fetch the right bundle",
            // Every other kind has its own words above.
            _ => "`guild kernel doctor` looks over everything that packages depend on",
        };
        next.to_owned()
    }
}

/// The package is enabled, so nothing runs until it is mended or out of the way.
fn without(id: &PackageId, below: bool, mend: &str) -> String {
    match below {
        false => format!("{mend}; until then `guild kernel disable {id}` goes on without it"),
        true => format!(
            "{mend}; until then --no-machine-store goes on without the machine's packages, and its owner's `guild --machine kernel disable {id}` without this one"
        ),
    }
}

fn of_publisher(offered: &[KeyId], followed_by: &[KeyId], may_hand_on: Option<&KeyId>) -> String {
    let accept = "if the publisher announced another key, install with --accept-new-publisher";
    match (may_hand_on, followed_by) {
        (Some(key), _) => format!(
            "Ask the publisher for a rotation from {key} to {} and take it with `guild kernel trust rotate FILE`; {accept}",
            list(offered)
        ),
        (None, []) => format!("No rotation is possible any more: {accept}"),
        (None, keys) => format!(
            "Ask the publisher for a release that {} signed; {accept}",
            list(keys)
        ),
    }
}

fn of_scope(id: &PackageId, right: Right, is_taken: bool) -> String {
    if is_taken {
        return format!(
            "A scope is never changed, and {id} is one of them: ask for a signature by another key"
        );
    }
    let rights = match right {
        Right::Publish => String::new(),
        right @ Right::Countersign(_) => format!(" --right {right}"),
        right => format!(" --right publish --right {right}"),
    };
    format!(
        "If that is intended, `guild kernel trust add KEY.json --scope {id}{rights}`, with every other right that it shall have there: the longest scope decides alone"
    )
}

fn of_dependents(by: &[String], becomes_another: bool) -> String {
    let first = by.first().and_then(|needs| needs.split(' ').next());
    let first = first.unwrap_or("ID");
    match becomes_another {
        true => format!(
            "Install a version of {first} that goes with it, or `guild kernel disable {first}` first"
        ),
        false => format!("`guild kernel disable {first}` first"),
    }
}

fn io_next(source: &io::Error) -> &'static str {
    let is_link = source.raw_os_error() == Some(Errno::LOOP.raw_os_error());
    match source.kind() {
        _ if is_link => "It is a link; give the path of the file itself",
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory => {
            "Check the path"
        }
        io::ErrorKind::PermissionDenied => "Check owner and permissions",
        io::ErrorKind::ReadOnlyFilesystem => "Name a place that can be written",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "Free some space, then try again"
        }
        io::ErrorKind::AlreadyExists => "Choose another path; what is there stays",
        _ => "Nothing was committed; try again",
    }
}
