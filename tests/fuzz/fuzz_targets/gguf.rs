//! Reads arbitrary bytes as a GGUF file.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = guild_model::gguf::parse(data);
});
