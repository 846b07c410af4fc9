//! SentencePiece's BPE (`tokenizer.ggml.model` = `llama`): characters merged into the pieces with the best scores.
//!
//! A space is written `▁` (U+2581). With `add_space_prefix` a text, and a text after a marker, begins with one that is
//! not in it; decoding takes it away again. A literal `▁` in a text cannot be told from a space and comes back as one.
//!
//! As in SentencePiece itself, control, unknown and byte tokens are never made by merging, and a token that is unused is
//! taken apart again into the two pieces that it was made of.

use std::collections::HashMap;
use std::ops::Range;

use super::error::check_word;
use super::merge::{Chain, Join, Joins, Symbol};
use super::vocabulary::{TokenKind, Vocabulary};
use super::{Encode, TokenizeError};
use crate::error::{ModelError, TokenizerDamage, Unsupported};
use crate::metadata::{Array, Metadata, Value};

/// How a space is written in the vocabulary.
pub(super) const SPACE: &str = "\u{2581}";

/// The encoder of a SentencePiece vocabulary.
pub(super) struct SentencePiece {
    pieces: HashMap<Box<str>, Piece>,
    /// Bytes of the longest piece.
    longest_bytes: usize,
    /// The token of each byte, if the vocabulary has byte tokens.
    bytes: Option<Box<[u32; 256]>>,
    /// Stands for what has no token, if there are no byte tokens.
    unknown: Option<u32>,
    /// Whether a text begins with a space that is not in it.
    space_prefix: bool,
    /// Whether no piece has `▁` after another character, so that a text can be merged word by word with the same result.
    word_by_word: bool,
}

/// A token that merging can make.
#[derive(Clone, Copy)]
struct Piece {
    id: u32,
    /// Position of its score among all scores, the highest first. Equal scores have equal ranks.
    rank: u32,
    is_unused: bool,
}

impl SentencePiece {
    /// Reads the scores and sorts the tokens by what they are for.
    ///
    /// # Errors
    /// - [`ModelError::Unsupported`] when the model asks for a normalisation that guild does not do;
    /// - [`ModelError::Damaged`] when scores or kinds are missing or contradict the vocabulary.
    pub(super) fn new(
        metadata: &Metadata,
        vocabulary: &Vocabulary,
        texts: &[&str],
        unknown: Option<u32>,
        space_prefix: bool,
    ) -> Result<Self, ModelError> {
        refuse_normalisation(metadata)?;
        // Without kinds, byte and control tokens would pass for text.
        metadata.require::<Array<'_>>("tokenizer.ggml.token_type")?;
        let ranks = read_ranks(metadata, texts.len())?;
        let mut pieces: HashMap<Box<str>, Piece> = HashMap::with_capacity(texts.len());
        for ((&text, &rank), id) in texts.iter().zip(&ranks).zip(0u32..) {
            let is_unused = match vocabulary.kind(id) {
                Some(TokenKind::Normal | TokenKind::UserDefined) => false,
                Some(TokenKind::Unused) => true,
                _ => continue,
            };
            let piece = Piece {
                id,
                rank,
                is_unused,
            };
            pieces.insert(text.into(), piece);
        }
        if !pieces.contains_key(SPACE) {
            return Err(TokenizerDamage::MissingSpace.into());
        }
        let inner_space = |piece: &str| piece.trim_start_matches(SPACE).contains(SPACE);
        Ok(Self {
            longest_bytes: pieces.keys().map(|piece| piece.len()).max().unwrap_or(0),
            word_by_word: !pieces.keys().any(|piece| inner_space(piece)),
            pieces,
            bytes: byte_tokens(vocabulary)?,
            unknown: unknown.or_else(|| first_unknown(vocabulary)),
            space_prefix,
        })
    }

    /// Merges one stretch of text in which spaces are written `▁`.
    fn encode_stretch(
        &self,
        text: &str,
        chain: &mut Chain,
        ids: &mut Vec<u32>,
    ) -> Result<(), char> {
        chain.clear();
        for (start, character) in text.char_indices() {
            let bytes = character.len_utf8();
            let piece = self.pieces.get(&text[start..start + bytes]);
            chain.push(bytes as u32, piece.map(|piece| piece.id));
        }
        let mut session = Session {
            model: self,
            text,
            halves: HashMap::new(),
        };
        chain.merge(&mut session);
        for symbol in chain.symbols() {
            match self.pieces.get(&text[symbol.range()]) {
                Some(piece) if piece.is_unused => self.take_apart(symbol.range(), &session, ids)?,
                Some(piece) => ids.push(piece.id),
                None => self.emit_without_token(&text[symbol.range()], ids)?,
            }
        }
        Ok(())
    }

    /// Appends the tokens of an unused piece's halves; a list instead of recursion, since a hostile vocabulary could
    /// nest them deeply.
    fn take_apart(
        &self,
        range: Range<usize>,
        session: &Session<'_>,
        ids: &mut Vec<u32>,
    ) -> Result<(), char> {
        let mut waiting = vec![range];
        while let Some(range) = waiting.pop() {
            let text = &session.text[range];
            match (self.pieces.get(text), session.halves.get(text)) {
                (Some(piece), Some((left, right))) if piece.is_unused => {
                    waiting.extend([right.clone(), left.clone()]);
                }
                (Some(piece), _) => ids.push(piece.id),
                (None, _) => self.emit_without_token(text, ids)?,
            }
        }
        Ok(())
    }

