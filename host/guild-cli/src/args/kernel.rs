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
}
