//! `guild doctor` and `guild kernel doctor`: look over everything that a run depends on, or that packages do.

use crate::config::Settings;
use crate::doctor::{Check, Patient, Status, examine, examine_packages};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::places::Places;
use crate::system::SystemFiles;
use serde_json::json;

/// All that a run depends on.
pub fn run(places: &Places, settings: &Settings, output: Output) -> Outcome<()> {
    report(&examine(&patient(places, settings)), output)
}

/// What packages depend on.
pub fn run_for_packages(places: &Places, settings: &Settings, output: Output) -> Outcome<()> {
    report(&examine_packages(&patient(places, settings)), output)
}

fn patient<'a>(places: &'a Places, settings: &'a Settings) -> Patient<'a> {
    Patient {
        files: SystemFiles::of_machine(),
        places,
        settings,
    }
}

/// Prints one paragraph a check. Warnings are no failure; the first failed check's code is the
/// command's.
fn report(checks: &[Check], output: Output) -> Outcome<()> {
    for check in checks {
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
