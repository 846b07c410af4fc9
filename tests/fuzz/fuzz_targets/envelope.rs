//! Reads arbitrary bytes as a signature envelope.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = guild_package::envelope::Envelope::decode(data);
});
