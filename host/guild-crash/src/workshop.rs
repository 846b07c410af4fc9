//! Keys and packages to try commands with. Both are the same in every run, so that a finding can be repeated; the keys
//! are no secret and are marked as test identities.

use std::fs;
use std::path::{Path, PathBuf};

use guild_package::advisory::{
    AdvisoryBody, FloorLine, WithdrawalLine, WithdrawnAs, write_advisory,
};
use guild_package::key::Algorithm;
use guild_package::rotation::{RotationBody, write_rotation};
use guild_package::seed::SecretSeed;
use guild_package::trust::{Grant, Right, RightLeft, Scope};
use guild_package::{InstallOptions, KeyRecord, SignOptions, VerifyOptions, sign_package};

use crate::error::{CrashError, Result};
use crate::library::library;
use crate::package_toml::PackageToml;

/// The id of the packages.
pub const PACKAGE: &str = "org.guild.crash";

/// When they are signed and judged, in seconds since 1970-01-01 UTC.
const NOW_S: u64 = 1_800_000_000;

/// The seed of the key that signs.
const SEED: [u8; 32] = [7; 32];

/// The seed of the other key.
const OTHER_SEED: [u8; 32] = [8; 32];

/// What a package has beside its library.
const TABLES: &str = r#"[[artifacts]]
path = "doc/same.txt"
role = "doc"

[[artifacts]]
path = "doc/own.txt"
role = "doc"

[[provides]]
op = "guild.core.moe_experts@1"
dtype = ["f32"]
layout = "row-major"
"#;

/// A folder with two keys, bundles of four versions, 1.0.0 to 1.0.3, and what the first key says of both.
#[derive(Debug)]
pub struct Workshop {
    folder: PathBuf,
    publisher: KeyRecord,
    other: KeyRecord,
}

impl Workshop {
    /// Fills the empty folder `folder`.
    ///
    /// # Errors
    /// As signing.
    pub fn new(folder: &Path) -> Result<Self> {
        let workshop = Self::at(folder)?;
        for (record, name) in [
            (&workshop.publisher, "publisher"),
            (&workshop.other, "other"),
        ] {
            let path = workshop.record_file(name);
            let json = serde_json::to_vec(record)?;
            fs::write(&path, json).map_err(CrashError::io(&path))?;
        }
        for version in ["1.0.0", "1.0.1", "1.0.2", "1.0.3"] {
            workshop.package(version)?;
        }
        workshop.statements()?;
        Ok(workshop)
    }

    /// The folder that [`Self::new`] filled.
    ///
    /// # Errors
    /// None that happens: keys that are built in are keys.
    pub fn at(folder: &Path) -> Result<Self> {
        Ok(Self {
            folder: folder.to_owned(),
            publisher: record("publisher", SEED)?,
            other: record("other", OTHER_SEED)?,
        })
    }

    /// The bundle of a version.
    #[must_use]
    pub fn bundle(&self, version: &str) -> PathBuf {
        self.folder.join(format!("{version}.gkernel"))
    }

    /// The public record of the key that signs.
    #[must_use]
    pub fn publisher(&self) -> &KeyRecord {
        &self.publisher
    }

    /// The public record of a key that signed nothing.
    #[must_use]
    pub fn other(&self) -> &KeyRecord {
        &self.other
    }

    /// The file with the record of the key that signs, or of the other one.
    #[must_use]
    pub fn record_file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }

    /// The file that says that the other key follows the one that signs.
    #[must_use]
    pub fn rotation_file(&self) -> PathBuf {
        self.folder.join("rotation.json")
    }

    /// The file in which the key that signs withdraws itself and raises the floor of the package.
    #[must_use]
    pub fn advisory_file(&self) -> PathBuf {
        self.folder.join("advisory.json")
    }

    fn statements(&self) -> Result<()> {
        let (seed, other_seed) = (
            SecretSeed::from_bytes(SEED),
            SecretSeed::from_bytes(OTHER_SEED),
        );
        let rotation = RotationBody {
            schema: 1,
            from: self.publisher.id,
            to: self.other.clone(),
            scopes: vec!["org.guild".parse()?],
            rights_left: vec![RightLeft::VerifyInstalled],
            issued_at: NOW_S,
        };
        write_rotation(&self.rotation_file(), &rotation, &seed, &other_seed)?;
        let advisory = AdvisoryBody {
            schema: 1,
            withdrawals: vec![WithdrawalLine {
                key: self.publisher.id,
                status: WithdrawnAs::Compromised,
                reason: "stolen".parse()?,
            }],
            floors: vec![FloorLine {
                id: PACKAGE.parse()?,
                security_epoch: 1,
                reason: "a hole".parse()?,
            }],
            issued_at: NOW_S,
        };
        write_advisory(&self.advisory_file(), &advisory, &[&seed])?;
        Ok(())
    }

    fn package(&self, version: &str) -> Result<()> {
        let staged = self.folder.join(version);
        let write = |name: &str, bytes: &[u8]| {
            let path = staged.join(name);
            fs::write(&path, bytes).map_err(CrashError::io(&path))
        };
        for folder in ["lib", "doc"] {
            let path = staged.join(folder);
            fs::create_dir_all(&path).map_err(CrashError::io(&path))?;
        }
        let toml = PackageToml {
            tables: TABLES,
            ..PackageToml::of(PACKAGE, version, "lib/libcrash.so")
        };
        write("package.toml", toml.text().as_bytes())?;
        let plugin = library(PACKAGE, version, "libcrash.so.1", &["libc.so.6"]);
        write("lib/libcrash.so", &plugin)?;
        write("doc/same.txt", b"the same in every version\n")?;
        write("doc/own.txt", format!("{version}\n").as_bytes())?;
        let options = SignOptions {
            issued_at: Some(NOW_S - 1000),
            ..SignOptions::default()
        };
        let key = self.publisher.id.to_string();
        let bundle = self.bundle(version);
        let seed = SecretSeed::from_bytes(SEED);
        sign_package(&staged, &key, &seed, &bundle, &options)?;
        Ok(())
    }
}

/// The public record of a key.
fn record(name: &str, seed: [u8; 32]) -> Result<KeyRecord> {
    let public = SecretSeed::from_bytes(seed).public_key()?;
    Ok(KeyRecord {
        schema: 1,
        id: public.id(),
        alg: Algorithm::Ed25519,
        public,
        label: name.parse()?,
        operator: "the crash check".parse()?,
        test_identity: true,
    })
}

/// A fixed time, nothing expected, nothing allowed.
pub(crate) fn install_options() -> InstallOptions {
    InstallOptions {
        verify: VerifyOptions {
            now_s: NOW_S,
            ..VerifyOptions::default()
        },
        ..InstallOptions::default()
    }
}

/// The right to publish below a prefix.
pub(crate) fn grant(prefix: &str) -> Result<Grant> {
    Ok(Grant {
        scopes: vec![Scope::publish(prefix.parse()?)?],
        everything_understood: false,
        not_before: None,
        not_after: None,
    })
}

/// All that the key which signs may do: publish below `org.guild`, and say what its statements say.
pub(crate) fn publisher_grant() -> Result<Grant> {
    let mut grant = grant("org.guild")?;
    for scope in &mut grant.scopes {
        scope.rights = vec![Right::Publish, Right::Epoch, Right::Rotate, Right::Revoke];
    }
    Ok(grant)
}
