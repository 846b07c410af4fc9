//! Decodes tokens as they come, without ever cutting a character in two.

use super::{TokenizeError, Tokenizer};

/// Collects the bytes of tokens and hands out whole characters. What it hands out in all is what
/// [`Tokenizer::decode`] makes of the same ids.
#[derive(Clone, Debug, Default)]
pub struct StreamDecoder {
    /// The start of a character whose other bytes have not come; at most 3 bytes.
    pending: Vec<u8>,
}

impl StreamDecoder {
    /// A decoder at the start of a text.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            pending: Vec::new(),
        }
    }

    /// Takes one token and returns the text that is certain now, which may be empty. Bytes that cannot become a
    /// character are U+FFFD.
    ///
    /// # Errors
    /// [`TokenizeError::UnknownToken`] when the id is not in the vocabulary; the decoder is as before.
    pub fn push(&mut self, tokenizer: &Tokenizer, id: u32) -> Result<String, TokenizeError> {
        self.pending.extend_from_slice(tokenizer.token_bytes(id)?);
        let certain = self.pending.len() - incomplete_bytes(&self.pending);
        let text = String::from_utf8_lossy(&self.pending[..certain]).into_owned();
        self.pending.drain(..certain);
        Ok(text)
    }

    /// Ends the text: a character whose other bytes never came is U+FFFD.
    #[must_use]
    pub fn finish(self) -> String {
        String::from_utf8_lossy(&self.pending).into_owned()
    }
}

/// Length of the character at the end of `bytes` that has begun well and is not complete.
fn incomplete_bytes(bytes: &[u8]) -> usize {
    // A character has at most 4 bytes, so an incomplete one starts in the last 3.
    for len in 1..=bytes.len().min(3) {
        let tail = &bytes[bytes.len() - len..];
        if let Err(error) = std::str::from_utf8(tail)
            && error.valid_up_to() == 0
            && error.error_len().is_none()
        {
            return len;
        }
    }
    0
}
