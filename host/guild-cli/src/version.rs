//! Which build this is.

use guild_abi::abi::{GUILD_ABI_MINOR, GUILD_ABI_MINOR_FLOOR, GUILD_KERNEL_ABI_VERSION_V1};
use serde_json::{Value, json};

/// The version of the release.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The commit that the build's folder had checked out; absent outside of a repository.
pub const COMMIT: Option<&str> = option_env!("BUILD_COMMIT");
/// The target that the build is for.
pub const TARGET: &str = env!("BUILD_TARGET");

/// The least and the greatest ABI version that packages may need.
#[must_use]
pub fn abi_range() -> (String, String) {
    let version = |minor| format!("{GUILD_KERNEL_ABI_VERSION_V1}.{minor}");
    (version(GUILD_ABI_MINOR_FLOOR), version(GUILD_ABI_MINOR))
}

/// What `guild --version` prints behind the name.
#[must_use]
pub fn line() -> String {
    let commit = COMMIT.map_or(String::new(), |commit| format!(" ({commit})"));
    let (least, greatest) = abi_range();
    format!("{VERSION}{commit} {TARGET} host-abi {least}-{greatest}")
}

/// The same as fields.
#[must_use]
pub fn to_json() -> Value {
    let (least, greatest) = abi_range();
    json!({
        "version": VERSION,
        "commit": COMMIT,
        "target": TARGET,
        "host_abi": { "least": least, "greatest": greatest },
    })
}
