//! The log of refusals: whether it is whole, and kept from others.

use super::Check;
use crate::audit::existing;
use crate::failure::Failure;
use crate::output::count;
use crate::places::{Places, audit_path};
use guild_package::audit::Verified;
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const NAME: &str = "audit";
/// Permissions of anybody but the owner.
const OTHERS: u32 = 0o077;

/// A log that is damaged or open to others is a warning: no run depends on it.
pub fn check(places: &Places) -> Check {
    let found = audit_path(places).and_then(|path| Ok((path, existing(places)?)));
    match found {
        Err(failure) => unread(&failure),
        Ok((_, None)) => Check::ok(NAME, "nothing was refused yet", Value::Null),
        Ok((path, Some(log))) => match log.verify() {
            Err(error) => unread(&error.into()),
            Ok(verified) => judge(&path, &verified, places.machine),
        },
    }
}

fn unread(failure: &Failure) -> Check {
    let check = Check::ok(NAME, failure.message.clone(), Value::Null);
    check.warn("refusals leave no record", failure.hint.clone())
}

fn judge(path: &Path, verified: &Verified, is_machine_s: bool) -> Check {
    let mode = mode(path);
    let finding = format!(
        "{} in {}",
        count(verified.records, "record"),
        path.display()
    );
    let details = json!({
        "path": path,
        "mode": mode.map(|mode| format!("{mode:04o}")),
        "records": verified.records,
        "faults": verified.damage(),
    });
    let check = Check::ok(NAME, finding, details);
    if verified.damage() > 0 {
        let machine = if is_machine_s { "--machine " } else { "" };
        return check.warn(
            format!("it has {}", count(verified.damage(), "fault")),
            format!("guild {machine}kernel audit --verify"),
        );
    }
    match mode.filter(|mode| mode & OTHERS != 0) {
        Some(mode) => check.warn(
            format!("others may look into it: its mode is {mode:04o}"),
            format!("chmod 700 {}", path.display()),
        ),
        None => check,
    }
}

fn mode(path: &Path) -> Option<u32> {
    Some(std::fs::metadata(path).ok()?.mode() & 0o7777)
}
