//! Extension `guild.runner/1` for Rust authors: a model architecture as data.
//!
//! A [`Runner`] reads a model's metadata through [`Model`] and describes the model's graph to a
//! [`Builder`]. It never sees weights or activations; the host checks the graph, plans its memory and
//! asks packages for the operations. Every call here is cold. `docs/adding-an-architecture.md` walks
//! through one runner.
//!
//! A whole runner, for a model that predicts a token from the one before it, and its test:
//!
//! ```
//! use guild_sdk::Failure;
//! use guild_sdk::abi::formats::GUILD_FORMAT_F32;
//! use guild_sdk::runner::{
//!     Builder, DescribeParams, Input, Model, Output, Runner, SampleModel, Section,
//! };
//!
//! struct Bigram;
//!
//! impl Runner for Bigram {
//!     fn id(&self) -> &'static str {
//!         "org.example.runner.bigram.v1"
//!     }
//!
//!     fn architectures(&self) -> &'static [&'static str] {
//!         &["bigram"]
//!     }
//!
//!     fn matches(&self, model: &Model<'_>) -> Option<i32> {
//!         (model.architecture() == "bigram").then_some(100)
//!     }
//!
//!     fn describe(
//!         &self,
//!         model: &Model<'_>,
//!         _params: &DescribeParams,
//!         builder: &mut Builder<'_>,
//!     ) -> Result<(), Failure> {
//!         let epsilon = model.number("bigram.attention.layer_norm_rms_epsilon")? as f32;
//!         builder.section(Section::Main, "main")?;
//!         let tokens = builder.input(Input::Tokens)?;
//!         let output_rows = builder.input(Input::OutputRows)?;
//!         let table = builder.weight("token_embd.weight")?;
//!         let x = builder.embedding("token_embedding", table, tokens)?;
//!         let x = builder.select_rows("output_rows", x, output_rows)?;
//!         let norm = builder.weight("output_norm.weight")?;
//!         let x = builder.rms_norm("output_norm", x, norm, epsilon)?;
//!         let head = builder.weight("output.weight")?;
//!         let [logits] = builder.linear("output", x, [head])?;
//!         builder.output(Output::Logits, logits)
//!     }
//! }
//!
//! let mut model = SampleModel::new("bigram");
//! model.set_number("bigram.attention.layer_norm_rms_epsilon", 1e-6);
//! model.set_tensor("token_embd.weight", GUILD_FORMAT_F32, &[100, 32]);
//! model.set_tensor("output_norm.weight", GUILD_FORMAT_F32, &[32]);
//! model.set_tensor("output.weight", GUILD_FORMAT_F32, &[100, 32]);
//! let main = &model.describe(&Bigram)?.sections[0];
//! let (_, logits) = main.nodes[3].output_shapes[0];
//! assert_eq!(logits.to_string(), "[outputs, 100]");
//!
//! model.remove_tensor("output.weight");
//! let failure = model.describe(&Bigram).map(|_| ()).unwrap_err();
//! assert!(failure.text.contains("output.weight"));
//! # Ok::<(), Failure>(())
//! ```
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
