//! Tokens with a role: which begin and end a text or a turn.

use super::vocabulary::{Ids, TokenKind, Vocabulary};
use crate::error::{ModelError, TokenizerDamage};
use crate::metadata::Metadata;

/// The ids that a model file gives a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecialTokens {
    /// Begins a text, if the model has such a token.
    pub bos: Option<u32>,
    /// Ends a text or a turn.
    pub eos: Option<u32>,
    /// Fills unused places.
    pub padding: Option<u32>,
    /// Stands for what has no token.
    pub unknown: Option<u32>,
    /// Whether the model wants `bos` before every prompt. [`super::Tokenizer::encode`] does not add it.
    pub adds_bos: bool,
    /// Whether the model wants `eos` after every text, which models that generate don't.
    /// [`super::Tokenizer::encode`] does not add it.
    pub adds_eos: bool,
}

impl SpecialTokens {
    /// Reads the roles. `adds_bos` is what the family does when the file does not say.
    pub(super) fn read(
        metadata: &Metadata,
        vocabulary: &Vocabulary,
        adds_bos: bool,
    ) -> Result<Self, ModelError> {
        let id = |key| read_id(metadata, key, vocabulary.len());
        let flag = |key| metadata.get::<bool>(key);
        Ok(Self {
            bos: id("tokenizer.ggml.bos_token_id")?,
            eos: id("tokenizer.ggml.eos_token_id")?,
            padding: id("tokenizer.ggml.padding_token_id")?,
            unknown: id("tokenizer.ggml.unknown_token_id")?,
            adds_bos: flag("tokenizer.ggml.add_bos_token")?.unwrap_or(adds_bos),
            adds_eos: flag("tokenizer.ggml.add_eos_token")?.unwrap_or(false),
        })
    }
}

fn read_id(metadata: &Metadata, key: &'static str, tokens: u32) -> Result<Option<u32>, ModelError> {
    let Some(id) = metadata.get::<u64>(key)? else {
        return Ok(None);
    };
    match u32::try_from(id) {
        Ok(id) if id < tokens => Ok(Some(id)),
        _ => Err(TokenizerDamage::IdOutOfRange {
            key,
            id,
            tokens: tokens.into(),
        }
        .into()),
    }
}

/// Keys of tokens that end a text, a turn or a message.
const END_KEYS: [&str; 3] = [
    "tokenizer.ggml.eos_token_id",
    "tokenizer.ggml.eot_token_id",
    "tokenizer.ggml.eom_token_id",
];

/// Control tokens that end a text or a turn by what they say. Many files name only one of theirs.
const END_TEXTS: [&str; 9] = [
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<end_of_turn>",
    "</s>",
    "<eos>",
];

/// The end tokens: those that the file names, and those that say so and are control tokens. Ascending.
pub(super) fn end_tokens(
    metadata: &Metadata,
    vocabulary: &Vocabulary,
    ids: &Ids<'_>,
) -> Result<Vec<u32>, ModelError> {
    let mut ends = Vec::new();
    for key in END_KEYS {
        ends.extend(read_id(metadata, key, vocabulary.len())?);
    }
    let is_control = |id: &u32| vocabulary.kind(*id) == Some(TokenKind::Control);
    let by_text = END_TEXTS.iter().filter_map(|text| ids.get(*text).copied());
    ends.extend(by_text.filter(is_control));
    ends.sort_unstable();
    ends.dedup();
    Ok(ends)
}
