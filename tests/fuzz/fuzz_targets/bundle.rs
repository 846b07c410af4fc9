//! Reads arbitrary bytes as a bundle.
#![no_main]

use guild_package::bundle::Bundle;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(bundle) = Bundle::parse(data) {
        let _ = bundle.manifest();
        let _ = bundle.envelope();
    }
});
