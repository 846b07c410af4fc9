//! Reads arbitrary bytes as a trust file.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = guild_package::TrustStore::decode(data);
});
