//! Weights by name, each with the shape that follows from the metadata.

use crate::hyperparameters::Hyperparameters;
use crate::refusal::Refusal;
use guild_sdk::Failure;
use guild_sdk::runner::{Builder, Model, Shape, Value};

/// What every part of the description works with.
pub(crate) struct Description<'d, 'b> {
    pub model: &'d Model<'d>,
    pub builder: &'d mut Builder<'b>,
    pub hyperparameters: &'d Hyperparameters,
}

impl Description<'_, '_> {
    /// The tensor `name` as a value.
    ///
    /// # Errors
    /// Names the tensor that is missing, or has a shape other than `axes` (outermost first).
    pub(crate) fn weight(&mut self, name: &str, axes: &[u64]) -> Result<Value, Failure> {
        let found = self.model.tensor(name)?.shape;
        if found.axes() != axes {
            let wanted = Shape::new(axes).unwrap_or(found);
            let name = name.to_owned();
            return Err(Refusal::TensorShape {
                name,
                found,
                wanted,
            }
            .into());
        }
        self.builder.weight(name)
    }

    /// The tensor `blk.BLOCK.SUFFIX` as a value.
    ///
    /// # Errors
    /// As [`Description::weight`].
    pub(crate) fn block_weight(
        &mut self,
        block: u32,
        suffix: &str,
        axes: &[u64],
    ) -> Result<Value, Failure> {
        self.weight(&block_name(block, suffix), axes)
    }

    /// Whether the file has the tensor `blk.BLOCK.SUFFIX`.
    ///
    /// # Errors
    /// The host's.
    pub(crate) fn has_block_tensor(&self, block: u32, suffix: &str) -> Result<bool, Failure> {
        Ok(self.model.has_tensor(&block_name(block, suffix))?)
    }

    /// Rows of the token embedding; every other vocabulary must be of this length.
    ///
    /// # Errors
    /// Names the tensor where it is missing, has no row of the hidden length, or fewer rows than there are tokens.
    pub(crate) fn vocabulary(&self) -> Result<u64, Failure> {
        const NAME: &str = "token_embd.weight";
        let hidden = self.hyperparameters.hidden;
        let found = self.model.tensor(NAME)?.shape;
        match *found.axes() {
            [vocabulary, length] if length == hidden => {
                self.check_tokens(NAME, vocabulary)?;
                Ok(vocabulary)
            }
            [rows, ..] => Err(Refusal::TensorShape {
                name: NAME.to_owned(),
                found,
                wanted: Shape::new(&[rows, hidden]).unwrap_or(found),
            }
            .into()),
            [] => Err(Failure::internal("a tensor without axes")),
        }
    }

    /// Rows may be more than tokens, which some models pad, but not fewer.
    fn check_tokens(&self, table: &str, rows: u64) -> Result<(), Failure> {
        const TOKENS: &str = "tokenizer.ggml.tokens";
        match self.model.length(TOKENS)? {
            Some(tokens) if tokens > rows => Err(Refusal::Exceeds {
                key: format!("the length of {TOKENS}"),
                found: tokens,
                limit_key: format!("the rows of {table}"),
                limit: rows,
            }
            .into()),
            _ => Ok(()),
        }
    }

    /// The head's weight: its own, or the token embedding where the file ties the two.
    ///
    /// # Errors
    /// As [`Description::weight`].
    pub(crate) fn output_weight(&mut self, vocabulary: u64) -> Result<Value, Failure> {
        let hidden = self.hyperparameters.hidden;
        let name = if self.model.has_tensor("output.weight")? {
            "output.weight"
        } else {
            "token_embd.weight"
        };
        self.weight(name, &[vocabulary, hidden])
    }
}

fn block_name(block: u32, suffix: &str) -> String {
    format!("blk.{block}.{suffix}")
}
