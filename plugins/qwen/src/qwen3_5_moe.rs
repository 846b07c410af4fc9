//! Runner `guild.runner.qwen3_5_moe.v1`: Qwen 3.5 with an expert pool in every layer.

use crate::decoder::describe_model;
use crate::hyperparameters::{FeedForward, Hyperparameters};
use guild_sdk::Failure;
use guild_sdk::runner::{Builder, DescribeParams, Model, Runner};

const ARCHITECTURE: &str = "qwen35moe";

/// Serves GGUF architecture `qwen35moe`, such as Qwen3.5-35B-A3B.
#[derive(Clone, Copy, Debug)]
pub struct Qwen35Moe;

impl Runner for Qwen35Moe {
    fn id(&self) -> &'static str {
        "guild.runner.qwen3_5_moe.v1"
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
        let feed_forward = FeedForward::experts(model, ARCHITECTURE)?;
        let hyperparameters = Hyperparameters::read(model, ARCHITECTURE, feed_forward)?;
        describe_model(model, builder, &hyperparameters)
    }
}
