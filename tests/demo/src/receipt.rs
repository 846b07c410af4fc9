//! What `--artifact-output` keeps: bundles, public key, and a receipt of what was run.

use crate::build::run;
use crate::error::DemoError;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The bundles that were installed and the key that signed them.
pub struct InstalledPackages {
    /// Public key record.
    pub public_key: PathBuf,
    /// For each package: bundle path and what `install` answered.
    pub bundles: Vec<(PathBuf, Value)>,
}

/// Two runs of the same model and prompt that gave the same bits.
pub struct Comparison {
    /// JSON of the run with installed packages alone.
    pub external: Value,
    /// SHA-256 of the logits file, the same in both runs.
    pub logits_sha256: String,
}

/// Copies the artifacts to `output` and writes `receipt.json`.
pub fn keep(
    root: &Path,
    output: &Path,
    host: &Path,
    installed: &InstalledPackages,
    comparison: &Comparison,
) -> Result<(), DemoError> {
    std::fs::create_dir_all(output).map_err(DemoError::io("make", output))?;
    let copy = |from: &Path| -> Result<String, DemoError> {
        let name = from.file_name().unwrap_or_default();
        std::fs::copy(from, output.join(name)).map_err(DemoError::io("copy", from))?;
        Ok(name.to_string_lossy().into_owned())
    };
    let public_key = copy(&installed.public_key)?;
    let mut packages = Vec::new();
    for (bundle, answer) in &installed.bundles {
        packages.push(json!({
            "id": answer["id"],
            "version": answer["version"],
            "manifest_sha256": answer["manifest_sha256"],
            "bundle": copy(bundle)?,
            "bundle_sha256": file_sha256(bundle)?,
        }));
    }
    let receipt = json!({
        "schema": 1,
        "source_revision": revision(root),
        "source_modified": modified(root),
        "host_sha256": file_sha256(host)?,
        "public_key": public_key,
        "test_identity": true,
        "packages": packages,
        "tokens": comparison.external["tokens"],
        "logits_sha256": comparison.logits_sha256,
        "executed": comparison.external["packages"],
    });
    let path = output.join("receipt.json");
    let content = format!("{receipt:#}\n");
    std::fs::write(&path, content).map_err(DemoError::io("write", &path))
}

/// SHA-256 of a file, in hex.
pub fn file_sha256(path: &Path) -> Result<String, DemoError> {
    let bytes = std::fs::read(path).map_err(DemoError::io("read", path))?;
    Ok(Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// The source revision; null outside a checkout.
fn revision(root: &Path) -> Value {
    match git(root, &["rev-parse", "HEAD"]) {
        Some(revision) => json!(revision.trim()),
        None => Value::Null,
    }
}

/// Whether tracked files differ from the revision; null outside a checkout.
fn modified(root: &Path) -> Value {
    match git(root, &["status", "--porcelain", "--untracked-files=no"]) {
        Some(changes) => json!(!changes.is_empty()),
        None => Value::Null,
    }
}

fn git(root: &Path, args: &[&str]) -> Option<String> {
    let output = run(Command::new("git").current_dir(root).args(args)).ok()?;
    String::from_utf8(output).ok()
}
