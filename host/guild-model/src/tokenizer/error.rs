//! Failures of encoding and decoding.

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
    /// The vocabulary has no token for a character of the text. Leaving it out would change the text in silence.
    #[error(
        "the model's vocabulary has no token for the character {character:?} at byte {at} of the text"
    )]
    NoToken {
        /// The character.
        character: char,
        /// Its first byte in the text.
        at: usize,
    },
    /// The text is longer than guild encodes in one call.
    #[error("the text has {bytes} bytes; at most {limit_bytes} are encoded at once")]
    TextTooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit_bytes: usize,
    },
    /// A part that must be merged as a whole is longer than guild has memory for.
    #[error("the text has a word of {bytes} bytes; at most {limit_bytes} are merged as one")]
    WordTooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit_bytes: usize,
    },
}

impl TokenizeError {
    /// The same failure in a text that begins `by` bytes earlier.
    pub(super) fn moved(self, by: usize) -> Self {
        match self {
            Self::NoToken { character, at } => Self::NoToken {
                character,
                at: at + by,
            },
            other => other,
        }
    }
}

/// The longest text that is encoded in one call.
const TEXT_BYTES_MAX: usize = 1 << 30;

/// The longest word: merging takes up to 90 bytes of memory a byte, so it bounds that memory by 1.5 GiB.
const WORD_BYTES_MAX: usize = 1 << 24;

pub(super) const fn check_text(text: &str) -> Result<(), TokenizeError> {
    if text.len() <= TEXT_BYTES_MAX {
        return Ok(());
    }
    Err(TokenizeError::TextTooLong {
        bytes: text.len(),
        limit_bytes: TEXT_BYTES_MAX,
    })
}

pub(super) const fn check_word(word: &str) -> Result<(), TokenizeError> {
    if word.len() <= WORD_BYTES_MAX {
        return Ok(());
    }
    Err(TokenizeError::WordTooLong {
        bytes: word.len(),
        limit_bytes: WORD_BYTES_MAX,
    })
}
