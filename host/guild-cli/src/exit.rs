//! Exit codes: one enum, one table (`docs/cli.md`).

use std::process::ExitCode;

/// How a command ended. The number is the process's exit code, the name stands in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Success.
    Ok = 0,
    /// A fault in guild itself.
    Internal = 1,
    /// The command line.
    Usage = 2,
    /// A file's bytes.
    Damaged = 3,
    /// An architecture, tensor type or operation that nothing serves.
    Unsupported = 4,
    /// Memory, disk or device.
    Resource = 5,
    /// No signature.
    Unsigned = 10,
    /// A signature that doesn't match.
    SignatureInvalid = 11,
    /// No trusted key signed.
    KeyUntrusted = 12,
    /// The signing key is revoked.
    KeyRevoked = 13,
    /// The key may not sign this name.
    ScopeDenied = 14,
    /// The bundle's bytes aren't the one legal encoding.
    BundleMalformed = 15,
    /// Bytes don't have the digest that was signed.
    DigestMismatch = 16,
    /// Other bytes under a version that is taken.
    VersionImmutable = 17,
    /// An older version than the one installed.
    DowngradeRefused = 18,
    /// Past its date.
    Expired = 19,
    /// Another ABI, system or processor.
    Incompatible = 20,
    /// A package that another one needs.
    DependencyMissing = 21,
    /// The library's file broke a rule that is checked before it is mapped.
    PreflightRefused = 22,
    /// The trial run in a child process failed.
    ProbeFailed = 23,
    /// The environment changes what is loaded.
    AmbientTainted = 24,
    /// Verified bytes can't be mapped on this system.
    LoaderUnavailable = 25,
    /// A session uses the package.
    ActiveSessionBusy = 30,
    /// Another process writes the store.
    StoreLocked = 31,
    /// The store's own records don't fit together.
    StoreCorrupt = 32,
    /// No such package, package store or chat template, or a folder without a model.
    NotFound = 33,
    /// No version to go back to.
    RollbackUnavailable = 34,
    /// The file system.
    Io = 40,
    /// Ctrl-C.
    Interrupted = 130,
}

impl Exit {
    /// Every code with its stable name.
    pub const TABLE: &[(Exit, &'static str)] = &[
        (Exit::Ok, "OK"),
        (Exit::Internal, "INTERNAL"),
        (Exit::Usage, "USAGE"),
        (Exit::Damaged, "DAMAGED"),
        (Exit::Unsupported, "UNSUPPORTED"),
        (Exit::Resource, "RESOURCE"),
        (Exit::Unsigned, "UNSIGNED"),
        (Exit::SignatureInvalid, "SIGNATURE_INVALID"),
        (Exit::KeyUntrusted, "KEY_UNTRUSTED"),
        (Exit::KeyRevoked, "KEY_REVOKED"),
        (Exit::ScopeDenied, "SCOPE_DENIED"),
        (Exit::BundleMalformed, "BUNDLE_MALFORMED"),
        (Exit::DigestMismatch, "DIGEST_MISMATCH"),
        (Exit::VersionImmutable, "VERSION_IMMUTABLE"),
        (Exit::DowngradeRefused, "DOWNGRADE_REFUSED"),
        (Exit::Expired, "EXPIRED"),
        (Exit::Incompatible, "INCOMPATIBLE"),
        (Exit::DependencyMissing, "DEPENDENCY_MISSING"),
        (Exit::PreflightRefused, "PREFLIGHT_REFUSED"),
        (Exit::ProbeFailed, "PROBE_FAILED"),
        (Exit::AmbientTainted, "AMBIENT_TAINTED"),
        (Exit::LoaderUnavailable, "LOADER_UNAVAILABLE"),
        (Exit::ActiveSessionBusy, "ACTIVE_SESSION_BUSY"),
        (Exit::StoreLocked, "STORE_LOCKED"),
        (Exit::StoreCorrupt, "STORE_CORRUPT"),
        (Exit::NotFound, "NOT_FOUND"),
        (Exit::RollbackUnavailable, "ROLLBACK_UNAVAILABLE"),
        (Exit::Io, "IO"),
        (Exit::Interrupted, "INTERRUPTED"),
    ];

    /// The stable name.
    pub fn name(self) -> &'static str {
        Exit::TABLE
            .iter()
            .find(|(exit, _)| *exit == self)
            .map_or("INTERNAL", |(_, name)| name)
    }

    /// The code with this number; a number that isn't in the table is a fault in guild.
    pub fn from_number(number: u8) -> Exit {
        Exit::TABLE
            .iter()
            .find(|(exit, _)| *exit as u8 == number)
            .map_or(Exit::Internal, |(exit, _)| *exit)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `docs/cli.md` has one row a code, in the same order.
    #[test]
    fn the_documented_table_is_this_one() {
        let page = include_str!("../../../docs/cli.md");
        let rows: Vec<(u8, &str)> = page
            .lines()
            .filter_map(|line| {
                let mut cells = line.strip_prefix("| ")?.split(" | ");
                let number = cells.next()?.parse().ok()?;
                Some((number, cells.next()?))
            })
            .collect();
        let table: Vec<(u8, &str)> = Exit::TABLE
            .iter()
            .map(|(exit, name)| (*exit as u8, *name))
            .collect();
        assert_eq!(rows, table);
    }

    #[test]
    fn numbers_and_names_are_unique_and_lead_back() {
        for (index, (exit, name)) in Exit::TABLE.iter().enumerate() {
            assert_eq!(exit.name(), *name);
            assert_eq!(Exit::from_number(*exit as u8), *exit);
            let twins = Exit::TABLE
                .iter()
                .filter(|(_, other)| other == name)
                .count();
            assert_eq!(twins, 1, "entry {index}");
        }
    }
}
