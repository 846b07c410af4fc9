//! Every crate takes lints, edition, licence and dependency versions from the workspace.

use guild_tidy::{Fault, metadata, report};
use std::fs;
use toml::{Table, Value};

#[test]
fn crates_inherit_from_the_workspace() -> Result<(), Fault> {
    let mut findings = Vec::new();
    for package in metadata()?.packages {
        let manifest: Table = fs::read_to_string(&package.manifest_path)?.parse()?;
        let mut missing = Vec::new();
        if !inherits(manifest.get("lints")) {
            missing.push("lints".to_owned());
        }
        let of_package = manifest.get("package").and_then(Value::as_table);
        for key in ["version", "edition", "rust-version", "license", "publish"] {
            if !inherits(of_package.and_then(|table| table.get(key))) {
                missing.push(format!("package.{key}"));
            }
        }
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let table = manifest.get(section).and_then(Value::as_table);
            for (name, value) in table.into_iter().flatten() {
                if !inherits(Some(value)) {
                    missing.push(format!("{section}.{name}"));
                }
            }
        }
        findings.extend(missing.iter().map(|key| format!("{}: {key}", package.name)));
    }
    report(&findings, "write `workspace = true` for these keys:");
    Ok(())
}

fn inherits(value: Option<&Value>) -> bool {
    let flag = value.and_then(|value| value.get("workspace"));
    flag.and_then(Value::as_bool) == Some(true)
}
