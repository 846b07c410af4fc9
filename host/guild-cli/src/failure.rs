//! What a command failed with: an exit code, a sentence and a next step.

use crate::exit::Exit;
use guild_abi::abi::{GUILD_STATUS_ERR_NOMEM_DEVICE, GUILD_STATUS_ERR_NOMEM_HOST, guild_status};
use guild_package::audit::{Refused, Subject, Unaccepted};
use serde_json::{Map, Value, json};

/// A failure as people and scripts see it.
#[derive(Debug)]
pub struct Failure {
    /// Decides the process's exit code.
    pub exit: Exit,
    /// What happened, and whose fault it is.
    pub message: String,
    /// What to do next; empty when `message` says it.
    pub hint: String,
    /// What stands beside it in the JSON object: the answer of a command that has one all the same.
    /// Boxed, since few failures have one.
    pub fields: Option<Box<Map<String, Value>>>,
    /// What the audit log says of it, where it is a refusal. Boxed for the same reason.
    pub refused: Option<Box<Refused>>,
}

/// Result of a command.
pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// A failure without a hint of its own.
    pub fn new(exit: Exit, message: impl Into<String>) -> Failure {
        Failure {
            exit,
            message: message.into(),
            hint: String::new(),
            fields: None,
            refused: None,
        }
    }

    /// Whoever read standard output has gone, as `head` does: the end of the command, and no fault.
    pub fn reader_gone() -> Failure {
        Failure::new(Exit::Ok, "the reader of standard output has gone")
    }

    /// The same failure with a next step.
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = hint.into();
        self
    }

    /// The same failure with an answer beside it.
    #[must_use]
    pub fn with_fields(mut self, fields: Value) -> Failure {
        if let Value::Object(fields) = fields {
            self.fields = Some(Box::new(fields));
        }
        self
    }

    /// The same failure with what the audit log says of it.
    fn of_refusal(self, refused: Option<Refused>) -> Failure {
        Failure {
            refused: refused.map(Box::new),
            ..self
        }
    }

    /// The same failure, about `subject` where the error didn't know.
    #[must_use]
    pub fn about(mut self, subject: Option<Subject>) -> Failure {
        let refused = self.refused.take();
        let refused = refused.map(|refused| refused.about(subject));
        self.of_refusal(refused)
    }

    /// The file system's error on `path`.
    pub fn io(path: &std::path::Path, error: &std::io::Error) -> Failure {
        let hint = match error.kind() {
            std::io::ErrorKind::NotFound => "check the path",
            std::io::ErrorKind::PermissionDenied => "check owner and permissions",
            std::io::ErrorKind::StorageFull => "free some space, then try again",
            _ => "",
        };
        Failure::new(Exit::Io, format!("{}: {error}", path.display())).hint(hint)
    }

    /// A package error that stays where it is.
    pub fn of_package(error: &guild_package::Error) -> Failure {
        Failure::new(
            Exit::from_number(error.code().exit_code()),
            error.to_string(),
        )
        .hint(error.next_step())
        .of_refusal(error.refused())
    }

    /// The JSON object that stands on stdout.
    pub fn to_json(&self) -> Value {
        let mut object = json!({
            "schema": 1,
            "ok": false,
            "code": self.exit.name(),
            "message": self.message,
            "hint": self.hint,
        });
        if let Value::Object(object) = &mut object {
            object.extend(self.fields.as_deref().cloned().unwrap_or_default());
        }
        object
    }
}

impl From<guild_package::Error> for Failure {
    fn from(error: guild_package::Error) -> Failure {
        Failure::of_package(&error)
    }
}

impl From<Box<Unaccepted>> for Failure {
    fn from(unaccepted: Box<Unaccepted>) -> Failure {
        Failure::from(unaccepted.error).about(unaccepted.bundle.map(Subject::Bundle))
    }
}

impl From<guild_model::ModelError> for Failure {
    fn from(error: guild_model::ModelError) -> Failure {
        // A file is mapped whole, so this is the address space's limit and no fault of the file.
        if let guild_model::ModelError::Io { source, .. } = &error
            && source.kind() == std::io::ErrorKind::OutOfMemory
        {
            return Failure::new(Exit::Resource, error.to_string())
                .hint("raise the limit of addresses: ulimit -v");
        }
        Failure::new(Exit::from_number(error.code().exit()), error.to_string())
            .hint(error.next_step())
    }
}

impl From<guild_loader::LoadError> for Failure {
    fn from(error: guild_loader::LoadError) -> Failure {
        Failure::new(Exit::from_number(error.code().exit), error.to_string())
            .hint(error.next_step())
            .of_refusal(error.refused())
    }
}

impl From<guild_graph::GraphError> for Failure {
    fn from(error: guild_graph::GraphError) -> Failure {
        let hint = error.next_step();
        Failure::new(Exit::from_number(error.code().exit()), error.to_string()).hint(hint)
    }
}

impl From<guild_engine::EngineError> for Failure {
    fn from(error: guild_engine::EngineError) -> Failure {
        use guild_engine::EngineError as E;
        let exit = match &error {
            E::Graph(inner) => Exit::from_number(inner.code().exit()),
            E::Step(step) if out_of_memory(step.status) => Exit::Resource,
            E::Threads { .. } | E::NoSlot { .. } => Exit::Resource,
            E::ContextFull { .. } | E::TokenOutOfRange { .. } => Exit::Usage,
            E::SamplingParameter { .. } | E::BiasToken { .. } => Exit::Usage,
            E::BiasTwice { .. } | E::NoCandidate => Exit::Usage,
            E::VocabularyTooLarge { .. } => Exit::Unsupported,
            E::LogitNotFinite { .. } => Exit::Damaged,
            _ => Exit::Internal,
        };
        let hint = match &error {
            E::Graph(inner) => inner.next_step(),
            E::Threads { .. } => "use fewer threads with -t",
            E::NoSlot { .. } => "end a session first",
            E::ContextFull { .. } => "raise the context with -c",
            E::SessionEnded => "start a new session",
            E::BiasTwice { .. } => "give one",
            E::NoCandidate => "lift a logit-bias of -inf",
            E::LogitNotFinite { .. } => "compare with another package, or check the file",
            _ => "",
        };
        Failure::new(exit, error.to_string()).hint(hint)
    }
}

/// Whether a package ran out of memory, its device's or the host's.
fn out_of_memory(status: guild_status) -> bool {
    matches!(
        status,
        GUILD_STATUS_ERR_NOMEM_HOST | GUILD_STATUS_ERR_NOMEM_DEVICE
    )
}

impl From<guild_model::TokenizeError> for Failure {
    fn from(error: guild_model::TokenizeError) -> Failure {
        use guild_model::TokenizeError as T;
        let hint = match &error {
            T::NoToken { .. } => "remove it from the text",
            T::TextTooLong { .. } | T::WordTooLong { .. } => "split the text",
            _ => "`guild tokenize` shows the ids of a text",
        };
        Failure::new(Exit::Usage, error.to_string()).hint(hint)
    }
}
