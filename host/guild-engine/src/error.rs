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
    #[error("a worker thread could not be started: {source}")]
    Threads {
        /// The system's error.
        source: std::io::Error,
    },
    /// Every slot is taken.
    #[error("all {slots} sequence slots are in use")]
    NoSlot {
        /// Slots that there are.
        slots: u32,
    },
    /// The sequence has no room for the tokens.
    #[error(
        "the context holds {context} positions; {used} are used and {wanted} more were asked for"
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
    #[error("the session has ended")]
    SessionEnded,
    /// A sampling parameter is outside its range.
    #[error("{name} is {value}; it must be {range}")]
    SamplingParameter {
        /// The parameter, as the command line's option has it, without its dashes.
        name: &'static str,
        /// The value.
        value: f32,
        /// What the value must be.
        range: &'static str,
    },
    /// A logit bias for a token that isn't in the vocabulary.
    #[error(
        "logit-bias is given for token {token}, and the vocabulary has {vocabulary} tokens, from 0"
    )]
    BiasToken {
        /// The token.
        token: u32,
        /// Tokens of the vocabulary.
        vocabulary: usize,
    },
    /// Two logit biases for one token.
    #[error("logit-bias is given twice for token {token}")]
    BiasTwice {
        /// The token.
        token: u32,
    },
    /// More tokens than a sampler's sums can hold.
    #[error(
        "the vocabulary has {vocabulary} tokens; at most {limit} can be sampled from: the model isn't one \
         that guild can run"
    )]
    VocabularyTooLarge {
        /// Tokens of the vocabulary.
        vocabulary: usize,
        /// The most that a sampler takes.
        limit: usize,
    },
    /// Logit biases forbid every token.
    #[error("every token is forbidden")]
    NoCandidate,
    /// A row of logits of another length than the vocabulary that the sampler was made for.
    #[error("a row has {found} logits, the sampler is for a vocabulary of {vocabulary}")]
    LogitCount {
        /// Logits of the row.
        found: usize,
        /// Tokens of the vocabulary.
        vocabulary: usize,
    },
    /// A logit is infinite or not a number.
    #[error("the logit of token {token} is {value}: the model's weights or a package are at fault")]
    LogitNotFinite {
        /// The token.
        token: usize,
        /// The value.
        value: f32,
    },
}
