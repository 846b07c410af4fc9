//! Signatures that were there and didn't count, for the error that says there are too few.

use std::fmt;

use crate::key::KeyId;
use crate::trust::KeyStatus;

/// A signature that didn't count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncounted {
    /// The key that it names.
    pub key: KeyId,
    /// Why.
    pub why: NotCounted,
}

/// Why a signature doesn't count: the first of steps 8.4 to 8.11 that it fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotCounted {
    /// The key isn't known here.
    Unknown,
    /// Its scopes don't allow it; which part denies.
    Denied(String),
    /// The key is retired or compromised.
    Withdrawn(KeyStatus),
    /// The key isn't inside its time.
    OutOfTime,
    /// What a reviewer said was for a time that is over.
    StatementOver,
    /// Another key of its operator counts already.
    SameOperator,
    /// It is a publisher of this release, and nobody reviews their own.
    Publisher,
    /// A key of its operator is a publisher of this release.
    PublisherOperator,
}

impl fmt::Display for Uncounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.key.short(), self.why)
    }
}

impl fmt::Display for NotCounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "an unknown key",
            Self::Denied(detail) => detail,
            Self::Withdrawn(status) => status.name(),
            Self::OutOfTime => "outside its time",
            Self::StatementOver => "its statement's time is over",
            Self::SameOperator => "another key of its operator counts",
            Self::Publisher => "a publisher of it",
            Self::PublisherOperator => "of a publisher's operator",
        })
    }
}

/// The clause that names them, behind the numbers.
pub(super) fn not_counted(uncounted: &[Uncounted]) -> String {
    match uncounted {
        [] => String::new(),
        some => format!("; not counted: {}", super::list(some)),
    }
}
