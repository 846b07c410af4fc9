//! Reads arbitrary bytes as a plugin's library. A corpus of real ones takes it furthest: `cargo build`
//! makes them as `target/debug/libguild_*.so`.
#![no_main]

use std::sync::LazyLock;

use guild_package::Manifest;
use guild_package::preflight::check_library;

/// A manifest of one plugin; what it says about the library is compared last.
static MANIFEST: LazyLock<Manifest> = LazyLock::new(|| {
    let zeros = "0".repeat(64);
    let text = format!(
        r#"{{"schema":1,"min_scheme":1,"kind":"gkernel","id":"org.guild.kernels.cpu","version":"1.0.0",
        "security_epoch":0,"publisher":"nobody","issued_at":0,"abi":{{"host_min":"1.0","host_max":"1.0"}},
        "targets":[{{"os":"linux","arch":"x86_64","isa":[],"processor_state":[],"sm":[]}}],
        "artifacts":[{{"path":"p.so","sha256":"{zeros}","size":0,"role":"plugin","target":0,
        "elf":{{"needed":[],"init_count":0,"fini_count":0}}}}],
        "provides":[],"runners":[],"devices":[],"golden":[],"depends":[]}}"#
    );
    Manifest::decode(text.as_bytes()).expect("the manifest is valid")
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = check_library(&MANIFEST, &MANIFEST.artifacts[0], data);
});
