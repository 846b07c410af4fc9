//! Checks on the source tree itself; each file in `tests/` is one check and says what to do.
//!
//! This library finds the files and reads the lists that several checks share.
#![forbid(unsafe_code)]

use cargo_metadata::{Metadata, MetadataCommand};
use std::{error::Error, fs, path::PathBuf};
use walkdir::{DirEntry, WalkDir};

/// Any error of a check's own machinery.
pub type Fault = Box<dyn Error>;

/// A file of the tree.
pub struct File {
    /// Path relative to the checkout, with `/`.
    pub path: String,
    /// Contents.
    pub text: String,
}

/// A file of Rust code with its syntax tree.
pub struct RustFile {
    /// Path relative to the checkout, with `/`.
    pub path: String,
    /// Contents.
    pub text: String,
    /// Parsed contents.
    pub syntax: syn::File,
}

/// The root of the checkout.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What cargo knows of the workspace's own packages.
pub fn metadata() -> Result<Metadata, Fault> {
    Ok(MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()?)
}

/// Every file that is UTF-8 text, by path. Build output and hidden folders are left out, but not
/// `.cargo` and `.ci`.
pub fn text_files() -> Result<Vec<File>, Fault> {
    let root = root();
    let mut files = Vec::new();
    let walk = WalkDir::new(&root).sort_by_file_name();
    for entry in walk.into_iter().filter_entry(is_source) {
        let entry = entry?;
        if !entry.file_type().is_file() {
            continue;
        }
        let path = entry.path().strip_prefix(&root)?;
        let path = path.to_str().ok_or("a path isn't UTF-8")?.to_owned();
        if let Ok(text) = String::from_utf8(fs::read(entry.path())?) {
            files.push(File { path, text });
        }
    }
    Ok(files)
}

fn is_source(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    let hidden = name.starts_with('.') && !matches!(&*name, ".cargo" | ".ci" | ".gitignore");
    entry.depth() == 0 || !(hidden || name == "target")
}

/// Every file of Rust code, parsed.
pub fn rust_files() -> Result<Vec<RustFile>, Fault> {
    text_files()?
        .into_iter()
        .filter(|file| file.path.ends_with(".rs"))
        .map(|File { path, text }| {
            let syntax = syn::parse_file(&text).map_err(|error| format!("{path}: {error}"))?;
            Ok(RustFile { path, text, syntax })
        })
        .collect()
}

/// Paths of generated files, which no size limit holds for: `generated.txt`.
pub fn generated() -> Result<Vec<String>, Fault> {
    list("tests/tidy/generated.txt")
}

/// Lines of a list file, without comments and empty lines.
pub fn list(path: &str) -> Result<Vec<String>, Fault> {
    let text = fs::read_to_string(root().join(path))?;
    let lines = text.lines().map(str::trim);
    Ok(lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect())
}

/// The words in backticks at the start of each table row of a Markdown document.
pub fn table_keys(path: &str) -> Result<Vec<String>, Fault> {
    let text = fs::read_to_string(root().join(path))?;
    Ok(text
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .map(str::to_owned)
        .collect())
}

/// Fails with every finding on a line of its own, and what to do about them.
pub fn report(findings: &[String], what_to_do: &str) {
    assert!(
        findings.is_empty(),
        "{what_to_do}\n  {}\n",
        findings.join("\n  ")
    );
}
