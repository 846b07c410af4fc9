//! What can go wrong between a model's description and its bound plan: whose fault it is, what was
//! found, and what to do next.
//!
//! [`GraphError::code`] is a total function of the kind, so a command's exit code never depends on a
//! text.

use guild_abi::abi::{
    GUILD_STATUS_ERR_INVALID, GUILD_STATUS_ERR_NOMEM_HOST, GUILD_STATUS_ERR_NOT_FOUND,
    GUILD_STATUS_ERR_UNSUPPORTED, guild_status,
};
use guild_model::ModelError;

use crate::registry::PackageIdentity;
use crate::report::{Phase, ProviderIdentity, Refused};

/// A failure of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// No runner accepts the model.
    #[error(
        "no runner serves the architecture {architecture:?}; known architectures: {}{}",
        or_none(known),
        not_loaded(left_out)
    )]
    NoRunner {
        /// The file's architecture name.
        architecture: String,
        /// The architectures that the runners may match, each once.
        known: Vec<String>,
        /// Ids of guild's own runner packages that aren't loaded.
        left_out: Vec<String>,
    },
    /// A runner looked at the model and refused it, or failed.
    #[error(
        "runner {runner} of package {package} refused the model (`{call}` gave status {status}): {text}"
    )]
    RunnerRefused {
        /// The runner's package.
        package: Box<PackageIdentity>,
        /// Runner id.
        runner: String,
        /// The function that gave the status.
        call: &'static str,
        /// The status.
        status: guild_status,
        /// The runner's own text.
        text: String,
    },
    /// A runner described something that doesn't hold together, or asked for what the file can't give.
    #[error("runner {runner} of package {package} {}: {fault}", fault.verdict())]
    Description {
        /// The runner's package.
        package: Box<PackageIdentity>,
        /// Runner id.
        runner: String,
        /// What is wrong.
        fault: Box<DescriptionFault>,
    },
    /// No package serves an operation as the model needs it.
    #[error(transparent)]
    MissingProvider(Box<MissingProvider>),
    /// A provider that had agreed to serve a node failed at it.
    #[error(transparent)]
    Provider(Box<ProviderFailure>),
    /// A tensor's stored bytes are not what its shape asks for.
    #[error("tensor {name:?} has {found_bytes} bytes, its shape needs {needed_bytes}")]
    WeightBytes {
        /// The tensor.
        name: String,
        /// Bytes in the file.
        found_bytes: u64,
        /// Bytes that its shape and format need.
        needed_bytes: u64,
    },
    /// The machine's memory is not enough, or a size is beyond what can be addressed.
    #[error("{what} needs {bytes} bytes, which this machine can't give")]
    Memory {
        /// What the memory is for.
        what: &'static str,
        /// Bytes; `u64::MAX` where the number overflows.
        bytes: u64,
    },
    /// An option is out of range.
    #[error("the option {option} is {found}; {allowed}")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        found: u64,
        /// What it may be.
        allowed: &'static str,
    },
    /// The model file.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl GraphError {
    /// What to do next; empty where the message says all there is.
    #[must_use]
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::NoRunner { left_out, .. } if !left_out.is_empty() => {
                "allow the package that isn't loaded (--no-builtin-* and --external-only leave \
                 packages out), or install one with a runner for it"
            }
            Self::NoRunner { .. } => {
                "install a package with a runner for it; `guild inspect` still shows the file"
            }
            Self::RunnerRefused { .. } => "`guild inspect` shows what the file says of itself",
            Self::Description { fault, .. } => match **fault {
                DescriptionFault::MissingWeight { .. } => ANOTHER_FILE,
                DescriptionFault::WeightFormat { .. } | DescriptionFault::WeightScale { .. } => {
                    "use the model in another quantisation"
                }
                _ => ANOTHER_RELEASE,
            },
            Self::MissingProvider(_) => {
                "install and enable one of the packages that serve it, or allow the built-in ones"
            }
            Self::Provider(failure) if is_about_weights(failure.call, &failure.status) => {
                ANOTHER_FILE
            }
            Self::Provider(_) => ANOTHER_RELEASE,
            Self::WeightBytes { .. } => ANOTHER_FILE,
            Self::Memory { .. } => "use a shorter context or fewer sequences",
            Self::Option { .. } => "",
            Self::Model(error) => error.next_step(),
        }
    }

    /// The stable code that a command exits with.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoRunner { .. } | Self::MissingProvider(_) => ErrorCode::Unsupported,
            Self::RunnerRefused { status, .. } => match *status {
                GUILD_STATUS_ERR_UNSUPPORTED => ErrorCode::Unsupported,
                GUILD_STATUS_ERR_INVALID | GUILD_STATUS_ERR_NOT_FOUND => ErrorCode::Damaged,
                _ => ErrorCode::Internal,
            },
            Self::Description { fault, .. } => match **fault {
                DescriptionFault::MissingWeight { .. } => ErrorCode::Damaged,
                DescriptionFault::WeightFormat { .. } | DescriptionFault::WeightScale { .. } => {
                    ErrorCode::Unsupported
                }
                _ => ErrorCode::Incompatible,
            },
            Self::Provider(failure) => match failure.status {
                GUILD_STATUS_ERR_NOMEM_HOST => ErrorCode::Resource,
                _ if is_about_weights(failure.call, &failure.status) => ErrorCode::Damaged,
                _ => ErrorCode::Incompatible,
            },
            Self::WeightBytes { .. } => ErrorCode::Damaged,
            Self::Memory { .. } => ErrorCode::Resource,
            Self::Option { .. } => ErrorCode::Usage,
            Self::Model(error) => match error.code() {
                guild_model::ErrorCode::Usage => ErrorCode::Usage,
                guild_model::ErrorCode::Damaged => ErrorCode::Damaged,
                guild_model::ErrorCode::Unsupported => ErrorCode::Unsupported,
                guild_model::ErrorCode::NotFound => ErrorCode::NotFound,
                guild_model::ErrorCode::Io => ErrorCode::Io,
            },
        }
    }
}

