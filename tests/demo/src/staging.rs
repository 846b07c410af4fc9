//! Staging folders: a package.toml with the files it names.

use crate::build::run;
use crate::error::DemoError;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A staging folder and the package in it.
pub struct Package {
    /// The folder.
    pub folder: PathBuf,
    /// Package id.
    pub id: String,
}

/// Fills `staged` with `package`'s files and the built library: stripped, its symbols beside it.
pub fn stage(package: &Path, library: &Path, staged: &Path) -> Result<(), DemoError> {
    let lib = staged.join("lib");
    std::fs::create_dir_all(&lib).map_err(DemoError::io("make", &lib))?;
    let toml = staged.join("package.toml");
    std::fs::copy(package.join("package.toml"), &toml).map_err(DemoError::io("write", &toml))?;
    copy_golden(&package.join(GOLDEN), &staged.join(GOLDEN))?;
    let name = library.file_name().unwrap_or_default();
    let stripped = lib.join(name);
    let mut symbols = stripped.clone().into_os_string();
    symbols.push(".debug");
    run(Command::new("objcopy")
        .arg("--only-keep-debug")
        .arg(library)
        .arg(&symbols))?;
    run(Command::new("objcopy")
        .arg("--strip-unneeded")
        .arg(library)
        .arg(&stripped))?;
    Ok(())
}

/// Makes a staged package another version.
pub fn set_version(staged: &Path, from: &str, to: &str) -> Result<(), DemoError> {
    let path = staged.join("package.toml");
    let content = std::fs::read_to_string(&path).map_err(DemoError::io("read", &path))?;
    let line = |version: &str| format!("\nversion = \"{version}\"\n");
    if content.matches(&line(from)).count() != 1 {
        let detail = format!("it has no line for version {from}");
        return Err(DemoError::PackageToml { path, detail });
    }
    let content = content.replace(&line(from), &line(to));
    std::fs::write(&path, content).map_err(DemoError::io("write", &path))
}

/// The folder of a package's golden vectors.
const GOLDEN: &str = "golden";

/// Copies the files with golden vectors, where a package has some.
fn copy_golden(from: &Path, to: &Path) -> Result<(), DemoError> {
    if !from.is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(to).map_err(DemoError::io("make", to))?;
    for entry in std::fs::read_dir(from).map_err(DemoError::io("read", from))? {
        let entry = entry.map_err(DemoError::io("read", from))?;
        let copy = to.join(entry.file_name());
        std::fs::copy(entry.path(), &copy).map_err(DemoError::io("write", &copy))?;
    }
    Ok(())
}

/// The package id in a staging folder's package.toml.
pub fn package_id(folder: &Path) -> Result<String, DemoError> {
    let path = folder.join("package.toml");
    let content = std::fs::read_to_string(&path).map_err(DemoError::io("read", &path))?;
    let wrong = |detail: String| DemoError::PackageToml {
        path: path.clone(),
        detail,
    };
    let table: toml::Table = toml::from_str(&content).map_err(|error| wrong(error.to_string()))?;
    match table.get("id").and_then(toml::Value::as_str) {
        Some(id) => Ok(id.to_owned()),
        None => Err(wrong("it has no id".to_owned())),
    }
}
