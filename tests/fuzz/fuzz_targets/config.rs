//! Feeds `guild_corpus::config`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = guild_corpus::config::run(data);
});
