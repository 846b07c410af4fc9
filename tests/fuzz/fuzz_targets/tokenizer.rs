//! Builds the tokenizer that arbitrary bytes describe, and encodes and decodes a text with it.
#![no_main]

use guild_model::{ControlTokens, Tokenizer, gguf};

/// Markers, white space, digits, scripts, and a run that merges with itself.
const TEXT: &str = "<s>Hello,  world!</s>\n\t<|im_start|>naïve 漢字 🦙 12345 aaaaaaaaaaaaaaaaaaaaaaaa ▁▁ 'll";

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(file) = gguf::parse(data) else { return };
    let Ok(tokenizer) = Tokenizer::from_metadata(&file.metadata) else {
        return;
    };
    for parse_special in [true, false] {
        if let Ok(ids) = tokenizer.encode(TEXT, parse_special) {
            tokenizer
                .decode(&ids, ControlTokens::Show)
                .expect("the tokenizer knows its own ids");
        }
    }
});
