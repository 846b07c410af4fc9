//! What can go wrong with a chat template: whose fault it is, where, and what to do next.

use crate::error::{ErrorCode, ModelError};
use minijinja::ErrorKind;
use std::error::Error;

/// A failure of loading or rendering a chat template. Lines count from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChatTemplateError {
    /// The model file has no template.
    #[error("the model file has no chat template; give one with --chat-template")]
    Missing,
    /// The model file has no template of this name.
    #[error("the model file has no chat template named {name:?}; {}", choices(.variants))]
    UnknownVariant {
        /// The name that was asked for.
        name: String,
        /// The names that there are; empty where there is the default one only.
        variants: String,
    },
    /// The file's metadata can't be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The source is longer than any template needs.
    #[error("the chat template has {bytes} bytes, the limit is {limit}")]
    TooLong {
        /// Bytes of the source.
        bytes: usize,
        /// The most that is accepted.
        limit: usize,
    },
    /// The source isn't a template.
    #[error("the chat template is broken in line {line}: {reason}")]
    Syntax {
        /// The line in the source.
        line: usize,
        /// What was found there.
        reason: String,
    },
    /// The template refused the conversation, in its own words.
    #[error("the chat template refused the conversation in line {line}: {message}")]
    Raised {
        /// The line in the source.
        line: usize,
        /// What the template said.
        message: String,
    },
    /// The template did something that fails for this conversation.
    #[error("the chat template failed in line {line}: {reason}")]
    Render {
        /// The line in the source.
        line: usize,
        /// What failed.
        reason: String,
    },
    /// The template does more than any conversation needs.
    #[error("the chat template exceeded its limit of {what} in line {line}")]
    Limit {
        /// The line in the source.
        line: usize,
        /// What was limited.
        what: &'static str,
    },
    /// The template takes too long.
    #[error("the chat template wasn't done after {limit_ms} ms")]
    Slow {
        /// The longest that one may take.
        limit_ms: u64,
    },
    /// The caller's messages aren't a conversation.
    #[error("messages[{index}] {reason}")]
    Message {
        /// Its place, from 0.
        index: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Guild or a library failed. The template may be fine.
    #[error(
        "rendering the chat template failed inside guild: {reason}; please report the template"
    )]
    Internal {
        /// The reason.
        reason: String,
    },
}

impl ChatTemplateError {
    /// The stable code of a fault in the file or the template; `None` where something isn't there, or the conversation or
    /// guild is at fault.
    #[must_use]
    pub const fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Model(error) => Some(error.code()),
            Self::TooLong { .. }
            | Self::Syntax { .. }
            | Self::Render { .. }
            | Self::Limit { .. }
            | Self::Slow { .. } => Some(ErrorCode::Damaged),
            _ => None,
        }
    }

    pub(super) fn of_compiling(error: &minijinja::Error) -> Self {
        Self::Syntax {
            line: error.line().unwrap_or(0),
            reason: reason(error),
        }
    }

    pub(super) fn of_rendering(error: &minijinja::Error) -> Self {
        let line = error.line().unwrap_or(0);
        if let Some(Raised(message)) = cause(error) {
            return Self::Raised {
                line,
                message: message.clone(),
            };
        }
        let what = if is_out_of_fuel(error) {
            Some("work")
        } else if cause::<OutputFull>(error).is_some() {
            Some("output")
        } else if cause::<TooManyStripped>(error).is_some() {
            Some("characters to strip")
        } else {
            cause::<TooDeep>(error).map(|_| "nesting")
        };
        match what {
            Some(what) => Self::Limit { line, what },
            None => Self::Render {
                line,
                reason: reason(error),
            },
        }
    }
}

/// The sentence on the variants that there are.
fn choices(variants: &str) -> String {
    match variants {
        "" => "it has only the default one; leave --template-variant out".to_owned(),
        names => format!("it has: {names}"),
    }
}

/// What a template said with `raise_exception`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Raised(pub String);

/// The rendered text has reached its limit.
#[derive(Debug, thiserror::Error)]
#[error("the text is too long")]
pub(super) struct OutputFull;

/// A value has too many levels.
#[derive(Debug, thiserror::Error)]
#[error("the value has too many levels")]
pub(super) struct TooDeep;

/// More characters are to be stripped than there is a use for.
#[derive(Debug, thiserror::Error)]
#[error("too many characters to strip")]
pub(super) struct TooManyStripped;

/// The error that `marker` caused.
pub(super) fn caused_by(marker: impl Error + Send + Sync + 'static) -> minijinja::Error {
    minijinja::Error::new(ErrorKind::InvalidOperation, marker.to_string()).with_source(marker)
}

/// The first cause of type `T`; the output's error hides its own behind an I/O error.
fn cause<T: Error + 'static>(error: &minijinja::Error) -> Option<&T> {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        let inside = error
            .downcast_ref::<std::io::Error>()
            .and_then(|error| error.get_ref());
        if let Some(found) = inside.and_then(|inside| inside.downcast_ref::<T>()) {
            return Some(found);
        }
        next = error.source();
    }
    None
}

fn is_out_of_fuel(error: &minijinja::Error) -> bool {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<minijinja::Error>()
            && error.kind() == ErrorKind::OutOfFuel
        {
            return true;
        }
        next = error.source();
    }
    false
}

/// The innermost reason in words, without the place, which the caller names.
fn reason(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}
