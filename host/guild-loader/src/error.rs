//! Why a package could not be loaded, as data. Each message says whose fault it is and what happened, to the publisher
//! also what to do, [`LoadError::next_step`] what its user can do; each fault has one stable code, which is also the exit
//! code of the command line.

use std::fmt;
use std::io;

use guild_abi::abi::{
    GUILD_STATUS_ERR_ABI, GUILD_STATUS_ERR_DEVICE_LOST, GUILD_STATUS_ERR_NOMEM_DEVICE,
    GUILD_STATUS_ERR_NOMEM_HOST, GUILD_STATUS_ERR_UNSUPPORTED, guild_status,
};
use guild_package::Digest;
use guild_package::audit::Refused;

use crate::ambient::AmbientFinding;

/// A package that failed to load, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}{fault}", package_prefix(.package))]
pub struct LoadError {
    /// The package as `id@version`, or empty where the store itself failed.
    pub package: String,
    /// What happened.
    pub fault: Box<Fault>,
}

impl LoadError {
    /// The stable name and exit code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.fault.code()
    }

    /// What the audit log says of it, if it is a refusal.
    #[must_use]
    pub fn refused(&self) -> Option<Refused> {
        // A built-in package has no version, and names nothing.
        let package = self.package.parse().ok();
        Some(self.fault.refused()?.about(package))
    }

    /// What happened, and what to do next.
    #[must_use]
    pub fn in_full(&self) -> String {
        format!("{self}. {}", self.next_step())
    }

    /// What to do next. Never empty.
    #[must_use]
    pub fn next_step(&self) -> String {
        let mend = self.fault.mend();
        match self.package.split_once('@') {
            // The program's own packages, and the store, are nothing that could be disabled.
            None => mend,
            Some((id, _)) => {
                format!(
                    "{mend}; until then `guild kernel disable {id}` goes on without it, and --no-machine-store without one of the machine's"
                )
            }
        }
    }
}

/// A stable code: its name and the exit code of a command that ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Code {
    /// Such as `INCOMPATIBLE`.
    pub name: &'static str,
    /// Such as 20.
    pub exit: u8,
}

impl Code {
    /// Memory or descriptors are exhausted.
    pub const RESOURCE: Self = Self::new("RESOURCE", 5);
    /// The package does not fit this host or machine.
    pub const INCOMPATIBLE: Self = Self::new("INCOMPATIBLE", 20);
    /// The library breaks a rule of the contract.
    pub const PREFLIGHT_REFUSED: Self = Self::new("PREFLIGHT_REFUSED", 22);
    /// The surroundings of this process can bring other code into it, and a policy forbids that.
    pub const AMBIENT_TAINTED: Self = Self::new("AMBIENT_TAINTED", 24);
    /// This system does not let the host load a verified library.
    pub const LOADER_UNAVAILABLE: Self = Self::new("LOADER_UNAVAILABLE", 25);

    const fn new(name: &'static str, exit: u8) -> Self {
        Self { name, exit }
    }
}

/// A point of loading at which a plugin runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Constructors, while the library is mapped.
    Constructors,
    /// `guild_plugin_entry_v1`.
    Entry,
    /// `init`.
    Init,
    /// `describe` of an operation.
    Describe,
    /// `info` of a runner.
    RunnerInfo,
    /// `get_extension`.
    GetExtension,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Constructors => "its constructors",
            Self::Entry => "guild_plugin_entry_v1",
            Self::Init => "init",
            Self::Describe => "describe",
            Self::RunnerInfo => "the runner's info",
            Self::GetExtension => "get_extension",
        })
    }
}

