//! Text to token ids and back, built from a model's own metadata.
//!
//! Marker tokens (`<|im_start|>`) are cut out of the text first ([`markers`]). What is between goes to the encoder of the
//! model's family, which is chosen once, at load: [`byte_level_bpe`], which cuts it into pieces ([`pre_tokenizer`]) and
//! merges their bytes, or [`sentencepiece`], which merges characters by score. Both share the loop that merges
//! ([`merge`]). Decoding joins the bytes of the tokens ([`stream`]).
//!
//! The text is taken as it is: there is no Unicode normalisation, as llama.cpp's cases for these families show.
//!
//! A [`Tokenizer`] is immutable and may be used from any thread.

mod byte_level;
mod byte_level_bpe;
mod error;
mod markers;
mod merge;
mod pre_tokenizer;
mod roles;
mod sentencepiece;
mod stream;
mod vocabulary;

pub use error::TokenizeError;
pub use roles::SpecialTokens;
pub use stream::{ControlTokens, StreamDecoder};
pub use vocabulary::TokenKind;

use crate::error::{ModelError, Unsupported};
use crate::metadata::Metadata;
use byte_level_bpe::ByteLevelBpe;
use markers::{Markers, Part};
use merge::Chain;
use pre_tokenizer::PreTokenizer;
use sentencepiece::SentencePiece;
use vocabulary::{Spelling, Vocabulary};

/// The values of `tokenizer.ggml.model` that guild knows.
const MODELS: &str = "gpt2, llama";

/// A model's tokenizer.
pub struct Tokenizer {
    vocabulary: Vocabulary,
    markers: Markers,
    encoder: Box<dyn Encode>,
    special: SpecialTokens,
    /// Ascending.
    ends: Vec<u32>,
    /// Whether encoding begins a text, and a text after a marker, with a space that decoding takes away.
    space_prefix: bool,
}

/// A family's way from text without markers to ids.
trait Encode: Send + Sync {
    /// Appends the ids of `text`. `after_marker`: the text is the first, or a marker is before it. `chain` is working
    /// memory. Places in errors count from the start of `text`.
    fn encode(
        &self,
        text: &str,
        after_marker: bool,
        chain: &mut Chain,
        ids: &mut Vec<u32>,
    ) -> Result<(), TokenizeError>;
}

impl Tokenizer {
    /// Builds the tokenizer that a model file describes. Takes some tenths of a second for a quarter of a million tokens.
    ///
    /// # Errors
    /// - [`ModelError::Unsupported`] for a tokenizer model or a pre-tokenizer that guild does not know;
    /// - [`ModelError::Damaged`] when keys are missing or the vocabulary contradicts itself.
    pub fn from_metadata(metadata: &Metadata) -> Result<Self, ModelError> {
        let model: &str = metadata.require("tokenizer.ggml.model")?;
        match model {
            "gpt2" => Self::byte_level(metadata),
            "llama" => Self::sentencepiece(metadata),
            _ => Err(Unsupported::TokenizerModel {
                found: model.to_owned(),
                supported: MODELS.to_owned(),
            }
            .into()),
        }
    }

    fn byte_level(metadata: &Metadata) -> Result<Self, ModelError> {
        // Without the key the family is anybody's guess.
        let pre = metadata.get("tokenizer.ggml.pre")?.unwrap_or("");
        let pre_tokenizer = PreTokenizer::find(pre)?;
        let (vocabulary, texts) = vocabulary::read(metadata, Spelling::ByteLevel)?;
        let ids = vocabulary::ids(&texts)?;
        let special = SpecialTokens::read(metadata, &vocabulary, pre_tokenizer.adds_bos)?;
        let ends = roles::end_tokens(metadata, &vocabulary, &ids)?;
        let encoder = ByteLevelBpe::new(metadata, pre_tokenizer, &vocabulary, &ids)?;
        Ok(Self {
            markers: Markers::new(&vocabulary),
            encoder: Box::new(encoder),
            vocabulary,
            special,
            ends,
            space_prefix: false,
        })
    }

    fn sentencepiece(metadata: &Metadata) -> Result<Self, ModelError> {
        let (vocabulary, texts) = vocabulary::read(metadata, Spelling::SentencePiece)?;
        let ids = vocabulary::ids(&texts)?;
        let special = SpecialTokens::read(metadata, &vocabulary, true)?;
        let ends = roles::end_tokens(metadata, &vocabulary, &ids)?;
        let space_prefix = metadata
            .get("tokenizer.ggml.add_space_prefix")?
            .unwrap_or(true);
        let encoder =
            SentencePiece::new(metadata, &vocabulary, &texts, special.unknown, space_prefix)?;
        Ok(Self {
            markers: Markers::new(&vocabulary),
            encoder: Box::new(encoder),
            vocabulary,
            special,
            ends,
            space_prefix,
        })
    }

    /// Encodes `text`. User-defined tokens are found in it always, control tokens (`<|im_start|>`) only when
    /// `parse_special` says so. No token is added.
    ///
    /// With `parse_special` whoever wrote the text can write control tokens. A raw prompt is encoded so, because its
    /// markers are meant, and so is the text that a chat template makes, whose markers can't be told from those that a
    /// message holds. Without it such text is text: for what must not be able to end a turn or begin one.
    ///
    /// Takes time in proportion to the text, times the logarithm of its longest word.
    ///
    /// # Errors
    /// - [`TokenizeError::NoToken`] for a character that the vocabulary cannot express;
    /// - [`TokenizeError::TextTooLong`] and [`TokenizeError::WordTooLong`] beyond the limits.
    pub fn encode(&self, text: &str, parse_special: bool) -> Result<Vec<u32>, TokenizeError> {
        self.encode_after(None, text, parse_special)
    }

    /// The beginning-of-text token, where the model has one and wants it before a sequence
    /// ([`SpecialTokens::adds_bos`]).
    #[must_use]
    pub fn sequence_start(&self) -> Option<u32> {
        self.special.bos.filter(|_| self.special.adds_bos)
    }

    /// Encodes the text that a sequence begins with: [`Self::encode`]'s ids, after [`Self::sequence_start`].
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn encode_prompt(
        &self,
        text: &str,
        parse_special: bool,
    ) -> Result<Vec<u32>, TokenizeError> {
        self.encode_after(self.sequence_start(), text, parse_special)
    }

    /// The ids of `text` after the id `first`, if there is one.
    fn encode_after(
        &self,
        first: Option<u32>,
        text: &str,
        parse_special: bool,
    ) -> Result<Vec<u32>, TokenizeError> {
        error::check_text(text)?;
        let mut ids = Vec::with_capacity(1 + text.len() / 3);
        ids.extend(first);
        let mut chain = Chain::default();
        let mut after_marker = true;
        for part in self.markers.split(text, parse_special) {
            match part {
                Part::Marker(id) => ids.push(id),
                Part::Text { text, start } => self
                    .encoder
                    .encode(text, after_marker, &mut chain, &mut ids)
                    .map_err(|error| error.moved(start))?,
            }
            after_marker = matches!(part, Part::Marker(_));
        }
        Ok(ids)
    }

    /// Decodes `ids` as one text. Bytes that are not UTF-8 become U+FFFD.
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

    /// Whether encoding puts a space before such a token at the start of a text.
    const fn adds_space(&self, kind: TokenKind) -> bool {
        self.space_prefix && matches!(kind, TokenKind::Normal | TokenKind::Unused)
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

    /// Whether a model that emits this token is done: the file's end tokens, and control tokens that say so.
    #[must_use]
    pub fn ends_generation(&self, id: u32) -> bool {
        self.ends.binary_search(&id).is_ok()
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
