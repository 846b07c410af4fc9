//! Reads arbitrary bytes as a public key record.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = guild_package::KeyRecord::decode(data);
});
