//! What nobody serves may be installed and not enabled: then a failure says which package to enable.

use crate::failure::Failure;
use crate::places::{Places, existing_store};
use guild_graph::GraphError;
use guild_package::{ListedPackage, Manifest};

/// The failure of a model that lacks a runner or an operation, with the packages that are installed for it and not
/// enabled.
pub fn failure(error: GraphError, places: &Places) -> Failure {
    let commands = match &error {
        GraphError::NoRunner { .. } => enable(places, |manifest| !manifest.runners.is_empty()),
        GraphError::MissingProvider(missing) => {
            let wanted = format!("{}@{}", missing.operation, missing.version);
            enable(places, |manifest| {
                let mut operations = manifest.provides.iter();
                operations.any(|operation| operation.op.as_str() == wanted)
            })
        }
        _ => Vec::new(),
    };
    let failure = Failure::from(error);
    if commands.is_empty() {
        return failure;
    }
    let hint = format!(
        "{}: it is installed and not enabled; or {}",
        commands.join(" or "),
        failure.hint
    );
    failure.hint(hint)
}

/// The commands that enable packages which serve, one for each that has no version enabled.
fn enable(places: &Places, serves: impl Fn(&Manifest) -> bool) -> Vec<String> {
    // The failure is what matters; a store that can't be read has said so before.
    let listed = existing_store(places).ok().flatten();
    let listed = listed.and_then(|store| store.list().ok());
    let listed = listed.unwrap_or_default();
    let is_off = |row: &ListedPackage| {
        !listed
            .iter()
            .any(|other| other.id == row.id && other.enabled)
    };
    let mut commands: Vec<String> = listed
        .iter()
        .filter(|row| is_off(row))
        .filter_map(|row| Some((row, row.package.as_ref().ok()?)))
        .filter(|(_, package)| serves(package.manifest()))
        .map(|(row, _)| match row.below {
            false => format!("`guild kernel enable {}`", row.id),
            true => format!("`sudo guild --machine kernel enable {}`", row.id),
        })
        .collect();
    commands.dedup();
    commands
}
