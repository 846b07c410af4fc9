//! `guild kernel list`: shows the installed packages and whether each still verifies.

use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, found_store};
use guild_package::ListedPackage;
use guild_package::verify::Signer;
use serde_json::{Value, json};

/// Prints one line a version: `*` marks the enabled one, `!` one that no longer verifies. Libraries are
/// hashed when they are loaded, not here.
pub fn run(places: &Places, output: Output) -> Outcome<()> {
    let found = found_store(places)?;
    let mut packages = match &found {
        Some(found) => found.store.list()?,
        None => Vec::new(),
    };
    if let Some(found) = found.filter(|found| found.is_machine_s) {
        found.say_whose(output);
        packages.iter_mut().for_each(|package| package.below = true);
    }
    for package in &packages {
        output.data(line(package))?;
    }
    if packages.is_empty() {
        output.say("No package is installed. `guild kernel install` installs one.");
    }
    let rows: Vec<Value> = packages.iter().map(row).collect();
    output.object(json!({ "packages": rows }))
}

fn line(listed: &ListedPackage) -> String {
    let enabled = if listed.enabled { '*' } else { ' ' };
    let (mark, detail) = match &listed.package {
        Ok(package) => (' ', signer_labels(package.signers()).join(", ")),
        Err(error) => ('!', error.to_string()),
    };
    let place = if listed.below { "\tthe machine's" } else { "" };
    format!(
        "{enabled}{mark} {} {}\t{detail}{place}",
        listed.id, listed.version
    )
}

fn row(listed: &ListedPackage) -> Value {
    let state = match (&listed.package, listed.enabled) {
        (Err(_), _) => "broken",
        (Ok(_), true) => "enabled",
        (Ok(_), false) => "installed",
    };
    let mut row = json!({
        "id": listed.id,
        "version": listed.version,
        "state": state,
        "store": if listed.below { "machine" } else { "own" },
        "installed_generation": listed.installed_gen,
    });
    match &listed.package {
        Ok(package) => {
            row["manifest_sha256"] = json!(package.manifest_digest());
            row["security_epoch"] = json!(package.manifest().security_epoch);
            row["signers"] = json!(signer_labels(package.signers()));
        }
        Err(error) => {
            row["code"] = json!(error.code().name());
            row["message"] = json!(error.to_string());
        }
    }
    row
}

fn signer_labels(signers: &[Signer]) -> Vec<String> {
    signers.iter().map(Signer::to_string).collect()
}
