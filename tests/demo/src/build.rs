//! Builds the host and the plugins with Cargo, each in a build of its own.

use crate::error::DemoError;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The project's root folder.
pub fn project_root() -> Result<PathBuf, DemoError> {
    let variable = "CARGO_MANIFEST_DIR";
    let member = std::env::var_os(variable).ok_or(DemoError::NotCargo { variable })?;
    Ok(PathBuf::from(member).join("../.."))
}

/// How the host and the plugins are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Profile {
    /// For use.
    Release,
    /// As `cargo test` compiles, so that a test run compiles nothing twice.
    Dev,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Profile::Release => "release",
            Profile::Dev => "dev",
        }
    }

    fn folder(self) -> &'static str {
        match self {
            Profile::Release => "release",
            Profile::Dev => "debug",
        }
    }
}

/// The folder that builds of this profile put their binaries in.
pub fn binaries(root: &Path, profile: Profile) -> Result<PathBuf, DemoError> {
    let mut command = Command::new(cargo());
    command
        .current_dir(root)
        .args(["metadata", "--no-deps", "--format-version", "1"]);
    let stdout = run(&mut command)?;
    let metadata: serde_json::Value = serde_json::from_slice(&stdout).unwrap_or_default();
    match metadata["target_directory"].as_str() {
        Some(target) => Ok(Path::new(target).join(profile.folder())),
        None => Err(DemoError::Command {
            command: format!("{command:?}"),
            status: "no target folder".to_owned(),
            output: String::new(),
        }),
    }
}

/// Builds the `guild` binary.
pub fn host(root: &Path, profile: Profile) -> Result<(), DemoError> {
    match profile {
        Profile::Release => cargo_build(root, profile, &["--package", "guild-cli"]),
        // With a test among what is built, dependencies have the features that `cargo test --workspace` gives them.
        Profile::Dev => cargo_build(
            root,
            profile,
            &["--workspace", "--bin", "guild", "--test", "transcript"],
        ),
    }
}

/// Builds one plugin's library.
pub fn plugin(root: &Path, member: &str, profile: Profile) -> Result<(), DemoError> {
    cargo_build(root, profile, &["--package", member])
}

/// Builds the CPU plugin's library as another version of its package.
pub fn cpu_version(
    root: &Path,
    member: &str,
    version: &str,
    profile: Profile,
) -> Result<(), DemoError> {
    let mut command = cargo_command(root, profile, &["--package", member]);
    run(command.env("GUILD_CPU_VERSION", version)).map(|_| ())
}

fn cargo_build(root: &Path, profile: Profile, what: &[&str]) -> Result<(), DemoError> {
    run(&mut cargo_command(root, profile, what)).map(|_| ())
}

fn cargo_command(root: &Path, profile: Profile, what: &[&str]) -> Command {
    let mut command = Command::new(cargo());
    command
        .current_dir(root)
        .env_remove("GUILD_CPU_VERSION")
        .args(["build", "--quiet", "--profile", profile.name()])
        .args(what);
    command
}

fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Runs a command to its end and returns its standard output.
pub fn run(command: &mut Command) -> Result<Vec<u8>, DemoError> {
    let line = format!("{command:?}");
    let output = command
        .output()
        .map_err(DemoError::io("start", Path::new(&line)))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let printed = [output.stdout, output.stderr].concat();
    Err(DemoError::Command {
        command: line,
        status: output.status.to_string(),
        output: String::from_utf8_lossy(&printed).into_owned(),
    })
}
