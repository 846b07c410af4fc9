//! Arguments of the `guild kernel` commands.

use super::{
    AdvisoryArgs, CosignArgs, CountersignArgs, KeygenArgs, RotateKeyArgs, SignArgs, TrustCommand,
};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Commands on packages.
#[derive(Debug, Subcommand)]
pub enum KernelCommand {
    /// Make a signing key.
    Keygen(KeygenArgs),
    /// Sign a staging folder into a bundle.
    Sign(SignArgs),
    /// Add a signature to a bundle: a second publisher's, or what a reviewer says.
    Countersign(CountersignArgs),
    /// Sign that one key follows another.
    RotateKey(RotateKeyArgs),
    /// Sign that keys are withdrawn and floors rise, for others to take.
    Advisory(AdvisoryArgs),
    /// Add a signature to a checkpoint of another machine.
    Cosign(CosignArgs),
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
    /// Check that no crash damages a package store.
    Selftest(SelftestArgs),
    /// List or raise the lowest security epochs that are accepted.
    Floor(FloorArgs),
    /// Look over everything that packages depend on, and say how to mend it.
    Doctor,
    /// List what changed the store, newest first.
    Log(LogArgs),
    /// List what was refused, newest last.
    Audit(AuditArgs),
    /// List installed packages, or show all that is known of one.
    List(ListArgs),
    /// List active operations and runners with the package that provides each.
    Active,
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
    /// Check everything and try its code, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
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
#[command(group = clap::ArgGroup::new("signed").multiple(true).requires("checkpoint"))]
pub struct LogArgs {
    /// Check every generation against the digest by which its successor names it.
    #[arg(long)]
    pub verify: bool,
    /// As --verify, and check that the chain went through what this checkpoint says; a trusted key must have signed it,
    /// or that of --public.
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Public key record of a key that signed that checkpoint; nothing else is believed of it.
    #[arg(long, value_name = "FILE", requires = "against")]
    pub public: Option<PathBuf>,
    /// Write a signed note of the chain's length and last digest to this new file, and list nothing.
    #[arg(long, value_name = "FILE", conflicts_with = "count", requires_all = ["key_id", "seed_file"])]
    pub checkpoint: Option<PathBuf>,
    /// Whose chain it is, for people.
    #[arg(long, value_name = "TEXT", default_value = "guild")]
    pub origin: String,
    /// Id of the key that signs the note.
    #[arg(long, value_name = "KEY", group = "signed")]
    pub key_id: Option<String>,
    /// Its private seed.
    #[arg(long, value_name = "FILE", group = "signed")]
    pub seed_file: Option<PathBuf>,
    /// File with the seed's passphrase in its first line.
    #[arg(long, value_name = "FILE", group = "signed")]
    pub passphrase_file: Option<PathBuf>,
    /// Entries at most.
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub count: Option<usize>,
}

/// `guild kernel audit`.
#[derive(Args, Debug)]
pub struct AuditArgs {
    /// Name whatever in the log is damaged or doesn't fit together.
    #[arg(long)]
    pub verify: bool,
    /// Newest entries at most.
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub count: Option<usize>,
}

/// `guild kernel list`.
#[derive(Args, Debug)]
pub struct ListArgs {
    /// Package id; all packages, one line a version, where absent.
    #[arg(value_name = "ID")]
    pub id: Option<String>,
}

/// `guild kernel outdated`.
#[derive(Args, Debug)]
pub struct OutdatedArgs {
    /// Folder with bundles.
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

/// `guild kernel selftest`.
#[derive(Args, Debug)]
pub struct SelftestArgs {
    /// Make what a power loss may leave of every command and check it, in memory; and kill real commands.
    #[arg(long, required = true)]
    pub crash: bool,
    /// How often each real command is killed, at a random moment, on a store in the folder for temporary files.
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    pub kills: u64,
    /// Make all images of a command up to so many, and of more a sample. The images that lack one thing or have one are
    /// always made.
    #[arg(long, value_name = "COUNT", default_value_t = 250_000)]
    pub images: u64,
    /// For what is drawn by chance.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
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
    /// Say what would change, and change nothing.
    #[arg(long, requires = "epoch")]
    pub dry_run: bool,
    /// Confirms an epoch that is more than 1,000 above the floor in force.
    #[arg(long, requires = "epoch")]
    pub i_understand: bool,
}
