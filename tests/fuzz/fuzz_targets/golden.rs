//! Reads arbitrary bytes as golden vectors; what is read has one encoding and makes sound cases.
#![no_main]

use guild_conformance::golden::Vectors;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(vectors) = Vectors::decode(data) {
        assert_eq!(vectors.encode().as_deref(), Ok(data));
    }
});
