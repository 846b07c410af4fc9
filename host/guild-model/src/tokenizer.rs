//! Text to token ids and back, built from a model's own metadata.
//!
//! Encoding has three steps. Marker tokens (`<|im_start|>`) are cut out of the text first; what is between is cut into
//! pieces by the family's pattern ([`pre_tokenizer`]); each piece, as bytes, is merged pair by pair into tokens (byte-level
//! BPE, by the `tokenizers` crate). Decoding joins the bytes of the tokens.
//!
//! The text is taken as it is: there is no Unicode normalisation, as llama.cpp's cases for these families show.
//!
//! A [`Tokenizer`] is immutable and may be used from any thread.

mod byte_level;
mod markers;
mod merges;
pub mod pre_tokenizer;
mod stream;
mod vocabulary;

pub use stream::{ControlTokens, StreamDecoder};
pub use vocabulary::TokenKind;

use crate::error::{ModelError, TokenizerDamage, Unsupported};
use crate::metadata::Metadata;
use markers::Markers;
use pre_tokenizer::PreTokenizer;
use vocabulary::Vocabulary;

/// The one value of `tokenizer.ggml.model` that guild knows: byte-level BPE.
const BYTE_LEVEL_BPE: &str = "gpt2";

/// A model's tokenizer.
pub struct Tokenizer {
    vocabulary: Vocabulary,
    markers: Markers,
    pieces: tokenizers::Tokenizer,
    special: SpecialTokens,
    ends: Vec<u32>,
}

/// The ids that a model file gives a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecialTokens {
    /// Begins a text, if the model has such a token.
    pub bos: Option<u32>,
    /// Ends a text or a turn.
    pub eos: Option<u32>,
    /// Fills unused places.
    pub padding: Option<u32>,
    /// Whether the model wants `bos` before every prompt. [`Tokenizer::encode`] does not add it.
    pub adds_bos: bool,
}

impl Tokenizer {
    /// Builds the tokenizer that a model file describes. Takes some tenths of a second for a quarter of a million tokens.
    ///
    /// # Errors
    /// - [`ModelError::Unsupported`] for a tokenizer model or a pre-tokenizer that guild does not know;
    /// - [`ModelError::Damaged`] when keys are missing or the vocabulary contradicts itself.
    pub fn from_metadata(metadata: &Metadata) -> Result<Self, ModelError> {
        let model: &str = metadata.require("tokenizer.ggml.model")?;
        if model != BYTE_LEVEL_BPE {
            return Err(Unsupported::TokenizerModel {
                found: model.to_owned(),
                supported: BYTE_LEVEL_BPE.to_owned(),
            }
            .into());
        }
        let family = pre_tokenizer::find(metadata.require("tokenizer.ggml.pre")?)?;
        let (vocabulary, ids) = vocabulary::read(metadata)?;
        let special = special_tokens(metadata, vocabulary.len())?;
        let markers = Markers::new(&vocabulary);
        let ends = end_tokens(family, &vocabulary, &ids, special.eos);
        let pieces = merges::build(metadata, family, ids)?;
        Ok(Self {
            vocabulary,
            markers,
            pieces,
            special,
            ends,
        })
    }

    /// Encodes `text`. User-defined tokens are found in it always, control tokens (`<|im_start|>`) only when
    /// `parse_special` says so: text from a user must not become control tokens. No token is added.
    ///
    /// # Errors
    /// - [`TokenizeError::WhitespaceRun`] for a text with an absurd run of white space;
    /// - [`TokenizeError::Internal`] when the merging library fails, which no text should cause.
    pub fn encode(&self, text: &str, parse_special: bool) -> Result<Vec<u32>, TokenizeError> {
        check_whitespace(text)?;
        let mut ids = Vec::with_capacity(text.len() / 3);
        for part in self.markers.split(text, parse_special) {
            match part {
                markers::Part::Marker(id) => ids.push(id),
                markers::Part::Text(text) => {
                    let encoding = self.pieces.encode_fast(text, false).map_err(|error| {
                        TokenizeError::Internal {
                            reason: error.to_string(),
                        }
                    })?;
                    ids.extend_from_slice(encoding.get_ids());
                }
            }
        }
        Ok(ids)
    }

