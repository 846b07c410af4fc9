//! `docs/dependencies.md` gives a reason for every dependency of the workspace, and for no other.

use guild_tidy::{Fault, metadata, report, root, table_keys};
use std::{collections::BTreeSet, fs};
use toml::{Table, Value};

#[test]
fn every_dependency_is_documented_and_used() -> Result<(), Fault> {
    let manifest: Table = fs::read_to_string(root().join("Cargo.toml"))?.parse()?;
    let declared = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"))
        .and_then(Value::as_table)
        .ok_or("Cargo.toml has no workspace.dependencies")?;
    let external = declared
        .iter()
        .filter(|(_, value)| value.get("path").is_none());
    let external: BTreeSet<_> = external.map(|(name, _)| name.clone()).collect();
    let documented: BTreeSet<_> = table_keys("docs/dependencies.md")?.into_iter().collect();
    let used: BTreeSet<_> = metadata()?
        .packages
        .iter()
        .flat_map(|package| package.dependencies.iter().map(|edge| edge.name.clone()))
        .collect();
    let difference =
        |a: &BTreeSet<String>, b: &BTreeSet<String>| a.difference(b).cloned().collect::<Vec<_>>();
    report(
        &difference(&external, &documented),
        "add a row to docs/dependencies.md: what it is for, its state, and who uses it:",
    );
    report(
        &difference(&documented, &external),
        "remove the row from docs/dependencies.md; Cargo.toml doesn't have it:",
    );
    report(
        &difference(&external, &used),
        "no crate uses these; remove them from Cargo.toml and docs/dependencies.md:",
    );
    Ok(())
}
