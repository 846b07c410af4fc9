//! What can be wrong with configuration.

use crate::exit::Exit;
use crate::failure::Failure;
use std::path::PathBuf;

/// A place in a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.line)
    }
}

/// Why configuration can't be used; always the fault of whoever wrote the file or set the variable.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file system refused.
    #[error("{}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// What was found isn't a file: a folder, a pipe, a device.
    #[error("{}: not a regular file; guild reads nothing else that it finds as configuration", .path.display())]
    NotAFile {
        /// Where it lies.
        path: PathBuf,
    },
    /// More bytes than any configuration needs.
    #[error("{}: the file has more than {limit_bytes} bytes", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Bytes that are read at most.
        limit_bytes: u64,
    },
    /// Not TOML, or not UTF-8.
    #[error("{place}: {message}")]
    Syntax {
        /// Where.
        place: Place,
        /// What the parser says.
        message: String,
    },
    /// A key or table that the command line has nothing for.
    #[error("{place}: guild has no setting {key}")]
    UnknownKey {
        /// Where.
        place: Place,
        /// The key with its table.
        key: String,
        /// A key that is there and looks alike.
        suggestion: Option<String>,
    },
    /// Two spellings of one key in one table.
    #[error("{place}: {key} is set twice")]
    Twice {
        /// Where, the second time.
        place: Place,
        /// The key with its table.
        key: String,
    },
    /// A value of the wrong type.
    #[error("{place}: {key} must be {expected}, and is a {found}")]
    WrongType {
        /// Where.
        place: Place,
        /// The key with its table.
        key: String,
        /// What it takes.
        expected: &'static str,
        /// What stands there.
        found: &'static str,
    },
    /// A value that the command line would refuse too.
    #[error("{place}: {key}: {message}")]
    Value {
        /// Where.
        place: Place,
        /// The key with its table.
        key: String,
        /// What clap says.
        message: String,
    },
    /// A variable's value that the command line would refuse.
    #[error("the variable {name} is {value:?}: {message}")]
    Variable {
        /// The variable.
        name: String,
        /// Its value.
        value: String,
        /// What is wrong with it.
        message: String,
    },
    /// A project's file sets what only the user may set.
    #[error("{place}: a project's file can't set {key}: {reason}")]
    Guarded {
        /// Where.
        place: Place,
        /// The key with its table.
        key: String,
        /// Why not.
        reason: &'static str,
        /// The variable that can set it.
        variable: String,
    },
}

impl From<&ConfigError> for Failure {
    fn from(error: &ConfigError) -> Failure {
        let (exit, hint) = match error {
            ConfigError::Read { .. } => (
                Exit::Io,
                "check the path and its permissions, or leave files out with --no-config"
                    .to_owned(),
            ),
            ConfigError::NotAFile { .. } => (
                Exit::Usage,
                "take it away, or leave files out with --no-config; a pipe can be named with --config"
                    .to_owned(),
            ),
            ConfigError::UnknownKey {
                suggestion: Some(suggestion),
                ..
            } => (Exit::Usage, format!("did you mean {suggestion}?")),
            ConfigError::UnknownKey { .. } => (
                Exit::Usage,
                "`guild config show` lists all settings".to_owned(),
            ),
            ConfigError::Guarded { variable, .. } => (
                Exit::Usage,
                format!("take it out; set it in your own file, with {variable}, or with the flag"),
            ),
            ConfigError::Variable { name, .. } => (
                Exit::Usage,
                format!("give it another value, or unset {name}"),
            ),
            _ => (
                Exit::Usage,
                "mend the file, or leave files out with --no-config".to_owned(),
            ),
        };
        Failure::new(exit, error.to_string()).hint(hint)
    }
}
