//! Arguments of the `guild kernel trust` commands.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Commands on trusted keys.
#[derive(Debug, Subcommand)]
pub enum TrustCommand {
    /// Trust a public key for a part of the name space.
    Add(TrustAddArgs),
    /// List trusted keys.
    List,
    /// Show one trusted key, for comparing.
    Show(TrustShowArgs),
    /// Put a new key in an old one's place, as both signed.
    Rotate(TrustRotateArgs),
    /// Say what packages below a prefix need beyond one good signature.
    Policy(TrustPolicyArgs),
    /// Withdraw a trusted key, for ever.
    Revoke(TrustRevokeArgs),
    /// Withdraw keys and raise floors, as a trusted key has signed.
    Advisory(TrustAdvisoryArgs),
}

/// `guild kernel trust add`.
#[derive(Args, Debug)]
pub struct TrustAddArgs {
    /// Public key record.
    pub public: PathBuf,
    /// Package ids that the key may sign: a prefix of whole segments, or `*`. May be repeated.
    #[arg(long, value_name = "PREFIX", required = true)]
    pub scope: Vec<String>,
    /// What the key may do there: publish, countersign:ROLE, epoch, rotate or revoke. May be repeated.
    #[arg(long, value_name = "RIGHT", default_value = "publish")]
    pub right: Vec<String>,
    /// For how many days from now on the key is good; for ever where absent.
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u64).range(1..=36_500))]
    pub valid_days: Option<u64>,
    /// Confirms a scope of `*`.
    #[arg(long)]
    pub i_understand: bool,
}

/// `guild kernel trust show`.
#[derive(Args, Debug)]
pub struct TrustShowArgs {
    /// Id of the key, or its first 12 digits or more behind `gk1-`.
    #[arg(value_name = "KEY")]
    pub key: String,
}

/// `guild kernel trust rotate`.
#[derive(Args, Debug)]
pub struct TrustRotateArgs {
    /// Rotation that `guild kernel rotate-key` wrote.
    pub rotation: PathBuf,
    /// Say what would change and what would no longer load, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
}

/// `guild kernel trust policy`.
#[derive(Args, Debug)]
pub struct TrustPolicyArgs {
    /// Package ids: a prefix of whole segments, or `*`. The longest one that matches decides.
    #[arg(value_name = "PREFIX")]
    pub prefix: String,
    /// Publishers that must have signed; what isn't given stays, and was 1 at first.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=32))]
    pub publishers: Option<u64>,
    /// Reviewers that must have countersigned; none at first.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(..=32))]
    pub reviewers: Option<u64>,
    /// Whether the keys of one operator count once: yes or no.
    #[arg(long, value_name = "yes/no", num_args = 0..=1, default_missing_value = "yes", hide_possible_values = true, value_parser = clap::builder::BoolishValueParser::new())]
    pub distinct_operators: Option<bool>,
    /// Whether a load is refused where the environment could put other code beside a package: yes or no.
    #[arg(long, value_name = "yes/no", num_args = 0..=1, default_missing_value = "yes", hide_possible_values = true, value_parser = clap::builder::BoolishValueParser::new())]
    pub strict_ambient: Option<bool>,
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
    #[arg(
        long,
        value_name = "GEN",
        requires = "compromised",
        conflicts_with = "superseded"
    )]
    pub since_gen: Option<u64>,
    /// Why, for people.
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Say what would no longer load, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
}

/// `guild kernel trust advisory`.
#[derive(Args, Debug)]
pub struct TrustAdvisoryArgs {
    /// Advisory that `guild kernel advisory` wrote.
    pub advisory: PathBuf,
    /// Believe what its compromised keys signed where it was installed up to this generation all the same; without it
    /// nothing, and of keys that are compromised already as much as before.
    #[arg(long, value_name = "GEN")]
    pub since_gen: Option<u64>,
    /// Say what would change and what would no longer load, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
}
