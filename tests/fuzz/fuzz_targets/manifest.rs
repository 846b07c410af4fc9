//! Reads arbitrary bytes as a manifest; what is accepted must encode to something that reads back.
#![no_main]

use guild_package::Manifest;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(manifest) = Manifest::decode(data) {
        let encoded = manifest.encode().expect("an accepted manifest can be written");
        assert_eq!(Manifest::decode(&encoded).expect("and read back"), manifest);
    }
});