/// An operation that no package serves as the model needs it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no package serves {operation}@{version} for the {} phase of node {node:?}, layer {layer}, with {wanted}; \
     packages that serve it: {}; refused: {}",
    phase.name(),
    or_none(served_by),
    or_none(refused)
)]
pub struct MissingProvider {
    /// Operation without its version.
    pub operation: String,
    /// Version wanted.
    pub version: u32,
    /// The node's name.
    pub node: String,
    /// The node's layer.
    pub layer: u32,
    /// The phase.
    pub phase: Phase,
    /// Formats and shapes of the operands.
    pub wanted: String,
    /// First-party packages that would serve it.
    pub served_by: Vec<String>,
    /// Every provider that was asked, with its reason.
    pub refused: Vec<Refused>,
}

/// A provider that agreed to serve a node and then failed at it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} of package {} failed at {operation}, node {node:?}, layer {layer}: `{call}` gave status {status}: {text}",
    provider.implementation,
    provider.package,
)]
pub struct ProviderFailure {
    /// The provider.
    pub provider: ProviderIdentity,
    /// Operation with its version.
    pub operation: String,
    /// The node's name.
    pub node: String,
    /// The node's layer.
    pub layer: u32,
    /// The function that failed.
    pub call: &'static str,
    /// The status that it gave.
    pub status: guild_status,
    /// The provider's own text, or what its answer lacks.
    pub text: String,
}

/// Whether a provider that had agreed to shapes, formats and parameters found that a weight holds what
/// its operation can't take: then the model file is at fault.
fn is_about_weights(call: &str, status: &guild_status) -> bool {
    call == "create" && *status == GUILD_STATUS_ERR_INVALID
}

/// What mends a file that is at fault.
const ANOTHER_FILE: &str = "download or convert the model again";

/// What mends a package that is at fault.
const ANOTHER_RELEASE: &str = "install another release of the package";

/// The exit codes that this crate's errors lead to (`docs/cli.md` has all codes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// A package or the host is at fault at run time.
    Internal = 1,
    /// The caller's options.
    Usage = 2,
    /// The model file contradicts itself.
    Damaged = 3,
    /// No code serves the model.
    Unsupported = 4,
    /// Memory.
    Resource = 5,
    /// A package breaks its contract with the host.
    Incompatible = 20,
    /// There is no model where one was looked for.
    NotFound = 33,
    /// The operating system refused.
    Io = 40,
}

impl ErrorCode {
    /// The process exit code.
    #[must_use]
    pub const fn exit(self) -> u8 {
        self as u8
    }

    /// The code's name in JSON output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Internal => "INTERNAL",
            Self::Usage => "USAGE",
            Self::Damaged => "DAMAGED",
            Self::Unsupported => "UNSUPPORTED",
            Self::Resource => "RESOURCE",
            Self::Incompatible => "INCOMPATIBLE",
            Self::NotFound => "NOT_FOUND",
            Self::Io => "IO",
        }
    }
}

