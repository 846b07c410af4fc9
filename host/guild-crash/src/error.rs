//! Why a check couldn't be made. What a check finds is a [`crate::Violation`].

use std::io;
use std::path::{Path, PathBuf};

/// Why a check couldn't be made.
#[derive(Debug, thiserror::Error)]
pub enum CrashError {
    /// The store or the signer refused something that the check needs.
    #[error(transparent)]
    Package(#[from] guild_package::Error),
    /// A name that is built in isn't one.
    #[error(transparent)]
    Name(#[from] guild_package::text::Invalid),
    /// A record can't be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A file of the check's own folder.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What a step of a check gives.
pub(crate) type Result<T> = std::result::Result<T, CrashError>;

impl CrashError {
    /// Wraps a failed operation; for `map_err`.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}
