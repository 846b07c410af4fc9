//! Arguments of the `guild kernel` commands.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Commands on packages.
#[derive(Debug, Subcommand)]
pub enum KernelCommand {
    /// Make a signing key.
    Keygen(KeygenArgs),
    /// Sign a staging folder into a bundle.
    Sign(SignArgs),
    /// Check a bundle against the trusted keys.
    Verify(VerifyArgs),
    /// Manage trusted keys.
    #[command(subcommand)]
    Trust(TrustCommand),
    /// Install a bundle and make it active.
    Install(InstallArgs),
    /// Make an installed version the one that is loaded.
    Enable(EnableArgs),
    /// Load no version of a package any more.
    Disable(DisableArgs),
    /// Go back to the version that was enabled before.
    Rollback(RollbackArgs),
    /// Remove installed versions.
    Remove(InstalledArgs),
    /// Show why an installed version was accepted.
    Receipt(InstalledArgs),
    /// Delete files that no installed version needs.
    Gc,
    /// List the bundles of a folder that are newer than what is installed.
    Outdated(OutdatedArgs),
    /// Read the whole store and name what is damaged.
    Fsck,
    /// List or raise the lowest security epochs that are accepted.
    Floor(FloorArgs),
    /// List what changed the store, newest first.
    Log(LogArgs),
    /// List installed packages.
    List,
    /// List active operations and runners with the package that provides each.
    Active,
}

/// Commands on trusted keys.
#[derive(Debug, Subcommand)]
pub enum TrustCommand {
    /// Trust a public key for a part of the name space.
    Add(TrustAddArgs),
    /// List trusted keys.
    List,
    /// Show one trusted key, for comparing.
    Show(TrustShowArgs),
    /// Withdraw a trusted key, for ever.
    Revoke(TrustRevokeArgs),
}

/// `guild kernel keygen`.
#[derive(Args, Debug)]
pub struct KeygenArgs {
    /// Private seed to create; it must not exist.
    #[arg(long, value_name = "FILE")]
    pub seed_file: PathBuf,
    /// Public key record to create.
    #[arg(long, value_name = "FILE")]
    pub public: PathBuf,
    /// Name for people.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub label: String,
    /// Who holds the key; the label where absent.
    #[arg(long, value_name = "TEXT")]
    pub operator: Option<String>,
    /// Mark the key as a test identity.
    #[arg(long)]
    pub test_identity: bool,
}

/// `guild kernel sign`.
#[derive(Args, Debug)]
pub struct SignArgs {
    /// Staging folder with a package.toml and the files it names.
    pub package_dir: PathBuf,
    /// Id of the key, or its first 12 digits or more behind `gk1-`.
    #[arg(long, value_name = "KEY")]
    pub key_id: String,
    /// Private seed.
    #[arg(long, value_name = "FILE")]
    pub seed_file: PathBuf,
    /// Bundle to write.
    #[arg(long, value_name = "FILE")]
    pub bundle: PathBuf,
}

/// `guild kernel verify`.
#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// Bundle to check.
    pub bundle: PathBuf,
    /// Package id that it must be.
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
}

/// `guild kernel trust add`.
#[derive(Args, Debug)]
pub struct TrustAddArgs {
    /// Public key record.
    pub public: PathBuf,
    /// Package ids that the key may sign: a prefix of whole segments, or `*`. May be repeated.
    #[arg(long, value_name = "PREFIX", required = true)]
    pub scope: Vec<String>,
    /// Confirms a scope of `*`.
    #[arg(long)]
    pub i_understand: bool,
}

/// `guild kernel install`.
#[derive(Args, Debug)]
pub struct InstallArgs {
    /// Bundle to install.
    pub bundle: PathBuf,
    /// Package id that it must be.
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// Accept a version older than the newest installed one.
    #[arg(long)]
    pub allow_downgrade: bool,
    /// Accept other publishers than those of the first install.
    #[arg(long)]
    pub accept_new_publisher: bool,
    /// How its code is tried.
    #[command(flatten)]
    pub probe: ProbeArgs,
}

