//! Runner `guild.runner.qwen3_5.v1`: Qwen 3.5 with one dense feed-forward part in every layer.

use crate::decoder::describe_model;
use crate::hyperparameters::{FeedForward, Hyperparameters};
use guild_sdk::Failure;
use guild_sdk::runner::{Builder, DescribeParams, Model, Runner};

const ARCHITECTURE: &str = "qwen35";

/// Serves GGUF architecture `qwen35`, such as Qwen3.5-4B.
#[derive(Clone, Copy, Debug)]
pub struct Qwen35;

impl Runner for Qwen35 {
    fn id(&self) -> &'static str {
        "guild.runner.qwen3_5.v1"
    }

    fn architectures(&self) -> &'static [&'static str] {
        &[ARCHITECTURE]
    }

    fn matches(&self, model: &Model<'_>) -> Option<i32> {
        (model.architecture() == ARCHITECTURE).then_some(100)
    }

    fn describe(
        &self,
        model: &Model<'_>,
        _params: &DescribeParams,
        builder: &mut Builder<'_>,
    ) -> Result<(), Failure> {
        let feed_forward = FeedForward::dense(model, ARCHITECTURE)?;
        let hyperparameters = Hyperparameters::read(model, ARCHITECTURE, feed_forward)?;
        describe_model(model, builder, &hyperparameters)
    }
}
