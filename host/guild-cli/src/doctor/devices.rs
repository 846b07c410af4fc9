//! Devices beside the processor.

use super::Check;
use serde_json::json;

/// This version of the ABI has no device packages, so there is nothing to ask.
pub fn check() -> Check {
    Check::ok(
        "devices",
        "none: no package reports a device; everything runs on the processor",
        json!({ "devices": [] }),
    )
}
