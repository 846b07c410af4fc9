//! What can stop the demo.

use std::path::{Path, PathBuf};

/// A failed step.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// Started without Cargo.
    #[error("start it with `cargo demo`: {variable} isn't set")]
    NotCargo {
        /// The variable that Cargo sets.
        variable: &'static str,
    },
    /// The file system.
    #[error("could not {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A program ended with a failure.
    #[error("`{command}` failed ({status}): {output}")]
    Command {
        /// The command line.
        command: String,
        /// Its exit status.
        status: String,
        /// What it printed.
        output: String,
    },
    /// A package.toml that can't be read.
    #[error("{}: {detail}", path.display())]
    PackageToml {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// The two runs don't agree.
    #[error("{what} differ: installed packages gave {external}, built-in ones {builtin}")]
    Differs {
        /// What was compared.
        what: &'static str,
        /// From the installed packages.
        external: String,
        /// From the built-in ones.
        builtin: String,
    },
    /// Something that had to stay or to change didn't.
    #[error("{what}: {found}, expected {expected}")]
    Changed {
        /// What was looked at.
        what: &'static str,
        /// What it is.
        found: String,
        /// What it should be.
        expected: String,
    },
}

impl DemoError {
    /// Wraps a file system error.
    pub fn io<'a>(
        action: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(std::io::Error) -> DemoError + use<'a> {
        move |source| DemoError::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }
}