/// What a runner's description gets wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DescriptionFault {
    /// The model file has no such tensor.
    #[error("the model has no tensor {name:?}")]
    MissingWeight {
        /// The name.
        name: String,
    },
    /// guild can't read the tensor's type.
    #[error(
        "tensor {name:?} has the type {type_name} (number {ggml_type}), which guild has no format for"
    )]
    WeightFormat {
        /// The tensor.
        name: String,
        /// The type's name; `unknown` where ggml has none.
        type_name: String,
        /// The type's number in the file.
        ggml_type: u32,
    },
    /// The weight is to be multiplied with a number that no operation takes.
    #[error("tensor {name:?} has a scale of its own, tensor {scale:?}, which no operation applies")]
    WeightScale {
        /// The weight.
        name: String,
        /// The tensor that has its scale.
        scale: String,
    },
    /// An operand of a core operation breaks its contract.
    #[error("{operation}, node {node:?}, layer {layer}: {mismatch}")]
    Contract {
        /// Operation with its version.
        operation: String,
        /// The node's name.
        node: String,
        /// The node's layer.
        layer: u32,
        /// Operand, wanted and offered.
        mismatch: Box<Mismatch>,
    },
    /// `guild.core` has no such operation.
    #[error("node {node:?}, layer {layer}: this host knows no operation {operation:?}")]
    UnknownOperation {
        /// Operation as the runner wrote it.
        operation: String,
        /// The node's name.
        node: String,
        /// The node's layer.
        layer: u32,
    },
    /// A number names no value or state of the section.
    #[error("{what} {number} doesn't exist in section {section:?}, which has {count}")]
    Dangling {
        /// `value` or `state`.
        what: &'static str,
        /// The number.
        number: u32,
        /// The section.
        section: String,
        /// How many there are.
        count: usize,
    },
    /// A shape, format or name that can't be.
    #[error("{what} {detail}")]
    Malformed {
        /// What it is about.
        what: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A view reaches past the rows of its source.
    #[error(
        "a view of value {source_value} needs {needed} elements of each row, offset included; a row has {available}"
    )]
    ViewOutOfBounds {
        /// The value that the view is on.
        source_value: u32,
        /// Elements from the row's start to the view's end.
        needed: u64,
        /// Elements in a row.
        available: u64,
    },
    /// A state has two users; its order of writes would be undefined.
    #[error(
        "state {state:?} is used by node {first:?} and again by node {second:?}; one use is allowed"
    )]
    StateReused {
        /// The state.
        state: String,
        /// The first user.
        first: String,
        /// The second user.
        second: String,
    },
    /// A state that no node uses.
    #[error("state {state:?} of section {section:?} is used by no node")]
    StateUnused {
        /// The state.
        state: String,
        /// The section.
        section: String,
    },
    /// A count is beyond the host's limits.
    #[error("{what} is {found}; the limit is {limit}")]
    Limit {
        /// What was counted.
        what: &'static str,
        /// The count.
        found: u64,
        /// The most that is accepted.
        limit: u64,
    },
    /// Something that a section must have, or may have once.
    #[error("section {section:?} {detail}")]
    Section {
        /// The section; empty before the first.
        section: String,
        /// What is wrong with it.
        detail: String,
    },
    /// An argument of a builder call breaks the ABI.
    #[error("the builder was called with {what}")]
    Argument {
        /// Which, and why it can't be read.
        what: &'static str,
    },
}

impl DescriptionFault {
    /// Whose fault it is, in the words of a sentence about the runner.
    const fn verdict(&self) -> &'static str {
        match self {
            Self::MissingWeight { .. } | Self::WeightFormat { .. } | Self::WeightScale { .. } => {
                "can't describe the model"
            }
            _ => "described the model wrongly",
        }
    }
}

/// An operand that doesn't fit an operation's contract.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{operand}: wanted {wanted}, offered {offered}")]
pub struct Mismatch {
    /// The operand or parameter as the contract names it.
    pub operand: String,
    /// What the contract and the other operands ask for.
    pub wanted: String,
    /// What the runner described.
    pub offered: String,
}

/// A list for a sentence.
fn or_none<T: ToString>(items: &[T]) -> String {
    if items.is_empty() {
        return "none".to_owned();
    }
    let texts: Vec<String> = items.iter().map(T::to_string).collect();
    texts.join("; ")
}

/// The end of a sentence about packages that might have served.
fn not_loaded(packages: &[String]) -> String {
    match packages.is_empty() {
        true => String::new(),
        false => format!("; not loaded: {}", packages.join(", ")),
    }
}
