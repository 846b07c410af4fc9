//! Feeds `guild_corpus::chat_template`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = guild_corpus::chat_template::run(data);
});
