//! Arbitrary bytes as a plugin's library.

use std::sync::LazyLock;

use guild_package::Manifest;
use guild_package::preflight::check_library;

/// The manifest of the library that the example `starts` writes; what it says about a library is compared last.
static MANIFEST: LazyLock<Manifest> = LazyLock::new(|| {
    Manifest::decode(include_bytes!("elf_preflight.json")).expect("the manifest is valid")
});

/// Whether `data` is a library that may be loaded for the one manifest.
///
/// # Panics
/// If the manifest isn't one.
#[must_use]
pub fn run(data: &[u8]) -> bool {
    let mut artifacts = MANIFEST.artifacts.iter();
    let plugin = artifacts.find(|artifact| artifact.elf.is_some());
    plugin.is_some_and(|plugin| check_library(&MANIFEST, plugin, data).is_ok())
}
