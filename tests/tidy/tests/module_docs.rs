//! Every file of Rust code starts by saying what it is for.

use guild_tidy::{Fault, report, text_files};

#[test]
fn every_file_starts_with_a_module_doc() -> Result<(), Fault> {
    let files = text_files()?;
    let rust = files.iter().filter(|file| file.path.ends_with(".rs"));
    let findings: Vec<_> = rust
        .filter(|file| !file.text.starts_with("//! "))
        .map(|file| file.path.clone())
        .collect();
    report(
        &findings,
        "start these files with a `//!` line that says what they are for:",
    );
    Ok(())
}
