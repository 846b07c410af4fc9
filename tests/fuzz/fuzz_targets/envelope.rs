//! Feeds `guild_corpus::envelope`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = guild_corpus::envelope::run(data);
});