/// How a package's code is tried before it becomes active.
#[derive(Args, Clone, Copy, Debug)]
pub struct ProbeArgs {
    /// Refuse where this system can't shut the trial run in (Landlock and seccomp).
    #[arg(long)]
    pub require_sandbox: bool,
}

/// `guild kernel enable`.
#[derive(Args, Debug)]
pub struct EnableArgs {
    /// Package, or one version of it: ID or ID@VERSION.
    #[arg(value_name = "PACKAGE")]
    pub package: String,
    /// How its code is tried.
    #[command(flatten)]
    pub probe: ProbeArgs,
}

/// `guild kernel remove` and `guild kernel receipt`.
#[derive(Args, Debug)]
pub struct InstalledArgs {
    /// Package, or one version of it: ID or ID@VERSION.
    #[arg(value_name = "PACKAGE")]
    pub package: String,
}

/// `guild kernel disable`.
#[derive(Args, Debug)]
pub struct DisableArgs {
    /// Package id.
    #[arg(value_name = "ID")]
    pub id: String,
    /// Disable it at once and wait so long for sessions that use it.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(..=31_536_000))]
    pub drain: Option<u64>,
}

/// `guild kernel rollback`.
#[derive(Args, Debug)]
pub struct RollbackArgs {
    /// Package id; the package whose selection changed last where absent.
    #[arg(value_name = "ID")]
    pub id: Option<String>,
    /// Go back to what this generation had enabled.
    #[arg(long, value_name = "GEN")]
    pub to: Option<u64>,
    /// Let installs enable no version up to the one that is left.
    #[arg(long)]
    pub pin: bool,
    /// List the versions and whether each could be enabled now, and change nothing.
    #[arg(long, conflicts_with_all = ["to", "pin", "require_sandbox"])]
    pub list: bool,
    /// How its code is tried.
    #[command(flatten)]
    pub probe: ProbeArgs,
}

/// `guild kernel log`.
#[derive(Args, Debug)]
pub struct LogArgs {
    /// Check every generation against the digest by which its successor names it.
    #[arg(long)]
    pub verify: bool,
    /// Entries at most.
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub count: Option<usize>,
}

/// `guild kernel outdated`.
#[derive(Args, Debug)]
pub struct OutdatedArgs {
    /// Folder with bundles.
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

/// `guild kernel floor`.
#[derive(Args, Debug)]
pub struct FloorArgs {
    /// Package id; all packages where absent.
    #[arg(value_name = "ID")]
    pub id: Option<String>,
    /// Lowest security epoch from now on; it never falls.
    #[arg(value_name = "EPOCH", requires = "id", value_parser = clap::value_parser!(u64).range(..=guild_package::limits::JSON_MAX_INTEGER))]
    pub epoch: Option<u64>,
}

/// `guild kernel trust show`.
#[derive(Args, Debug)]
pub struct TrustShowArgs {
    /// Id of the key, or its first 12 digits or more behind `gk1-`.
    #[arg(value_name = "KEY")]
    pub key: String,
}

/// `guild kernel trust revoke`.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("withdrawal").required(true))]
pub struct TrustRevokeArgs {
    /// Id of the key, or its first 12 digits or more behind `gk1-`.
    #[arg(value_name = "KEY")]
    pub key: String,
    /// Another key took its place: what is installed stays usable.
    #[arg(long, group = "withdrawal")]
    pub superseded: bool,
    /// Somebody else may hold it: what it signed is refused at the next load too.
    #[arg(long, group = "withdrawal")]
    pub compromised: bool,
    /// Believe what was installed up to this generation all the same.
    #[arg(long, value_name = "GEN", requires = "compromised")]
    pub since_gen: Option<u64>,
    /// Why, for people.
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Say what would no longer load, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
}
