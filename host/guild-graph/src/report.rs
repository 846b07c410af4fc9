//! What a plan decided and why, as data for `guild plan` and for run reports.

use core::fmt;

use guild_abi::abi::{
    GUILD_CLASS_EXACT, GUILD_PHASE_DECODE, GUILD_PHASE_PREFILL, GUILD_PHASE_VERIFY,
    GUILD_REFUSAL_DEVICE, GUILD_REFUSAL_DRIVER, GUILD_REFUSAL_FORMAT, GUILD_REFUSAL_ISA,
    GUILD_REFUSAL_MEMORY, GUILD_REFUSAL_PARAMS, GUILD_REFUSAL_PHASE, GUILD_REFUSAL_POLICY,
    GUILD_REFUSAL_SHAPE,
};

use crate::graph::SectionKind;
use crate::registry::PackageIdentity;

/// A phase of binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Many rows of a prompt.
    Prefill,
    /// One row a sequence.
    Decode,
    /// A few draft rows that may be rolled back.
    Verify,
}

impl Phase {
    /// Every phase, in the order of reports.
    pub const ALL: [Phase; 3] = [Phase::Prefill, Phase::Decode, Phase::Verify];

    /// The phase's `GUILD_PHASE_*` bit.
    #[must_use]
    pub const fn bit(self) -> u32 {
        match self {
            Phase::Prefill => GUILD_PHASE_PREFILL,
            Phase::Decode => GUILD_PHASE_DECODE,
            Phase::Verify => GUILD_PHASE_VERIFY,
        }
    }

    /// The phase's place in [`Phase::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The phase's name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Prefill => "prefill",
            Phase::Decode => "decode",
            Phase::Verify => "verify",
        }
    }
}

/// Everything that a plan decided.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct PlanReport {
    /// Who described the model.
    pub runner: RunnerIdentity,
    /// The described sections.
    pub sections: Vec<SectionReport>,
    /// The main section's steps, in order.
    pub steps: Vec<StepReport>,
    /// Bytes by purpose.
    pub memory: MemoryReport,
}

/// The runner that described a model.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RunnerIdentity {
    /// The runner's package.
    pub package: PackageIdentity,
    /// Runner id.
    pub id: String,
    /// How well it said the model fits; higher is better.
    pub score: i32,
}

/// One section of the described model.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SectionReport {
    /// What it is.
    pub kind: SectionKind,
    /// Its name.
    pub name: String,
    /// Number of its operations.
    pub nodes: usize,
    /// Whether it takes part in the plan; draft sections are checked only.
    pub planned: bool,
}

/// One step of the plan.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct StepReport {
    /// The node's name.
    pub node: String,
    /// The node's layer.
    pub layer: u32,
    /// Operation without its version.
    pub operation: String,
    /// Version of the operation.
    pub version: u32,
    /// What was chosen, for each phase in the order of [`Phase::ALL`].
    pub phases: Vec<PhaseReport>,
}

/// The choice for one step in one phase.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PhaseReport {
    /// The phase.
    pub phase: Phase,
    /// The provider that runs the step.
    pub chosen: ProviderIdentity,
    /// That provider's class.
    pub class: Class,
    /// The providers that were asked before it, in order, each with its reason.
    pub refused: Vec<Refused>,
}

/// How far results may be from the contract's (`docs/numerics.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Not at all: the same bits.
    Exact,
    /// Within the operation's bound.
    Tolerant,
}

impl Class {
    /// The class of a `GUILD_CLASS_*` number. The loader has refused every number but the two.
    #[must_use]
    pub const fn from_raw(raw: u32) -> Class {
        match raw {
            GUILD_CLASS_EXACT => Class::Exact,
            _ => Class::Tolerant,
        }
    }
}

/// One implementation of one package.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ProviderIdentity {
    /// The package.
    pub package: PackageIdentity,
    /// Implementation id.
    pub implementation: String,
}

/// A provider that was not chosen.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Refused {
    /// The provider.
    pub provider: ProviderIdentity,
    /// Why, as a kind.
    pub reason: RefusalReason,
    /// Why, in words.
    pub text: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refused {
            provider,
            reason,
            text,
        } = self;
        write!(f, "{} of {}: ", provider.implementation, provider.package)?;
        write!(f, "{}: {text}", reason.name())
    }
}

