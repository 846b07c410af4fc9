//! Feeds `guild_corpus::gguf`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = guild_corpus::gguf::run(data);
});
