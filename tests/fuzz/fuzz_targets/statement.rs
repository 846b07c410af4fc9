//! Feeds `guild_corpus::statement`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = guild_corpus::statement::run(data);
});