/// What went wrong with one package.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The store, the signature, the digest or the manifest; see the error's own code.
    #[error(transparent)]
    Package(#[from] guild_package::Error),
    /// The host has no memory for a copy of a table.
    #[error("no memory for {bytes} bytes: {source}")]
    Memory {
        /// Size of the table.
        bytes: u64,
        /// The system's reason.
        source: io::Error,
    },
    /// The system forbids a step of loading from memory.
    #[error(
        "this system does not let the host {step}: {reason}. A package is only loaded from a sealed memory file, so there is no other way"
    )]
    LoaderUnavailable {
        /// The step, as a verb.
        step: &'static str,
        /// The system's reason.
        reason: String,
        /// What to do.
        next: &'static str,
    },
    /// The system loader refused the bytes.
    #[error(
        "the publisher's library cannot be loaded: {reason}. Build it as a shared library that needs nothing but libc, libm, libgcc_s and libstdc++"
    )]
    LibraryRefused {
        /// The system loader's words.
        reason: String,
    },
    /// The trust policy wants no load in surroundings like these.
    #[error(
        "{} is `{}`, which {}{}, and the trust policy of this package is strict about that", .first.source, .first.value, .first.effect, and_more(*.more)
    )]
    AmbientTainted {
        /// The first finding.
        first: AmbientFinding,
        /// How many more there are.
        more: usize,
    },
    /// There is no way in.
    #[error(
        "the publisher's library does not export `{symbol}`. Build it with the SDK's export macro, or in C give the function external linkage and default visibility"
    )]
    EntryMissing {
        /// The symbol.
        symbol: &'static str,
    },
    /// The system loader answered with another library.
    #[error(
        "the entry symbol lies in {found}, not in the verified bytes ({expected}). The host will not run it; restart the process, and report this if it happens again"
    )]
    OtherLibraryMapped {
        /// Device and inode of the sealed memory file.
        expected: String,
        /// The mapping that holds the symbol.
        found: String,
    },
    /// The plugin changed how this thread computes.
    #[error(
        "{stage} changed the floating-point control register from {before:#x} to {after:#x}, which would change results. The publisher must build without -ffast-math and -Ofast, also when linking"
    )]
    FloatingPointControl {
        /// What ran.
        stage: Stage,
        /// Control bits before.
        before: u64,
        /// Control bits after.
        after: u64,
    },
    /// No common version of the ABI.
    #[error(
        "host and plugin share no version of ABI 1: the host speaks minor {host_floor} to {host_minor}, the plugin was built with minor {plugin_built} and needs at least {plugin_min}. Upgrade {}", upgrade(*.plugin_min, *.host_minor)
    )]
    AbiVersion {
        /// Newest minor version of the host.
        host_minor: u32,
        /// Oldest minor version that the host accepts.
        host_floor: u32,
        /// Minor version that the plugin was built with.
        plugin_built: u32,
        /// Oldest minor version that the plugin can live with.
        plugin_min: u32,
    },
    /// A flag that this host must understand and does not.
    #[error(
        "{record} has flags {flags:#06x}, of which this host must understand the high byte and does not. Upgrade guild"
    )]
    UnknownFlag {
        /// Which struct.
        record: &'static str,
        /// Its flags.
        flags: u16,
    },
    /// A struct that is not what it should be.
    #[error("the plugin's {record} breaks the contract: {detail}. The publisher must correct it")]
    Malformed {
        /// Which struct.
        record: &'static str,
        /// The rule that was broken.
        detail: String,
    },
    /// The library is not the package that the manifest describes.
    #[error(
        "the plugin says that its {field} is `{plugin}`, the signed manifest says `{manifest}`. The publisher must build and sign the same release"
    )]
    IdentityMismatch {
        /// `id` or `version`.
        field: &'static str,
        /// The manifest's value.
        manifest: String,
        /// The plugin's value.
        plugin: String,
    },
    /// The plugin itself said no.
    #[error("{stage} of the plugin failed with status {status}: {text}")]
    PluginFailed {
        /// The function.
        stage: Stage,
        /// The status.
        status: guild_status,
        /// The plugin's own words, safe to print.
        text: String,
    },
    /// An operation in the reserved name space that this host lacks.
    #[error(
        "the plugin offers `{operation}`, which this host does not know; names below `guild.` belong to the host. Upgrade guild, or the publisher uses a name of its own"
    )]
    UnknownCoreOperation {
        /// Name with version.
        operation: String,
    },
    /// More than the signature covers.
    #[error(
        "the plugin offers `{name}`, which the signed manifest does not list. The publisher must list it in package.toml and sign again"
    )]
    NotInManifest {
        /// Operation with version, or runner id.
        name: String,
    },
    /// Another idea of what the operation computes.
    #[error(
        "`{implementation}` was built against another contract of `{operation}`: it has hash {found}, expected is {expected}. Rebuild the plugin against this host's SDK"
    )]
    ContractMismatch {
        /// Name with version.
        operation: String,
        /// The implementation.
        implementation: String,
        /// The hash that the host or an earlier provider has.
        expected: Digest,
        /// The plugin's hash.
        found: Digest,
    },
    /// A golden vector that the package can't live up to.
    #[error(
        "`{implementation}` does not compute {operation} as it was signed: vector \"{vector}\", {why}. The publisher must build, measure and sign the same release"
    )]
    NotReproduced {
        /// The implementation.
        implementation: String,
        /// Operation with version.
        operation: String,
        /// Name of the vector.
        vector: String,
        /// The first wrong number, or what else went wrong.
        why: String,
    },
    /// A file of golden vectors that isn't one.
    #[error(
        "the golden vectors {path} can't be read: {detail}. The publisher must write them with the conformance kit and sign again"
    )]
    GoldenUnreadable {
        /// The artifact.
        path: String,
        /// The rule that was broken.
        detail: String,
    },
    /// The same thing twice.
    #[error(
        "{what} `{name}` is registered twice, now by {package} and before by {earlier}. Use a store (--data-dir) with only one of the two packages; within one package, the publisher must rename one"
    )]
    Duplicate {
        /// `implementation` or `runner`.
        what: &'static str,
        /// Its id.
        name: String,
        /// The package that comes second.
        package: String,
        /// The package that came first.
        earlier: String,
    },
}

