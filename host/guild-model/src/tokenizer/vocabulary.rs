//! The vocabulary: each token's kind and the bytes that it stands for.

use tokenizers::models::bpe::Vocab;

use super::byte_level::{self, Alphabet};
use crate::error::{ModelError, TokenizerDamage};
use crate::metadata::{Array, Metadata, Value};

/// What a token is for, with GGUF's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Ordinary text, spelled in the byte-level alphabet.
    Normal = 1,
    /// Stands for what cannot be encoded.
    Unknown = 2,
    /// Controls the model, such as `<|im_start|>`; found in text only on request.
    Control = 3,
    /// A marker that is always found in text, such as `<think>`.
    UserDefined = 4,
    /// A filler without meaning.
    Unused = 5,
    /// A single byte.
    Byte = 6,
}

impl TokenKind {
    /// Whether the token's text is literal and is cut out of a text before merging.
    pub(super) const fn is_marker(self) -> bool {
        matches!(self, Self::Unknown | Self::Control | Self::UserDefined)
    }

    /// Whether the token is no text: it can be hidden.
    pub(super) const fn is_control(self) -> bool {
        matches!(self, Self::Unknown | Self::Control)
    }

    const fn from_number(number: i64) -> Option<Self> {
        Some(match number {
            1 => Self::Normal,
            2 => Self::Unknown,
            3 => Self::Control,
            4 => Self::UserDefined,
            5 => Self::Unused,
            6 => Self::Byte,
            _ => return None,
        })
    }
}

/// Kinds and bytes of all tokens, by id.
pub(super) struct Vocabulary {
    kinds: Vec<TokenKind>,
    /// All tokens' bytes, one after the other.
    bytes: Vec<u8>,
    /// Where each token's bytes end.
    ends: Vec<usize>,
}

impl Vocabulary {
    /// Number of tokens.
    pub(super) fn len(&self) -> u32 {
        // The reader's limit on arrays keeps the length below 2^32.
        self.kinds.len() as u32
    }

    pub(super) fn kind(&self, id: u32) -> Option<TokenKind> {
        self.kinds.get(id as usize).copied()
    }

    /// The bytes that a token stands for.
    pub(super) fn bytes(&self, id: u32) -> Option<&[u8]> {
        let id = id as usize;
        let start = id
            .checked_sub(1)
            .map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.bytes.get(start..*self.ends.get(id)?)
    }
}

/// Reads the vocabulary and the id of each token's text. Texts are unique and every byte has a token.
pub(super) fn read(metadata: &Metadata) -> Result<(Vocabulary, Vocab), ModelError> {
    let tokens: Array<'_> = metadata.require("tokenizer.ggml.tokens")?;
    if tokens.is_empty() {
        return Err(TokenizerDamage::Empty.into());
    }
    let kinds = read_kinds(metadata, tokens.len())?;
    let texts: Vec<&str> = metadata.require_strings("tokenizer.ggml.tokens")?;
    let alphabet = Alphabet::new();
    let mut vocabulary = Vocabulary {
        kinds,
        bytes: Vec::new(),
        ends: Vec::with_capacity(texts.len()),
    };
    let mut ids = Vocab::with_capacity(texts.len());
    for (text, id) in texts.into_iter().zip(0u32..) {
        let is_marker = vocabulary.kind(id).is_some_and(TokenKind::is_marker);
        if is_marker && text.is_empty() {
            return Err(TokenizerDamage::EmptyMarker { id }.into());
        }
        if is_marker {
            vocabulary.bytes.extend_from_slice(text.as_bytes());
        } else {
            alphabet.decode(text, &mut vocabulary.bytes);
        }
        vocabulary.ends.push(vocabulary.bytes.len());
        if let Some(first) = ids.insert(text.to_owned(), id) {
            return Err(TokenizerDamage::DuplicateToken {
                first,
                second: id,
                text: text.to_owned(),
            }
            .into());
        }
    }
    check_bytes(&ids)?;
    Ok((vocabulary, ids))
}

/// The kinds of `tokens` tokens; all normal when the file gives none.
fn read_kinds(metadata: &Metadata, tokens: u64) -> Result<Vec<TokenKind>, ModelError> {
    let Some(types) = metadata.get::<Array<'_>>("tokenizer.ggml.token_type")? else {
        return Ok(vec![
            TokenKind::Normal;
            usize::try_from(tokens).unwrap_or(0)
        ]);
    };
    if types.len() != tokens {
        return Err(TokenizerDamage::TypeCount {
            tokens,
            types: types.len(),
        }
        .into());
    }
    let kind = |(value, id): (Value<'_>, u32)| {
        let found = value.as_i64().unwrap_or(-1);
        TokenKind::from_number(found).ok_or(TokenizerDamage::UnknownTokenType { id, found })
    };
    Ok(types
        .iter()
        .zip(0u32..)
        .map(kind)
        .collect::<Result<_, _>>()?)
}

/// Merging drops a byte without a token in silence, so there must be none.
fn check_bytes(ids: &Vocab) -> Result<(), TokenizerDamage> {
    for byte in 0..=u8::MAX {
        let spelled = byte_level::to_char(byte);
        if !ids.contains_key(spelled.encode_utf8(&mut [0; 4]) as &str) {
            return Err(TokenizerDamage::MissingByte { byte });
        }
    }
    Ok(())
}
