//! From a runner's description to a bound plan.
//!
//! A runner describes a model as a graph; the host checks it, plans it and binds it:
//! - [`describe()`] chooses a runner and checks what it describes: names, shapes, formats, states.
//! - [`plan()`] asks the packages for each operation in each phase, says why the others lost, makes
//!   instances, and counts the memory that everything will take.
//! - [`Plan::bind`] reserves the memory and builds the argument blocks; [`bind()`] does both.
//! - [`BoundPlan::run`] is one pass over an array of bound pointers.
//!
//! This crate opens no library and knows no architecture and no device: it is handed a [`Registry`] and
//! a [`guild_model::ModelSource`]. Unsafe code is in `arena.rs`, `call.rs`, `describe/callbacks.rs`,
//! `execute.rs` and `parallel.rs` alone.

#![deny(unsafe_code)]

#[expect(unsafe_code, reason = "memory with fixed addresses")]
mod arena;
mod arguments;
pub mod batch;
mod bind;
#[expect(unsafe_code, reason = "calls plugin functions")]
mod call;
mod contract;
mod describe;
pub mod error;
mod error_buffer;
#[expect(unsafe_code, reason = "calls bound functions")]
mod execute;
mod first_party;
mod format;
pub mod graph;
mod instance;
mod limits;
mod memory;
mod options;
#[expect(unsafe_code, reason = "wraps the engine's thread pool")]
mod parallel;
mod plan;
pub mod registry;
pub mod report;
mod request;
mod select;
pub mod shape;
mod sizes;
mod state;
mod timing;
mod traffic;
mod weights;

pub use arena::HUGE_PAGE_BYTES;
pub use batch::{Batch, BatchError, SequenceRows};
pub use bind::bind;
pub use describe::{Described, describe};
pub use error::{
    DescriptionFault, ErrorCode, GraphError, Mismatch, MissingProvider, ProviderFailure,
};
pub use execute::{BoundPlan, StepError};
pub use graph::Graph;
pub use options::{BindOptions, KvFormat};
pub use parallel::ParallelFor;
pub use plan::{Plan, plan};
pub use registry::{
    Candidate, PackageIdentity, PluginTable, Registry, RunnerCandidate, RunnerTable,
};
pub use report::{OperationTime, Phase, PlanReport, ProviderIdentity};
pub use state::StatePools;
