//! Feeds `guild_corpus::key_record`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = guild_corpus::key_record::run(data);
});