/// The kinds of reasons for which a provider is not chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RefusalReason {
    /// It was built against another contract text.
    Contract,
    /// It serves other versions of the operation.
    Version,
    /// It doesn't serve the phase.
    Phase,
    /// The exactness policy, or another one, forbids it.
    Policy,
    /// It needs something that this host doesn't offer.
    Host,
    /// An operand's element type or quantisation.
    Format,
    /// An operand's shape or stride.
    Shape,
    /// The processor lacks an instruction set.
    InstructionSet,
    /// The device doesn't fit.
    Device,
    /// The driver is too old or absent.
    Driver,
    /// Memory.
    Memory,
    /// A parameter's value.
    Params,
    /// It gave an error instead of an answer.
    Failed,
}

impl RefusalReason {
    /// The kind of a `GUILD_REFUSAL_*` number.
    #[must_use]
    pub const fn from_raw(raw: u32) -> RefusalReason {
        match raw {
            GUILD_REFUSAL_FORMAT => RefusalReason::Format,
            GUILD_REFUSAL_SHAPE => RefusalReason::Shape,
            GUILD_REFUSAL_ISA => RefusalReason::InstructionSet,
            GUILD_REFUSAL_DEVICE => RefusalReason::Device,
            GUILD_REFUSAL_DRIVER => RefusalReason::Driver,
            GUILD_REFUSAL_MEMORY => RefusalReason::Memory,
            GUILD_REFUSAL_POLICY => RefusalReason::Policy,
            GUILD_REFUSAL_PARAMS => RefusalReason::Params,
            GUILD_REFUSAL_PHASE => RefusalReason::Phase,
            _ => RefusalReason::Failed,
        }
    }

    /// The kind's name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            RefusalReason::Contract => "contract",
            RefusalReason::Version => "version",
            RefusalReason::Phase => "phase",
            RefusalReason::Policy => "policy",
            RefusalReason::Host => "host",
            RefusalReason::Format => "format",
            RefusalReason::Shape => "shape",
            RefusalReason::InstructionSet => "instruction set",
            RefusalReason::Device => "device",
            RefusalReason::Driver => "driver",
            RefusalReason::Memory => "memory",
            RefusalReason::Params => "params",
            RefusalReason::Failed => "failed",
        }
    }
}

/// Bytes of a plan by purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct MemoryReport {
    /// Weights of the main section, each tensor once; in the model file's mapping.
    pub weights_bytes: u64,
    /// What one decoded token reads of them: of an embedding's table one row, of stacked experts as
    /// many as it is routed to, of every other weight all.
    pub weights_read_bytes: u64,
    /// The arena that values share.
    pub arena_bytes: u64,
    /// Memory that the values would need without sharing.
    pub values_bytes: u64,
    /// The section's results.
    pub outputs_bytes: u64,
    /// Append-only states: KV pages.
    pub kv_bytes: u64,
    /// Recurrent states, snapshot slots included.
    pub state_bytes: u64,
    /// Scratch of the providers, as their instances asked for it.
    pub scratch_bytes: u64,
    /// Argument blocks and the batch table.
    pub tables_bytes: u64,
    /// What binding reserves for values, outputs, states and scratch, in whole pages.
    pub reserved_bytes: u64,
}

/// What an operation has taken, with one implementation.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct OperationTime {
    /// Operation with its version.
    pub operation: String,
    /// Who ran it.
    pub provider: ProviderIdentity,
    /// Calls of its steps.
    pub calls: u64,
    /// Rows of those calls together.
    pub rows: u64,
    /// Time of those calls together.
    pub seconds: f64,
    /// Bytes of weights that those calls read in decode, each for one row, counted as in
    /// [`MemoryReport::weights_read_bytes`]; 0 in prefill, where rows share what is read.
    pub weights_read_bytes: u64,
}

impl OperationTime {
    pub(crate) fn new(operation: String, provider: ProviderIdentity) -> OperationTime {
        OperationTime {
            operation,
            provider,
            calls: 0,
            rows: 0,
            seconds: 0.0,
            weights_read_bytes: 0,
        }
    }
}
