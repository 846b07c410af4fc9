//! What the metadata says about the tokenizer, and whether guild can use it.

use super::facts::read;
use guild_model::tokenizer::TokenKind;
use guild_model::{Array, FromValue, Metadata, Tokenizer};
use serde::Serialize;
use std::collections::BTreeMap;

const PREFIX: &str = "tokenizer.ggml.";

/// The roles that are shown: GGUF's `*_token_id` keys, older names included. A file may have any number of
/// other keys of that form.
const ROLES: [&str; 18] = [
    "bos",
    "eos",
    "eot",
    "eom",
    "unknown",
    "seperator",
    "padding",
    "cls",
    "mask",
    "fim_pre",
    "fim_suf",
    "fim_mid",
    "fim_pad",
    "fim_rep",
    "fim_sep",
    "prefix",
    "suffix",
    "middle",
];

/// A model's tokenizer, as it stands in JSON.
#[derive(Debug, Serialize)]
pub struct TokenizerFacts {
    pub model: Option<String>,
    /// How text is cut before merging.
    pub pre_tokenizer: Option<String>,
    pub tokens: Option<u64>,
    pub merges: Option<u64>,
    /// Tokens by kind; empty where the file gives no kinds.
    pub kinds: BTreeMap<&'static str, u64>,
    pub special_tokens: Vec<SpecialToken>,
    /// Whether guild can turn text into this model's tokens.
    pub usable: bool,
    /// Why not.
    pub reason: Option<String>,
}

/// A token that the file gives a role.
#[derive(Debug, Serialize)]
pub struct SpecialToken {
    /// The key without `tokenizer.ggml.` and `_token_id`, such as `bos`.
    pub role: String,
    pub id: i64,
    /// `None` where the vocabulary has no such token.
    pub text: Option<String>,
}

/// `None` when the metadata has nothing about a tokenizer.
pub fn describe(metadata: &Metadata) -> Option<TokenizerFacts> {
    if !metadata.iter().any(|(key, _)| key.starts_with(PREFIX)) {
        return None;
    }
    let text = |key: &str| read::<&str>(metadata, &format!("{PREFIX}{key}")).map(str::to_owned);
    let array = |key: &str| read::<Array<'_>>(metadata, &format!("{PREFIX}{key}"));
    let reason = Tokenizer::from_metadata(metadata).err();
    Some(TokenizerFacts {
        model: text("model"),
        pre_tokenizer: text("pre"),
        tokens: array("tokens").map(|tokens| tokens.len()),
        merges: array("merges").map(|merges| merges.len()),
        kinds: array("token_type").map(kinds).unwrap_or_default(),
        special_tokens: special_tokens(metadata, array("tokens")),
        usable: reason.is_none(),
        reason: reason.map(|error| error.to_string()),
    })
}

fn kinds(types: Array<'_>) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for kind in types.iter() {
        let known = kind.as_i64().and_then(TokenKind::from_number);
        *counts
            .entry(known.map_or("other", TokenKind::name))
            .or_default() += 1;
    }
    counts
}

/// The known roles in the order of the file, and the texts of their tokens in one walk over the vocabulary.
fn special_tokens(metadata: &Metadata, tokens: Option<Array<'_>>) -> Vec<SpecialToken> {
    let special = metadata.iter().filter_map(|(key, value)| {
        let role = key.strip_prefix(PREFIX)?.strip_suffix("_token_id")?;
        ROLES.contains(&role).then_some(())?;
        Some(SpecialToken {
            role: role.to_owned(),
            id: value.as_i64()?,
            text: None,
        })
    });
    let mut special: Vec<SpecialToken> = special.collect();
    let last = special.iter().map(|token| token.id).max();
    let walked = tokens.into_iter().flat_map(|tokens| tokens.iter());
    for (value, id) in walked.zip(0i64..=last.unwrap_or(-1)) {
        for token in special.iter_mut().filter(|token| token.id == id) {
            token.text = <&str as FromValue<'_>>::from_value(value).map(str::to_owned);
        }
    }
    special
}
