//! Builds the merging pipeline: the family's pattern, bytes as characters, and the merge list.

use tokenizers::models::bpe::{BPE, Merges, Vocab};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{SplitDelimiterBehavior, Tokenizer};

use super::pre_tokenizer::PreTokenizer;
use crate::error::{ModelError, TokenizerDamage};
use crate::metadata::Metadata;

/// Builds the pipeline from the merge list of a model file and the ids of its texts.
pub(super) fn build(
    metadata: &Metadata,
    family: &PreTokenizer,
    ids: Vocab,
) -> Result<Tokenizer, ModelError> {
    let merges = read_merges(metadata, &ids)?;
    let model = BPE::builder()
        .vocab_and_merges(ids, merges)
        .build()
        .map_err(refused)?;
    let split = Split::new(
        SplitPattern::Regex(family.pattern.to_owned()),
        SplitDelimiterBehavior::Isolated,
        false,
    )
    .map_err(refused)?;
    let spell = ByteLevel::new(false, false, false);
    let mut tokenizer = Tokenizer::new(model);
    tokenizer.with_pre_tokenizer(Some(Sequence::new(vec![split.into(), spell.into()])));
    Ok(tokenizer)
}

/// Reads the merge list in order of rank. Both halves of each merge and what they make are tokens: the library panics on
/// some lists that break this.
fn read_merges(metadata: &Metadata, ids: &Vocab) -> Result<Merges, ModelError> {
    let texts: Vec<&str> = metadata.require_strings("tokenizer.ggml.merges")?;
    let mut merges = Merges::with_capacity(texts.len());
    let mut joined = String::new();
    for (text, index) in texts.into_iter().zip(0u64..) {
        let bad_merge = || TokenizerDamage::BadMerge {
            index,
            text: text.to_owned(),
        };
        let (left, right) = text.split_once(' ').ok_or_else(bad_merge)?;
        if left.is_empty() || right.is_empty() || right.contains(' ') {
            return Err(bad_merge().into());
        }
        joined.clear();
        joined.push_str(left);
        joined.push_str(right);
        if let Some(missing) = [left, right, &joined]
            .into_iter()
            .find(|&text| !ids.contains_key(text))
        {
            return Err(TokenizerDamage::MergeWithoutToken {
                index,
                text: missing.to_owned(),
            }
            .into());
        }
        merges.push((left.to_owned(), right.to_owned()));
    }
    Ok(merges)
}

/// The library refused what has passed every check here.
fn refused(error: tokenizers::Error) -> TokenizerDamage {
    TokenizerDamage::Refused {
        reason: error.to_string(),
    }
}