impl Fault {
    /// The stable name and exit code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Package(error) => Code::new(error.code().name(), error.code().exit_code()),
            Self::Memory { .. } => Code::RESOURCE,
            Self::AmbientTainted { .. } => Code::AMBIENT_TAINTED,
            Self::LoaderUnavailable { .. } | Self::OtherLibraryMapped { .. } => {
                Code::LOADER_UNAVAILABLE
            }
            Self::AbiVersion { .. }
            | Self::UnknownFlag { .. }
            | Self::UnknownCoreOperation { .. }
            | Self::ContractMismatch { .. } => Code::INCOMPATIBLE,
            Self::PluginFailed { status, .. } => match *status {
                GUILD_STATUS_ERR_ABI
                | GUILD_STATUS_ERR_UNSUPPORTED
                | GUILD_STATUS_ERR_DEVICE_LOST => Code::INCOMPATIBLE,
                GUILD_STATUS_ERR_NOMEM_HOST | GUILD_STATUS_ERR_NOMEM_DEVICE => Code::RESOURCE,
                _ => Code::PREFLIGHT_REFUSED,
            },
            Self::LibraryRefused { .. }
            | Self::EntryMissing { .. }
            | Self::FloatingPointControl { .. }
            | Self::Malformed { .. }
            | Self::IdentityMismatch { .. }
            | Self::NotInManifest { .. }
            | Self::NotReproduced { .. }
            | Self::GoldenUnreadable { .. }
            | Self::Duplicate { .. } => Code::PREFLIGHT_REFUSED,
        }
    }

    /// What the audit log says of this fault; `None` where it is no sign of distrust or of an attack: no memory, a system
    /// that forbids a step, another ABI, a plugin that says no itself.
    #[must_use]
    pub fn refused(&self) -> Option<Refused> {
        match self {
            Self::Package(error) => error.refused(),
            Self::LibraryRefused { .. }
            | Self::AmbientTainted { .. }
            | Self::EntryMissing { .. }
            | Self::OtherLibraryMapped { .. }
            | Self::FloatingPointControl { .. }
            | Self::Malformed { .. }
            | Self::IdentityMismatch { .. }
            | Self::NotInManifest { .. }
            | Self::NotReproduced { .. }
            | Self::GoldenUnreadable { .. } => Some(Refused::new(self.code().name)),
            Self::Memory { .. }
            | Self::LoaderUnavailable { .. }
            | Self::AbiVersion { .. }
            | Self::UnknownFlag { .. }
            | Self::PluginFailed { .. }
            | Self::UnknownCoreOperation { .. }
            | Self::ContractMismatch { .. }
            | Self::Duplicate { .. } => None,
        }
    }

    /// What the user of a package can do about it.
    fn mend(&self) -> String {
        match self {
            Self::Package(error) => error.next_step(),
            Self::Memory { .. } => "Free some memory, then try again".to_owned(),
            Self::LoaderUnavailable { next, .. } => first_upper(next),
            Self::AmbientTainted { first, .. } => format!(
                "Start guild without {}, or `guild kernel trust policy PREFIX --strict-ambient no`",
                first.source
            ),
            Self::UnknownFlag { .. } | Self::UnknownCoreOperation { .. } => {
                "Upgrade guild, or ask the publisher for a release for this one".to_owned()
            }
            Self::AbiVersion {
                plugin_min,
                host_minor,
                ..
            } => format!("Upgrade {}", upgrade(*plugin_min, *host_minor)),
            Self::OtherLibraryMapped { .. } => {
                "Start the process again; report this if it happens again".to_owned()
            }
            Self::Duplicate { .. } => "Enable one of the two packages alone".to_owned(),
            _ => "Ask the publisher for another release".to_owned(),
        }
    }

    /// For where nothing but text gets through: what to do stands behind it, where the message doesn't say it.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Package(_)
            | Self::Memory { .. }
            | Self::LoaderUnavailable { .. }
            | Self::AmbientTainted { .. } => format!("{self}. {}", self.mend()),
            _ => self.to_string(),
        }
    }

    pub(crate) fn of(self, package: impl Into<String>) -> LoadError {
        LoadError {
            package: package.into(),
            fault: Box::new(self),
        }
    }

    pub(crate) fn malformed(record: &'static str, detail: impl Into<String>) -> Self {
        Self::Malformed {
            record,
            detail: detail.into(),
        }
    }
}

fn package_prefix(package: &str) -> String {
    if package.is_empty() {
        return String::new();
    }
    format!("cannot load {package}: ")
}

/// A sentence from its words.
fn first_upper(words: &str) -> String {
    let mut characters = words.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

fn and_more(count: usize) -> String {
    match count {
        0 => String::new(),
        _ => format!(" (and {count} more, see `guild doctor`)"),
    }
}

fn upgrade(plugin_min: u32, host_minor: u32) -> &'static str {
    if plugin_min > host_minor {
        "guild"
    } else {
        "the package"
    }
}
