//! Decodes tokens as they come, without ever cutting a character in two.

use super::{TokenKind, TokenizeError, Tokenizer};

/// What a decoder makes of control tokens (`<|im_end|>`) and unknown tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ControlTokens {
    /// Their text is part of the output.
    #[default]
    Show,
    /// They are left out. User-defined tokens are text and stay.
    Hide,
}

/// Collects the bytes of tokens and hands out whole characters. What it hands out in all is what
/// [`Tokenizer::decode`] makes of the same ids.
///
/// It allocates nothing itself; the caller's buffer grows to what one token needs and can be used again and again. One
/// decoder is one text: share it with no other thread while a call runs.
#[derive(Clone, Debug)]
pub struct StreamDecoder {
    control: ControlTokens,
    /// Whether the next token begins a text, or follows a marker: then the space that encoding added there is taken away.
    after_marker: bool,
    /// The start of a character whose other bytes have not come.
    pending: [u8; PENDING_BYTES],
    pending_len: usize,
}

/// A character has at most 4 bytes, so at most 3 can be waiting.
const PENDING_BYTES: usize = 3;

impl StreamDecoder {
    /// A decoder at the start of a text.
    #[must_use]
    pub const fn new(control: ControlTokens) -> Self {
        Self {
            control,
            after_marker: true,
            pending: [0; PENDING_BYTES],
            pending_len: 0,
        }
    }

    /// The same decoder for ids that continue a text: a SentencePiece token's leading space is then part of the output.
    #[must_use]
    pub const fn continuing(mut self) -> Self {
        self.after_marker = false;
        self
    }

    /// Takes one token and appends to `out` the text that is certain now, which may be none. Bytes that cannot become a
    /// character are U+FFFD, one for each maximal subpart, as in [`String::from_utf8_lossy`].
    ///
    /// # Errors
    /// [`TokenizeError::UnknownToken`] when the id is not in the vocabulary; the decoder and `out` are as before.
    pub fn push(
        &mut self,
        tokenizer: &Tokenizer,
        id: u32,
        out: &mut String,
    ) -> Result<(), TokenizeError> {
        let mut bytes = tokenizer.token_bytes(id)?;
        let kind = tokenizer.token_kind(id).unwrap_or(TokenKind::Normal);
        if self.after_marker && tokenizer.adds_space(kind) {
            bytes = bytes.strip_prefix(b" ").unwrap_or(bytes);
        }
        self.after_marker = kind.is_marker();
        if self.control == ControlTokens::Show || !kind.is_control() {
            self.push_bytes(bytes, out);
        }
        Ok(())
    }

    /// Ends the text: a character whose other bytes never came is U+FFFD. The decoder is at the start of a text again.
    pub fn finish(&mut self, out: &mut String) {
        self.after_marker = true;
        if std::mem::take(&mut self.pending_len) > 0 {
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }

    /// Takes bytes and hands out the characters that they end.
    fn push_bytes(&mut self, bytes: &[u8], out: &mut String) {
        let mut rest = bytes;
        // Byte by byte while a character is unfinished: its end, or the byte that breaks it, is at most 3 away.
        while self.pending_len > 0
            && let Some((&next, after)) = rest.split_first()
        {
            let mut joined = [0; PENDING_BYTES + 1];
            joined[..self.pending_len].copy_from_slice(&self.pending[..self.pending_len]);
            joined[self.pending_len] = next;
            let joined = &joined[..=self.pending_len];
            match std::str::from_utf8(joined) {
                Ok(character) => out.push_str(character),
                Err(error) if error.error_len().is_none() => {
                    self.pending[self.pending_len] = next;
                    self.pending_len += 1;
                    rest = after;
                    continue;
                }
                Err(_) => {
                    // What was waiting is broken; the new byte may begin something.
                    out.push(char::REPLACEMENT_CHARACTER);
                    self.pending_len = 0;
                    break;
                }
            }
            self.pending_len = 0;
            rest = after;
        }
        for chunk in rest.utf8_chunks() {
            out.push_str(chunk.valid());
            self.push_broken(chunk.invalid(), out);
        }
    }

    /// Takes what does not decode: kept if more bytes could complete it, else U+FFFD.
    fn push_broken(&mut self, invalid: &[u8], out: &mut String) {
        let Err(error) = std::str::from_utf8(invalid) else {
            return;
        };
        if error.error_len().is_some() {
            out.push(char::REPLACEMENT_CHARACTER);
            return;
        }
        // Incomplete, which only the last chunk can be: a chunk ends where the next byte does not fit.
        self.pending[..invalid.len()].copy_from_slice(invalid);
        self.pending_len = invalid.len();
    }
}

impl Default for StreamDecoder {
    fn default() -> Self {
        Self::new(ControlTokens::default())
    }
}
