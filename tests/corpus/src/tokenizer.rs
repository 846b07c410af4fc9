//! The tokenizer that arbitrary bytes describe, and a text that it encodes and decodes.

use guild_model::{ControlTokens, Tokenizer, gguf};

/// Markers, white space, digits, scripts, and a run that merges with itself.
const TEXT: &str =
    "<s>Hello,  world!</s>\n\t<|im_start|>naïve 漢字 🦙 12345 aaaaaaaaaaaaaaaaaaaaaaaa ▁▁ 'll";

/// Whether `data` is a model file with a tokenizer.
///
/// # Panics
/// If the tokenizer can't decode its own ids.
#[must_use]
pub fn run(data: &[u8]) -> bool {
    let Ok(file) = gguf::parse(data) else {
        return false;
    };
    let Ok(tokenizer) = Tokenizer::from_metadata(&file.metadata) else {
        return false;
    };
    for parse_special in [true, false] {
        if let Ok(ids) = tokenizer.encode(TEXT, parse_special) {
            tokenizer
                .decode(&ids, ControlTokens::Show)
                .expect("the tokenizer knows its own ids");
        }
    }
    true
}
