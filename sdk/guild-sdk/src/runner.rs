//! Extension `guild.runner/1` for Rust authors: a model architecture as data.
//!
//! A [`Runner`] reads a model's metadata through [`Model`] and describes the model's graph to a
//! [`Builder`]. It never sees weights or activations; the host checks the graph, plans its memory and
//! asks packages for the operations. Every call here is cold. `docs/adding-an-architecture.md` walks
//! through one runner.
//!
//! | File | Holds |
//! |---|---|
//! | `model` | metadata and tensors, with errors that name the key |
//! | `builder` | sections, weights, inputs, states, views, operations, outputs |
//! | `core_ops` | one method for each core operation; works out the output's shape |
//! | `shape` | shapes whose leading axis may be symbolic |
//! | `recording` | a host for tests: keeps what a runner describes |
//! | `callbacks` | the C tables on both sides; all unsafe code of this module |

mod builder;
mod callbacks;
mod core_ops;
mod model;
mod recording;
mod shape;

pub use builder::{Axis, Builder, Input, Node, Output, Params, Section, State, Value};
pub(crate) use callbacks::{HasRunners, RunnerTable};
pub use core_ops::{Delta, Experts, GateUp, SharedExpert};
pub use model::{Model, ModelError, TensorInfo};
pub use recording::{
    RecordedNode, RecordedSection, RecordedState, RecordedView, Recording, SampleModel,
};
pub use shape::Shape;

use crate::kernel::Failure;

/// One architecture's runner. Stateless; one value serves every model of the process.
pub trait Runner: Send + Sync {
    /// Runner id with its version: `guild.runner.qwen3_5_moe.v1`.
    fn id(&self) -> &'static str;

    /// Architecture names that the runner may match, for listings.
    fn architectures(&self) -> &'static [&'static str];

    /// How well the runner fits the model: a score above 0, or `None`. The host takes the highest
    /// score. Reads metadata only and reports no fault: a damaged model of a known architecture is
    /// matched here and refused by `describe`.
    fn matches(&self, model: &Model<'_>) -> Option<i32>;

    /// Checks the model's invariants, then describes it.
    ///
    /// # Errors
    /// A [`Failure`] whose text names the metadata key or tensor, the value wanted and the value found.
    fn describe(
        &self,
        model: &Model<'_>,
        params: &DescribeParams,
        builder: &mut Builder<'_>,
    ) -> Result<(), Failure>;
}

/// What the host fixes before `describe`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DescribeParams {
    /// Positions of one sequence.
    pub context: u64,
}
