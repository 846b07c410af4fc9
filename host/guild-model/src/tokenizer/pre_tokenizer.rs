//! The families of byte-level BPE that guild knows: how each cuts text into pieces before merging.
//!
//! A new family is one entry of the table and its golden cases.

use crate::error::Unsupported;

/// One family, named as in `tokenizer.ggml.pre`.
#[derive(Debug)]
pub struct PreTokenizer {
    /// The name in a model file.
    pub name: &'static str,
    /// Matches one piece. Source: the `pre_tokenizer` of the family's own `tokenizer.json`.
    pub pattern: &'static str,
    /// Control tokens that end a text or a turn, beside the one that the file names.
    pub end_texts: &'static [&'static str],
}

static FAMILIES: [PreTokenizer; 1] = [PreTokenizer {
    name: "qwen35",
    pattern: concat!(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)",
        r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+",
        r"|\p{N}",
        r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*",
        r"|\s*[\r\n]+",
        r"|\s+(?!\S)",
        r"|\s+",
    ),
    end_texts: &["<|endoftext|>", "<|im_end|>"],
}];

/// The family with this name.
///
/// # Errors
/// [`Unsupported::PreTokenizer`] with the names that there are.
pub fn find(name: &str) -> Result<&'static PreTokenizer, Unsupported> {
    FAMILIES
        .iter()
        .find(|family| family.name == name)
        .ok_or_else(|| Unsupported::PreTokenizer {
            found: name.to_owned(),
            supported: FAMILIES
                .iter()
                .map(|family| family.name)
                .collect::<Vec<_>>()
                .join(", "),
        })
}
