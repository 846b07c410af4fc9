//! Where values come from.

use super::Check;
use crate::commands::config_show::{files, row};
use crate::config::{Origin, Settings};
use crate::failure::Failure;
use crate::output::count;
use serde_json::json;

/// The files that were read and the values that aren't built in; failed where a file or a variable can't be
/// used.
pub fn check(settings: &Settings) -> Check {
    let read = settings.files().iter().filter(|file| file.read);
    let read: Vec<String> = read.map(|file| file.path.display().to_string()).collect();
    let set = settings
        .all()
        .iter()
        .filter(|s| s.origin != Origin::Default);
    let set: Vec<_> = set.map(row).collect();
    let from = match read.is_empty() {
        true => "no file".to_owned(),
        false => read.join(", "),
    };
    let finding = match set.len() {
        0 => format!("{from} read; every value is built in"),
        number => format!("{from} read; {} set", count(number, "value")),
    };
    let faults: Vec<Failure> = settings.faults().iter().map(Failure::from).collect();
    let messages: Vec<&str> = faults.iter().map(|fault| fault.message.as_str()).collect();
    let details = json!({ "files": files(settings), "settings": set, "faults": messages });
    match faults.first() {
        None => Check::ok("configuration", finding, details),
        Some(first) => Check::ok("configuration", messages.join("; "), details).fail(
            first.exit,
            "every other command ends with this; the checks below go without it",
            first.hint.clone(),
        ),
    }
}
