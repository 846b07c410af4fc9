//! Byte-level BPE (`tokenizer.ggml.model` = `gpt2`): pieces of text, as bytes, merged pair by pair.

use std::collections::HashMap;

use super::byte_level;
use super::error::check_word;
use super::merge::{Chain, Join, Joins, Symbol};
use super::pre_tokenizer::PreTokenizer;
use super::vocabulary::{Ids, TokenKind, Vocabulary};
use super::{Encode, TokenizeError};
use crate::error::{ModelError, TokenizerDamage};
use crate::metadata::Metadata;

/// The encoder of a byte-level vocabulary.
pub(super) struct ByteLevelBpe {
    pre_tokenizer: PreTokenizer,
    /// The token of each byte; some vocabularies lack some.
    bytes: [Option<u32>; 256],
    merges: Merges,
    /// Normal tokens by their bytes, where a family takes whole pieces.
    pieces: HashMap<Box<[u8]>, u32>,
}

/// What two tokens become, by both.
struct Merges(HashMap<(u32, u32), Join>);

impl ByteLevelBpe {
    /// Reads the merge list and prepares the family's patterns.
    ///
    /// # Errors
    /// [`ModelError::Damaged`] when the list contradicts the vocabulary.
    pub(super) fn new(
        metadata: &Metadata,
        pre_tokenizer: PreTokenizer,
        vocabulary: &Vocabulary,
        ids: &Ids<'_>,
    ) -> Result<Self, ModelError> {
        let mut bytes = [None; 256];
        for byte in 0..=u8::MAX {
            let spelled = byte_level::to_char(byte);
            bytes[usize::from(byte)] = ids.get(spelled.encode_utf8(&mut [0; 4]) as &str).copied();
        }
        let mut pieces = HashMap::new();
        if pre_tokenizer.whole_pieces {
            for id in 0..vocabulary.len() {
                if vocabulary.kind(id) == Some(TokenKind::Normal)
                    && let Some(bytes) = vocabulary.bytes(id)
                {
                    pieces.insert(bytes.into(), id);
                }
            }
        }
        Ok(Self {
            pre_tokenizer,
            bytes,
            merges: Merges::read(metadata, ids)?,
            pieces,
        })
    }

    /// Appends the tokens of a piece that begins at byte `at` of the text.
    fn encode_piece(
        &self,
        piece: &str,
        at: usize,
        chain: &mut Chain,
        ids: &mut Vec<u32>,
    ) -> Result<(), TokenizeError> {
        check_word(piece)?;
        if let Some(&id) = self.pieces.get(piece.as_bytes()) {
            ids.push(id);
            return Ok(());
        }
        chain.clear();
        for (offset, character) in piece.char_indices() {
            for &byte in character.encode_utf8(&mut [0; 4]).as_bytes() {
                let token = self.bytes[usize::from(byte)].ok_or(TokenizeError::NoToken {
                    character,
                    at: at + offset,
                })?;
                chain.push(1, Some(token));
            }
        }
        chain.merge(&mut &self.merges);
        ids.extend(chain.symbols().filter_map(|symbol| symbol.token));
        Ok(())
    }
}

impl Encode for ByteLevelBpe {
    fn encode(
        &self,
        text: &str,
        _after_marker: bool,
        chain: &mut Chain,
        ids: &mut Vec<u32>,
    ) -> Result<(), TokenizeError> {
        let (mut result, mut at) = (Ok(()), 0);
        self.pre_tokenizer.cut(text, &mut |piece| {
            if result.is_ok() {
                result = self.encode_piece(piece, at, chain, ids);
            }
            at += piece.len();
        });
        result
    }
}

impl Joins for &Merges {
    fn join(&mut self, left: &Symbol, right: &Symbol) -> Option<Join> {
        self.0.get(&(left.token?, right.token?)).copied()
    }
}

impl Merges {
    /// Reads the merge list, which is in order of rank. Both halves of each merge and what they make are tokens, and no
    /// pair is there twice.
    fn read(metadata: &Metadata, ids: &Ids<'_>) -> Result<Self, ModelError> {
        let texts: Vec<&str> = metadata.require_strings("tokenizer.ggml.merges")?;
        let mut merges = HashMap::with_capacity(texts.len());
        let mut joined = String::new();
        for (text, rank) in texts.into_iter().zip(0u32..) {
            let bad_merge = || TokenizerDamage::BadMerge {
                index: rank.into(),
                text: text.to_owned(),
            };
            let (left, right) = text.split_once(' ').ok_or_else(bad_merge)?;
            if left.is_empty() || right.is_empty() || right.contains(' ') {
                return Err(bad_merge().into());
            }
            joined.clear();
            joined.push_str(left);
            joined.push_str(right);
            let id = |text: &str| {
                ids.get(text)
                    .copied()
                    .ok_or_else(|| TokenizerDamage::MergeWithoutToken {
                        index: rank.into(),
                        text: text.to_owned(),
                    })
            };
            let pair = (id(left)?, id(right)?);
            let token = id(&joined)?;
            if merges.insert(pair, Join { rank, token }).is_some() {
                return Err(TokenizerDamage::DuplicateMerge {
                    index: rank.into(),
                    text: text.to_owned(),
                }
                .into());
            }
        }
        Ok(Self(merges))
    }
}
