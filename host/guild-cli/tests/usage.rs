//! A command line that cannot be carried out: exit code 2, one JSON object where it was asked for, and
//! nothing lost.

use std::process::{Command, Output};

fn guild(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_guild"))
        .args(args)
        // A folder without a package store.
        .env("GUILD_DATA_DIR", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap()
}

#[test]
fn a_wrong_command_line_is_a_json_failure_under_json() {
    let output = guild(&["--json", "kernel", "instal"]);
    assert_eq!(output.status.code(), Some(2));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&answer["schema"], &answer["ok"]),
        (&1.into(), &false.into())
    );
    assert_eq!(answer["code"], "USAGE");
    assert!(answer["message"].as_str().unwrap().contains("instal"));
    assert!(output.stderr.is_empty());
}

#[test]
fn without_json_it_is_text_for_people() {
    let output = guild(&["kernel", "instal"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    assert_eq!(guild(&["--help"]).status.code(), Some(0));
}

/// A committed model.
const MODEL: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/models/qwen35moe-small-bf16.gguf"
);

#[test]
#[cfg(all(feature = "builtin-cpu", feature = "builtin-qwen"))]
fn a_context_too_small_for_the_tokens_is_refused_before_any_is_made() {
    let ask = |context| {
        let ids = ["--prompt-ids", "1,2", "-n", "3", "-c", context];
        guild(&[&["run", MODEL], &ids[..]].concat())
    };
    let refused = ask("3");
    assert_eq!(refused.status.code(), Some(2));
    assert!(refused.stdout.is_empty());
    // Two of the prompt and two generated: the third is only written.
    assert_eq!(ask("4").status.code(), Some(0));
}

#[test]
fn logits_never_overwrite_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let (model, link) = (folder.path().join("m.gguf"), folder.path().join("l.npy"));
    std::fs::copy(MODEL, &model).unwrap();
    std::fs::hard_link(&model, &link).unwrap();
    let (model, link) = (model.to_str().unwrap(), link.to_str().unwrap());
    let refused = guild(&["logits", model, "--ids", "1,2", "--out", link]);
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(std::fs::read(model).unwrap(), std::fs::read(MODEL).unwrap());
}

#[test]
fn a_standard_error_that_is_full_changes_nothing() {
    let status = Command::new(env!("CARGO_BIN_EXE_guild"))
        .args(["inspect", "no-such-file"])
        .stderr(std::fs::File::create("/dev/full").unwrap())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(40));
}