    /// Decodes `ids`. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// [`TokenizeError::UnknownToken`] when an id is not in the vocabulary.
    pub fn decode(&self, ids: &[u32], control: ControlTokens) -> Result<String, TokenizeError> {
        let mut text = String::with_capacity(ids.len() * 4);
        let mut decoder = StreamDecoder::new(control);
        for &id in ids {
            decoder.push(self, id, &mut text)?;
        }
        decoder.finish(&mut text);
        Ok(text)
    }

    /// The bytes that a token stands for. They need not be UTF-8 on their own.
    ///
    /// # Errors
    /// [`TokenizeError::UnknownToken`] when the id is not in the vocabulary.
    pub fn token_bytes(&self, id: u32) -> Result<&[u8], TokenizeError> {
        self.vocabulary
            .bytes(id)
            .ok_or(TokenizeError::UnknownToken {
                id,
                tokens: self.vocabulary.len(),
            })
    }

    /// What kind of token an id is; `None` when it is not in the vocabulary.
    #[must_use]
    pub fn token_kind(&self, id: u32) -> Option<TokenKind> {
        self.vocabulary.kind(id)
    }

    /// Number of tokens. Ids are below it.
    #[must_use]
    pub fn vocabulary_len(&self) -> u32 {
        self.vocabulary.len()
    }

    /// The ids that the model file gives a role.
    #[must_use]
    pub const fn special_tokens(&self) -> SpecialTokens {
        self.special
    }

    /// Whether a model that emits this token is done: the file's end tokens and those of its family.
    #[must_use]
    pub fn ends_generation(&self, id: u32) -> bool {
        self.ends.contains(&id)
    }
}

impl std::fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokenizer")
            .field("vocabulary_len", &self.vocabulary.len())
            .field("special", &self.special)
            .field("ends", &self.ends)
            .finish_non_exhaustive()
    }
}

/// A failure of encoding or decoding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizeError {
    /// The caller gave an id that the model does not have.
    #[error("token id {id} does not exist; the vocabulary has {tokens} tokens, from 0")]
    UnknownToken {
        /// The id.
        id: u32,
        /// Length of the vocabulary.
        tokens: u32,
    },
    /// The text has a longer run of white space than the pattern can be trusted with.
    #[error(
        "the text has more than {limit_chars} white-space characters in a row; shorten the run"
    )]
    WhitespaceRun {
        /// The longest run that is accepted.
        limit_chars: usize,
    },
    /// The library that merges failed. It is guild's fault; the text is fine.
    #[error("encoding failed inside guild: {reason}; please report the text")]
    Internal {
        /// The library's reason.
        reason: String,
    },
}

/// The longest run of white space that [`Tokenizer::encode`] accepts. The pattern engine gives up after a million steps
/// back, of which such a run costs one a character, and the library would then cut the rest of the text wrongly without
/// a word.
const WHITESPACE_RUN_CHARS_MAX: usize = 100_000;

fn check_whitespace(text: &str) -> Result<(), TokenizeError> {
    let mut run = 0;
    for c in text.chars() {
        run = if c.is_whitespace() { run + 1 } else { 0 };
        if run > WHITESPACE_RUN_CHARS_MAX {
            return Err(TokenizeError::WhitespaceRun {
                limit_chars: WHITESPACE_RUN_CHARS_MAX,
            });
        }
    }
    Ok(())
}

fn special_tokens(metadata: &Metadata, tokens: u32) -> Result<SpecialTokens, ModelError> {
    let id = |key: &'static str| -> Result<Option<u32>, ModelError> {
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
    };
    Ok(SpecialTokens {
        bos: id("tokenizer.ggml.bos_token_id")?,
        eos: id("tokenizer.ggml.eos_token_id")?,
        padding: id("tokenizer.ggml.padding_token_id")?,
        adds_bos: metadata
            .get("tokenizer.ggml.add_bos_token")?
            .unwrap_or(false),
    })
}

/// The file's end token, and the family's where they are control tokens of this vocabulary.
fn end_tokens(
    family: &PreTokenizer,
    vocabulary: &Vocabulary,
    ids: &tokenizers::models::bpe::Vocab,
    eos: Option<u32>,
) -> Vec<u32> {
    let is_control = |id: &u32| vocabulary.kind(*id) == Some(TokenKind::Control);
    let of_family = family
        .end_texts
        .iter()
        .filter_map(|text| ids.get(*text).copied())
        .filter(is_control);
    let mut ends: Vec<u32> = eos.into_iter().chain(of_family).collect();
    ends.sort_unstable();
    ends.dedup();
    ends
}
