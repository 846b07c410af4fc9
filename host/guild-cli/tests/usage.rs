//! A command line that can't be read: exit code 2, and one JSON object where it was asked for.

use std::process::{Command, Output};

fn guild(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_guild"))
        .args(args)
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
