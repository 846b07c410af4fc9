//! Every `guild` command line in the README and in `docs/` is one that the program accepts.

use clap::Parser;
use guild_cli::args::Cli;
use std::path::{Path, PathBuf};

#[test]
fn every_documented_command_line_parses() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    let docs = std::fs::read_dir(root.join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    pages.extend(docs.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    let checked: usize = pages.iter().map(check).sum();
    assert!(checked >= 8, "only {checked} command lines were found");
}

/// Checks the lines of a page's shell blocks that start with `guild`; returns how many there were.
fn check(page: &PathBuf) -> usize {
    let content = std::fs::read_to_string(page).unwrap();
    let mut in_block = false;
    let mut checked = 0;
    for line in content.lines() {
        if line.starts_with("```") {
            in_block = line == "```sh";
        } else if in_block && line.starts_with("guild ") {
            let words = split(line);
            if let Err(error) = Cli::try_parse_from(&words) {
                panic!("{}: {line}\n{error}", page.display());
            }
            checked += 1;
        }
    }
    checked
}

/// Words of a command line, with double quotes.
fn split(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
