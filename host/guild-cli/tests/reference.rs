//! The manual that is made from the definition: the committed page, man pages and completions.

mod program;

use guild_cli::reference;
use std::path::Path;

/// `INSTA_UPDATE=always` writes the page anew, as it does with the snapshots of the help texts.
#[test]
fn the_committed_reference_is_the_one_the_definition_makes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli-reference.md");
    let page = reference::markdown();
    if std::env::var_os("INSTA_UPDATE").is_some_and(|value| value == "always") {
        std::fs::write(&path, &page).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let difference = committed.lines().zip(page.lines()).find(|(a, b)| a != b);
    assert!(
        committed == page,
        "docs/cli-reference.md is stale; run this test with INSTA_UPDATE=always; {difference:?}"
    );
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let output = guild(&["man", &folder.path().to_string_lossy()]);
    assert!(output.status.success());
    for (words, _) in reference::commands() {
        let path = folder.path().join(format!("{}.1", words.replace(' ', "-")));
        let page = std::fs::read_to_string(&path).unwrap();
        assert!(page.contains(".SH NAME"), "{words}");
        assert!(page.contains(".TH"), "{words}");
    }
    let first = guild(&["man"]);
    assert!(String::from_utf8(first.stdout).unwrap().contains(".TH"));
}

#[test]
fn every_shell_gets_completions_that_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = guild(&["completions", shell]);
        assert!(output.status.success(), "{shell}");
        let script = String::from_utf8(output.stdout).unwrap();
        for word in ["inspect", "trust", "keygen", "doctor"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(guild(&["completions", "tcsh"]).status.code(), Some(2));
    assert_eq!(
        guild(&["--json", "completions", "zsh"]).status.code(),
        Some(2)
    );
}

fn guild(args: &[&str]) -> std::process::Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = program::command(home.path());
    command.args(args).output().unwrap()
}
