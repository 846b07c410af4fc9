//! The vocabulary: each token's kind and the bytes that it stands for.

use std::collections::HashMap;

use super::byte_level::Alphabet;
use super::sentencepiece::SPACE;
use crate::error::{ModelError, TokenizerDamage};
use crate::metadata::{Array, Metadata, Value};

/// What a token is for, with GGUF's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Ordinary text.
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

    /// The kind with this number in a GGUF file.
    #[must_use]
    pub const fn from_number(number: i64) -> Option<Self> {
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

    /// The kind's name in listings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Unknown => "unknown",
            Self::Control => "control",
            Self::UserDefined => "user_defined",
            Self::Unused => "unused",
            Self::Byte => "byte",
        }
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

/// How a family writes the text of tokens that are no markers.
pub(super) enum Spelling {
    /// Bytes as printable characters.
    ByteLevel,
    /// `▁` for a space; byte tokens are `<0x00>` to `<0xFF>`.
    SentencePiece,
}

/// The longest text of a token. The longest ones that are known have 1,024 bytes.
const TOKEN_BYTES_MAX: usize = 4096;

/// Ids by text.
pub(super) type Ids<'m> = HashMap<&'m str, u32>;

/// Reads the vocabulary, and the text of each token as the file has it.
pub(super) fn read(
    metadata: &Metadata,
    spelling: Spelling,
) -> Result<(Vocabulary, Vec<&str>), ModelError> {
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
    for (&text, id) in texts.iter().zip(0u32..) {
        check_text(text, id)?;
        let kind = vocabulary.kind(id).unwrap_or(TokenKind::Normal);
        let bytes = &mut vocabulary.bytes;
        match (kind, &spelling) {
            _ if kind.is_marker() && text.is_empty() => {
                return Err(TokenizerDamage::EmptyMarker { id }.into());
            }
            _ if kind.is_marker() => bytes.extend_from_slice(text.as_bytes()),
            (_, Spelling::ByteLevel) => alphabet.decode(text, bytes),
            (TokenKind::Byte, Spelling::SentencePiece) => bytes.push(byte_of(text, id)?),
            (_, Spelling::SentencePiece) => {
                bytes.extend_from_slice(text.replace(SPACE, " ").as_bytes());
            }
        }
        vocabulary.ends.push(vocabulary.bytes.len());
    }
    Ok((vocabulary, texts))
}

/// The id of each text. Texts are unique.
pub(super) fn ids<'m>(texts: &[&'m str]) -> Result<Ids<'m>, TokenizerDamage> {
    let mut ids = Ids::with_capacity(texts.len());
    for (&text, id) in texts.iter().zip(0u32..) {
        if let Some(first) = ids.insert(text, id) {
            return Err(TokenizerDamage::DuplicateToken {
                first,
                second: id,
                text: text.to_owned(),
            });
        }
    }
    Ok(ids)
}

/// Refuses a text that would make looking tokens up slow.
const fn check_text(text: &str, id: u32) -> Result<(), TokenizerDamage> {
    if text.len() <= TOKEN_BYTES_MAX {
        return Ok(());
    }
    Err(TokenizerDamage::LongToken {
        id,
        bytes: text.len(),
        limit_bytes: TOKEN_BYTES_MAX,
    })
}

/// The byte that a SentencePiece byte token stands for.
fn byte_of(text: &str, id: u32) -> Result<u8, TokenizerDamage> {
    text.strip_prefix("<0x")
        .and_then(|rest| rest.strip_suffix('>'))
        .filter(|digits| digits.len() == 2 && digits.bytes().all(|c| c.is_ascii_hexdigit()))
        .and_then(|digits| u8::from_str_radix(digits, 16).ok())
        .ok_or_else(|| TokenizerDamage::BadByteToken {
            id,
            text: text.to_owned(),
        })
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
