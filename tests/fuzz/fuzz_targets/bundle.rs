//! Feeds `guild_corpus::bundle`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = guild_corpus::bundle::run(data);
});
