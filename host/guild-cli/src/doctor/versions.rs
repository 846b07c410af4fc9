//! Which build this is.

use super::Check;
use crate::version;

/// Version, commit, target and the range of ABI versions.
pub fn check() -> Check {
    Check::ok(
        "version",
        format!("guild {}", version::line()),
        version::to_json(),
    )
}
