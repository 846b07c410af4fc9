//! Feeds `guild_corpus::elf_preflight`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = guild_corpus::elf_preflight::run(data);
});
