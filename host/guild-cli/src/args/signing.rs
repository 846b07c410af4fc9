//! Arguments of the commands that use a private seed.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

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
    /// Mark the key as a test identity; it needs no passphrase.
    #[arg(long)]
    pub test_identity: bool,
    /// File with a passphrase in its first line, to encrypt the seed under; asked for on the terminal where absent.
    #[arg(long, value_name = "FILE")]
    pub passphrase_file: Option<PathBuf>,
    /// Leave the seed plain: whoever reads the file signs as you.
    #[arg(long, conflicts_with = "passphrase_file")]
    pub no_passphrase: bool,
}

/// The seed that signs.
#[derive(Args, Debug)]
pub struct SeedArgs {
    /// Id of the key, or its first 12 digits or more behind `gk1-`.
    #[arg(long, value_name = "KEY")]
    pub key_id: String,
    /// Private seed.
    #[arg(long, value_name = "FILE")]
    pub seed_file: PathBuf,
    /// File with the seed's passphrase in its first line; asked for on the terminal where absent.
    #[arg(long, value_name = "FILE")]
    pub passphrase_file: Option<PathBuf>,
}

/// `guild kernel sign`.
#[derive(Args, Debug)]
pub struct SignArgs {
    /// Staging folder with a package.toml and the files it names.
    pub package_dir: PathBuf,
    /// Id of the key, or its first 12 digits or more behind `gk1-`.
    #[arg(long, value_name = "KEY", required_unless_present = "external")]
    pub key_id: Option<String>,
    /// Private seed.
    #[arg(long, value_name = "FILE", required_unless_present = "external")]
    pub seed_file: Option<PathBuf>,
    /// File with the seed's passphrase in its first line; asked for on the terminal where absent.
    #[arg(long, value_name = "FILE", requires = "seed_file")]
    pub passphrase_file: Option<PathBuf>,
    /// Bundle to write.
    #[arg(long, value_name = "FILE", required_unless_present = "external")]
    pub bundle: Option<PathBuf>,
    /// The bytes to sign where the key is elsewhere: written to this new file, or read with --signature.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["key_id", "seed_file"])]
    pub external: Option<PathBuf>,
    /// Ed25519 signature of those bytes that was made elsewhere: 64 bytes or their base64.
    #[arg(long, value_name = "FILE", requires_all = ["external", "public", "bundle"])]
    pub signature: Option<PathBuf>,
    /// Public key record of the key that made it.
    #[arg(long, value_name = "FILE", requires = "signature")]
    pub public: Option<PathBuf>,
}

/// `guild kernel countersign`.
#[derive(Args, Debug)]
pub struct CountersignArgs {
    /// Bundle that a trusted key has signed.
    pub bundle: PathBuf,
    /// As whom to sign.
    #[arg(long, value_enum)]
    pub role: CountersignRole,
    /// What to say about the release; a publisher says nothing.
    #[arg(long, value_name = "TEXT", required_if_eq_any = [("role", "reviewer"), ("role", "builder"), ("role", "site"), ("role", "mirror")])]
    pub statement: Option<String>,
    /// For how many days it counts; for ever where absent.
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u64).range(1..=36_500))]
    pub valid_days: Option<u64>,
    /// The seed.
    #[command(flatten)]
    pub seed: SeedArgs,
    /// Bundle to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// As whom somebody signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CountersignRole {
    /// One more publisher.
    Publisher,
    /// Somebody who looked at the source.
    Reviewer,
    /// Somebody who built the same bytes again.
    Builder,
    /// Whoever runs the machines.
    Site,
    /// Whoever passes the bundle on.
    Mirror,
}

/// `guild kernel rotate-key`.
#[derive(Args, Debug)]
pub struct RotateKeyArgs {
    /// The old key's seed.
    #[command(flatten)]
    pub seed: SeedArgs,
    /// Public key record of the new key.
    #[arg(long, value_name = "FILE")]
    pub new_public: PathBuf,
    /// Private seed of the new key.
    #[arg(long, value_name = "FILE")]
    pub new_seed_file: PathBuf,
    /// File with the new seed's passphrase in its first line; asked for on the terminal where absent.
    #[arg(long, value_name = "FILE")]
    pub new_passphrase_file: Option<PathBuf>,
    /// Scope of the old key that passes to the new one. May be repeated.
    #[arg(long, value_name = "PREFIX", required = true)]
    pub scope: Vec<String>,
    /// Let what the old key signed load no more, where it is installed already.
    #[arg(long)]
    pub leave_nothing: bool,
    /// Rotation to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// `guild kernel advisory`.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("line").required(true).multiple(true))]
pub struct AdvisoryArgs {
    /// The seed.
    #[command(flatten)]
    pub seed: SeedArgs,
    /// Key whose place another one took: the whole id, or the beginning of the signing key's. May be repeated.
    #[arg(long, value_name = "KEY", group = "line")]
    pub superseded: Vec<String>,
    /// Key that somebody else may hold. May be repeated.
    #[arg(long, value_name = "KEY", group = "line")]
    pub compromised: Vec<String>,
    /// Lowest security epoch of a package from now on. May be repeated.
    #[arg(long, value_name = "ID=EPOCH", group = "line")]
    pub floor: Vec<String>,
    /// Why, for people.
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// Advisory to write.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub out: PathBuf,
}

/// `guild kernel cosign`.
#[derive(Args, Debug)]
pub struct CosignArgs {
    /// Checkpoint that `guild kernel log --checkpoint` wrote.
    pub checkpoint: PathBuf,
    /// Public key record of a key that must have signed it.
    #[arg(long, value_name = "FILE")]
    pub public: PathBuf,
    /// The checkpoint of the same store that the same key cosigned before.
    #[arg(long, value_name = "FILE")]
    pub after: Option<PathBuf>,
    /// The seed.
    #[command(flatten)]
    pub seed: SeedArgs,
    /// Checkpoint to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}