    /// Appends the byte tokens of a character, or one unknown token for a run of such characters.
    fn emit_without_token(&self, text: &str, ids: &mut Vec<u32>) -> Result<(), char> {
        match (&self.bytes, self.unknown) {
            (Some(bytes), _) => {
                ids.extend(text.bytes().map(|byte| bytes[usize::from(byte)]));
                Ok(())
            }
            (None, Some(unknown)) => {
                if ids.last() != Some(&unknown) {
                    ids.push(unknown);
                }
                Ok(())
            }
            (None, None) => text.chars().next().map_or(Ok(()), Err),
        }
    }
}

impl Encode for SentencePiece {
    fn encode(
        &self,
        text: &str,
        after_marker: bool,
        chain: &mut Chain,
        ids: &mut Vec<u32>,
    ) -> Result<(), TokenizeError> {
        let mut escaped = String::with_capacity(text.len() + text.len() / 4);
        if self.space_prefix && after_marker {
            escaped.push_str(SPACE);
        }
        for part in text.split_inclusive(' ') {
            match part.strip_suffix(' ') {
                Some(word) => escaped.extend([word, SPACE]),
                None => escaped.push_str(part),
            }
        }
        let mut rest = escaped.as_str();
        while !rest.is_empty() {
            let end = if self.word_by_word {
                word_end(rest)
            } else {
                rest.len()
            };
            let (stretch, after) = rest.split_at(end);
            check_word(stretch)?;
            self.encode_stretch(stretch, chain, ids)
                .map_err(|character| TokenizeError::NoToken {
                    character,
                    at: text.find(character).unwrap_or(0),
                })?;
            rest = after;
        }
        Ok(())
    }
}

/// End of the first word: before a `▁` that follows another character.
fn word_end(text: &str) -> usize {
    let spaces = text.len() - text.trim_start_matches(SPACE).len();
    text[spaces..]
        .find(SPACE)
        .map_or(text.len(), |end| spaces + end)
}

/// One stretch of text being merged.
struct Session<'m> {
    model: &'m SentencePiece,
    text: &'m str,
    /// Of each unused piece that could be made, the two halves of the pair found last.
    halves: HashMap<&'m str, (Range<usize>, Range<usize>)>,
}

impl Joins for Session<'_> {
    fn join(&mut self, left: &Symbol, right: &Symbol) -> Option<Join> {
        let (left, right) = (left.range(), right.range());
        if right.end - left.start > self.model.longest_bytes {
            return None;
        }
        let joined = &self.text[left.start..right.end];
        let piece = self.model.pieces.get(joined)?;
        if piece.is_unused {
            self.halves.insert(joined, (left, right));
        }
        Some(Join {
            rank: piece.rank,
            token: piece.id,
        })
    }
}

/// Rules that SentencePiece models of this kind don't have; a file that sets one is something else.
fn refuse_normalisation(metadata: &Metadata) -> Result<(), ModelError> {
    let collapses = "tokenizer.ggml.remove_extra_whitespaces";
    if metadata.get::<bool>(collapses)? == Some(true) {
        return Err(Unsupported::Normalisation { key: collapses }.into());
    }
    let charsmap = "tokenizer.ggml.precompiled_charsmap";
    if metadata
        .get::<Array<'_>>(charsmap)?
        .is_some_and(|map| !map.is_empty())
    {
        return Err(Unsupported::Normalisation { key: charsmap }.into());
    }
    Ok(())
}

/// The rank of each token's score.
fn read_ranks(metadata: &Metadata, tokens: usize) -> Result<Vec<u32>, ModelError> {
    let scores: Array<'_> = metadata.require("tokenizer.ggml.scores")?;
    if scores.len() != tokens as u64 {
        return Err(TokenizerDamage::ScoreCount {
            tokens: tokens as u64,
            scores: scores.len(),
        }
        .into());
    }
    let score = |(value, id): (Value<'_>, u32)| {
        let score = match value {
            Value::F32(score) => score,
            Value::I32(score) => score as f32,
            _ => f32::NAN,
        };
        match score.is_nan() {
            true => Err(TokenizerDamage::BadScore { id }),
            // Adding 0 makes the two zeros equal.
            false => Ok(score + 0.0),
        }
    };
    let scores: Vec<f32> = scores
        .iter()
        .zip(0u32..)
        .map(score)
        .collect::<Result<_, _>>()?;
    let mut distinct = scores.clone();
    distinct.sort_unstable_by(|a, b| b.total_cmp(a));
    distinct.dedup();
    let rank = |score: &f32| distinct.partition_point(|higher| higher > score) as u32;
    Ok(scores.iter().map(rank).collect())
}

/// The unknown token of a file that does not name it.
fn first_unknown(vocabulary: &Vocabulary) -> Option<u32> {
    (0..vocabulary.len()).find(|&id| vocabulary.kind(id) == Some(TokenKind::Unknown))
}

/// The byte tokens: all 256 or none.
fn byte_tokens(vocabulary: &Vocabulary) -> Result<Option<Box<[u32; 256]>>, TokenizerDamage> {
    let mut found = [None; 256];
    for id in 0..vocabulary.len() {
        if vocabulary.kind(id) == Some(TokenKind::Byte)
            && let Some(&[byte]) = vocabulary.bytes(id)
        {
            found[usize::from(byte)] = Some(id);
        }
    }
    if found.iter().all(Option::is_none) {
        return Ok(None);
    }
    let mut bytes = Box::new([0; 256]);
    for (byte, (slot, id)) in (0..=u8::MAX).zip(bytes.iter_mut().zip(found)) {
        *slot = id.ok_or(TokenizerDamage::MissingByte { byte })?;
    }
    Ok(Some(bytes))
}
