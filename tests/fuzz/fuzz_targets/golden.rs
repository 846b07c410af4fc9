//! Feeds `guild_corpus::golden`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = guild_corpus::golden::run(data);
});
