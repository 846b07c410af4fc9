//! Feeds `guild_corpus::audit`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = guild_corpus::audit::run(data);
});
