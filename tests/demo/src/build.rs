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

/// The folder that release builds put their binaries in.
pub fn binaries(root: &Path) -> Result<PathBuf, DemoError> {
    let mut command = Command::new(cargo());
    command
        .current_dir(root)
        .args(["metadata", "--no-deps", "--format-version", "1"]);
    let stdout = run(&mut command)?;
    let metadata: serde_json::Value = serde_json::from_slice(&stdout).unwrap_or_default();
    match metadata["target_directory"].as_str() {
        Some(target) => Ok(Path::new(target).join("release")),
        None => Err(DemoError::Command {
            command: format!("{command:?}"),
            status: "no target folder".to_owned(),
            output: String::new(),
        }),
    }
}

/// Builds the `guild` binary.
pub fn host(root: &Path) -> Result<(), DemoError> {
    cargo_build(root, "guild-cli")
}

/// Builds one plugin's library.
pub fn plugin(root: &Path, member: &str) -> Result<(), DemoError> {
    cargo_build(root, member)
}

fn cargo_build(root: &Path, member: &str) -> Result<(), DemoError> {
    let mut command = Command::new(cargo());
    command
        .current_dir(root)
        .args(["build", "--release", "--quiet", "--package", member]);
    run(&mut command).map(|_| ())
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
