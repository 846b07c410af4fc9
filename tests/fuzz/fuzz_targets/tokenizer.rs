//! Feeds `guild_corpus::tokenizer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = guild_corpus::tokenizer::run(data);
});
