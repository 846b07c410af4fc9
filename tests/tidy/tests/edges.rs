//! Which crate of the workspace may depend on which.
//!
//! Plugins see the SDK and never the host; the host's crates form the layers of
//! `docs/architecture.md`; checks in `tests/` may use anything.

use cargo_metadata::{Dependency, DependencyKind, Package};
use guild_tidy::{Fault, metadata, report, root};

/// Allowed dependencies of the SDK's crates.
const SDK: [(&str, &[&str]); 5] = [
    ("guild-abi", &[]),
    ("guild-numerics", &[]),
    ("guild-quant", &["guild-numerics"]),
    ("guild-sdk", &["guild-abi", "guild-numerics", "guild-quant"]),
    (
        "guild-conformance",
        &["guild-abi", "guild-numerics", "guild-quant", "guild-sdk"],
    ),
];

/// Allowed dependencies of a host crate on other host crates; SDK crates come on top.
const HOST: [(&str, &[&str]); 7] = [
    ("guild-package", &[]),
    ("guild-model", &[]),
    ("guild-crash", &["guild-package"]),
    ("guild-loader", &["guild-package"]),
    ("guild-graph", &["guild-model"]),
    ("guild-engine", &["guild-graph"]),
    (
        "guild-cli",
        &[
            "guild-crash",
            "guild-engine",
            "guild-graph",
            "guild-loader",
            "guild-model",
            "guild-package",
        ],
    ),
];

/// Crates that depend on nothing at all, so that anyone can build on them.
const ALONE: [&str; 2] = ["guild-abi", "guild-numerics"];

#[test]
fn dependencies_follow_the_layers() -> Result<(), Fault> {
    let metadata = metadata()?;
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let folder = folder(package)?;
        for dependency in package
            .dependencies
            .iter()
            .filter(|edge| edge.path.is_some())
        {
            let to = metadata
                .packages
                .iter()
                .find(|package| package.name.as_str() == dependency.name)
                .ok_or_else(|| format!("{} isn't in the workspace", dependency.name))?;
            if !allowed(package, &folder, dependency, &self::folder(to)?)? {
                findings.push(format!("{} -> {}", package.name, dependency.name));
            }
        }
    }
    report(
        &findings,
        "these dependencies break the layers; move the code, or change the table in \
         tests/tidy/tests/edges.rs together with docs/architecture.md:",
    );
    Ok(())
}

#[test]
fn the_lowest_crates_have_no_dependency() -> Result<(), Fault> {
    let mut findings = Vec::new();
    for package in metadata()?.packages {
        if ALONE.contains(&package.name.as_str()) {
            let edges = package.dependencies.iter();
            let edges = edges.filter(|edge| edge.kind != DependencyKind::Development);
            findings.extend(edges.map(|edge| format!("{} -> {}", package.name, edge.name)));
        }
    }
    report(
        &findings,
        "remove these dependencies; the crate must stand alone:",
    );
    Ok(())
}

/// Folder of a package, relative to the checkout.
fn folder(package: &Package) -> Result<String, Fault> {
    let folder = package
        .manifest_path
        .parent()
        .ok_or("a manifest has no folder")?;
    let root = root().canonicalize()?;
    Ok(folder
        .strip_prefix(root.to_str().ok_or("the checkout's path isn't UTF-8")?)?
        .to_string())
}

fn allowed(package: &Package, folder: &str, edge: &Dependency, to: &str) -> Result<bool, Fault> {
    let row = |table: &[(&str, &'static [&'static str])]| {
        let row = table
            .iter()
            .find(|(name, _)| *name == package.name.as_str());
        row.map(|(_, allowed)| *allowed).ok_or(format!(
            "{}: add the crate to tests/tidy/tests/edges.rs",
            package.name
        ))
    };
    let name = edge.name.as_str();
    let to_sdk = to.starts_with("sdk/");
    Ok(match folder.split('/').collect::<Vec<_>>()[..] {
        ["tests", ..] => true,
        ["sdk", ..] if edge.kind == DependencyKind::Development => to_sdk,
        ["sdk", ..] => row(&SDK)?.contains(&name),
        // A plugin's cdylib is the exported symbol around its rlib.
        ["plugins", plugin, ..] => to_sdk || to == format!("plugins/{plugin}"),
        ["host", ..] if edge.kind == DependencyKind::Development => true,
        ["host", "guild-cli"] if to.starts_with("plugins/") => edge.optional,
        ["host", "guild-package"] if to_sdk => name == "guild-abi",
        ["host", ..] => to_sdk || row(&HOST)?.contains(&name),
        _ => false,
    })
}
