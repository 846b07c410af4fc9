//! No file names a machine's paths or a registry's hosts, and no module is a grab bag.

use guild_tidy::{Fault, report, text_files};

#[test]
fn no_machine_paths_or_registry_hosts() -> Result<(), Fault> {
    // Put together here, so that this file passes its own check.
    let words = ["work/", "root/", "tmp/bash"].map(|word| format!("/{word}"));
    let hosts = ["index", "static"].map(|host| format!("{host}.crates.io"));
    let mut findings = Vec::new();
    for file in text_files()?
        .iter()
        .filter(|file| file.path != "Cargo.lock")
    {
        for (number, line) in file.text.lines().enumerate() {
            for word in words
                .iter()
                .chain(&hosts)
                .filter(|word| line.contains(*word))
            {
                findings.push(format!("{}:{}: {word}", file.path, number + 1));
            }
        }
    }
    report(&findings, "remove these words; they belong to one machine:");
    Ok(())
}

#[test]
fn modules_are_named_after_what_they_do() -> Result<(), Fault> {
    const GRAB_BAGS: [&str; 7] = [
        "utils", "util", "common", "helpers", "helper", "misc", "shared",
    ];
    let files = text_files()?;
    let is_grab_bag = |path: &str| {
        let stem = path.strip_suffix(".rs").unwrap_or_default();
        stem.split('/').any(|part| GRAB_BAGS.contains(&part))
    };
    let findings: Vec<_> = files
        .iter()
        .map(|file| file.path.clone())
        .filter(|path| is_grab_bag(path))
        .collect();
    report(&findings, "name these modules after what they do:");
    Ok(())
}
