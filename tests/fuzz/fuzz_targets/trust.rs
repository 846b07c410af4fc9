//! Feeds `guild_corpus::trust`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = guild_corpus::trust::run(data);
});
