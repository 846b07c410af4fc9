//! Feeds `guild_corpus::manifest`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = guild_corpus::manifest::run(data);
});
