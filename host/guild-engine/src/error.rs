//! What can go wrong between a bound plan and a token.

use guild_graph::{BatchError, GraphError, StepError};

/// A failure of a session or of the engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// Planning or binding, or a model file that changed while it was in use.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// An operation failed; the sessions of the pass have ended.
    #[error(transparent)]
    Step(#[from] Box<StepError>),
    /// The caller's rows don't fit the plan.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// A thread could not be started.
    #[error("a worker thread could not be started: {source}; use fewer threads with -t")]
    Threads {
        /// The system's error.
        source: std::io::Error,
    },
    /// Every slot is taken.
    #[error("all {slots} sequence slots are in use; end a session first")]
    NoSlot {
        /// Slots that there are.
        slots: u32,
    },
    /// The sequence has no room for the tokens.
    #[error(
        "the context holds {context} positions; {used} are used and {wanted} more were asked for; \
         raise the context with -c"
    )]
    ContextFull {
        /// Positions of a sequence.
        context: u64,
        /// Positions in use.
        used: u64,
        /// Positions asked for.
        wanted: u64,
    },
    /// The id is not in the vocabulary.
    #[error("token id {token} is not in the vocabulary of {vocabulary}")]
    TokenOutOfRange {
        /// The id.
        token: u32,
        /// Entries of the vocabulary.
        vocabulary: usize,
    },
    /// A session that a failed pass ended was used.
    #[error("the session has ended; start a new one")]
    SessionEnded,
    /// The temperature can't be used.
    #[error("a temperature of {temperature} can't be used; give a number above 0")]
    Temperature {
        /// The value.
        temperature: f32,
    },
    /// A logit is infinite or not a number.
    #[error(
        "the logit of token {token} is {value}: the model's weights or a package are at fault; \
         compare with another package, or check the file"
    )]
    LogitNotFinite {
        /// The token.
        token: usize,
        /// The value.
        value: f32,
    },
}
