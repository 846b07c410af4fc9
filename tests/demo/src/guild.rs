//! Runs the `guild` binary and reads its JSON.

use crate::build::run;
use crate::error::DemoError;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The binary with a data folder.
pub struct Guild {
    binary: PathBuf,
    data_dir: PathBuf,
}

impl Guild {
    /// Runs `binary` on the store in `data_dir`.
    pub fn new(binary: PathBuf, data_dir: PathBuf) -> Guild {
        Guild { binary, data_dir }
    }

    /// The same binary on another store.
    pub fn with_data_dir(&self, data_dir: PathBuf) -> Guild {
        Guild {
            binary: self.binary.clone(),
            data_dir,
        }
    }

    /// Runs a command with `--json` and returns its object.
    pub fn json(&self, args: &[&str]) -> Result<Value, DemoError> {
        let mut command = self.command(args);
        let stdout = run(&mut command)?;
        serde_json::from_slice(&stdout).map_err(|error| DemoError::Command {
            command: format!("{command:?}"),
            status: "no JSON object".to_owned(),
            output: error.to_string(),
        })
    }

    /// The command line with `--json`, ready to run.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        // What the machine has installed is no part of it.
        command
            .env("GUILD_NO_MACHINE_STORE", "1")
            .arg("--json")
            .arg("--data-dir")
            .arg(&self.data_dir)
            .args(args);
        command
    }

    /// The binary itself.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// The store's data folder.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }
}
