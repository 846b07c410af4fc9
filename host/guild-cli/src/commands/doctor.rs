//! `guild doctor`: looks over everything that a run depends on.

use crate::config::Settings;
use crate::doctor::{Check, Patient, Status, examine};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::places::Places;
use crate::system::SystemFiles;
use serde_json::json;

/// Prints one paragraph a check. Warnings are no failure; the first failed check's code is the
/// command's.
pub fn run(places: &Places, settings: &Settings, output: Output) -> Outcome<()> {
    let checks = examine(&Patient {
        files: SystemFiles::of_machine(),
        places,
        settings,
    });
    for check in &checks {
        print(check, output)?;
    }
    let with = |status| checks.iter().filter(|check| check.status == status).count();
    let (warnings, failed) = (with(Status::Warning), with(Status::Failed));
    let fields = json!({ "checks": checks, "warnings": warnings, "failed": failed });
    let first = checks.iter().find_map(|check| Some((check, check.exit()?)));
    match first {
        None => output.object(fields),
        Some((check, exit)) => Err(Failure::new(
            exit,
            format!("{}: {}", check.name, check.finding),
        )
        .hint(check.fix.clone())
        .with_fields(fields)),
    }
}

fn print(check: &Check, output: Output) -> Outcome<()> {
    output.data(format!(
        "{:<8} {:<14} {}",
        check.status.word(),
        check.name,
        check.finding
    ))?;
    if !check.consequence.is_empty() {
        output.data(format!("{:24}{}", "", check.consequence))?;
    }
    if !check.fix.is_empty() {
        output.data(format!("{:24}fix: {}", "", check.fix))?;
    }
    Ok(())
}
