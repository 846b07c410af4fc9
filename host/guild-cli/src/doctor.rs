//! Looks over everything that a run depends on: one check a matter, each with what was found, what
//! follows from it, and one command that mends it.

mod audit;
mod configuration;
mod cores;
mod cpu;
mod devices;
mod environment;
mod memory;
mod memory_files;
mod pages;
mod sandbox;
mod store;
mod trust;
mod versions;

use crate::config::Settings;
use crate::exit::Exit;
use crate::places::{Places, Whose};
use crate::system::SystemFiles;
use serde::Serialize;
use serde_json::Value;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// As it should be.
    Ok,
    /// Runs work, but slower, or with less safety, than they could.
    Warning,
    /// Runs fail.
    Failed,
}

impl Status {
    /// The word that stands before a finding.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Warning => "warning",
            Status::Failed => "FAILED",
        }
    }
}

/// One matter that was looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// How it ended.
    pub status: Status,
    /// What was found.
    pub finding: String,
    /// What follows; empty where nothing does.
    pub consequence: String,
    /// A command that mends it; empty where there is nothing to mend.
    pub fix: String,
    /// The exit code's name that a run would end with; only of a failed check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The readings themselves.
    pub details: Value,
}

impl Check {
    /// A check without findings against anything.
    pub fn ok(name: &'static str, finding: impl Into<String>, details: Value) -> Check {
        Check {
            name,
            status: Status::Ok,
            finding: finding.into(),
            consequence: String::new(),
            fix: String::new(),
            code: None,
            details,
        }
    }

    /// The same check with something that could be better.
    #[must_use]
    pub fn warn(mut self, consequence: impl Into<String>, fix: impl Into<String>) -> Check {
        self.status = Status::Warning;
        self.consequence = consequence.into();
        self.fix = fix.into();
        self
    }

    /// The same check as one that makes runs end with `exit`.
    #[must_use]
    pub fn fail(
        mut self,
        exit: Exit,
        consequence: impl Into<String>,
        fix: impl Into<String>,
    ) -> Check {
        self.status = Status::Failed;
        self.consequence = consequence.into();
        self.fix = fix.into();
        self.code = Some(exit.name());
        self
    }

    /// The exit code of a failed check.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        let code = self.code?;
        let found = Exit::TABLE.iter().find(|(_, name)| *name == code);
        Some(found.map_or(Exit::Internal, |(exit, _)| *exit))
    }
}

/// What the checks look at.
pub struct Patient<'a> {
    /// The system's pseudo-files.
    pub files: SystemFiles,
    /// The data folder that the command line names.
    pub places: &'a Places,
    /// Every option with its origin.
    pub settings: &'a Settings,
}

/// Runs all checks, in the order in which a run depends on them.
#[must_use]
pub fn examine(patient: &Patient<'_>) -> Vec<Check> {
    let mut checks = vec![
        versions::check(),
        configuration::check(patient.settings),
        environment::variables(patient.settings),
        environment::loader(),
        sandbox::check(),
        cpu::check(&patient.files),
        cores::processors(&patient.files),
        cores::nodes(&patient.files),
        memory::available(&patient.files),
        memory::lock_limit(),
        pages::huge(&patient.files),
        pages::overcommit(&patient.files),
    ];
    checks.extend(store::checks(patient));
    checks.push(audit::check(patient.places));
    checks
}

/// What packages depend on, and nothing else: the surroundings, the sandbox, memory files, the whole chain of the store, and
/// that everything loads.
#[must_use]
pub fn examine_packages(patient: &Patient<'_>) -> Vec<Check> {
    let mut checks = vec![
        versions::check(),
        environment::loader(),
        sandbox::check(),
        memory_files::check(&patient.files),
    ];
    checks.extend(store::chains(patient));
    checks.extend(store::checks(patient));
    checks.push(audit::check(patient.places));
    checks
}

/// What a command that changes that store begins with.
fn command(whose: Whose) -> String {
    match whose {
        Whose::Own => whose.command().to_owned(),
        Whose::Machine | Whose::OnlyTheMachine => format!("sudo {}", whose.command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_check_knows_its_code() {
        let check = Check::ok("x", "y", Value::Null).fail(Exit::StoreCorrupt, "", "");
        assert_eq!(check.exit(), Some(Exit::StoreCorrupt));
        assert_eq!(Check::ok("x", "y", Value::Null).exit(), None);
    }
}
