//! Text of models and files at a terminal: nothing of it reaches the terminal's own controls.

use crate::terminal::Terminal;
use crate::{MODEL, Place, object};
use serde_json::json;
use std::process::{Command, Stdio};

/// Sets the title of a terminal's window.
const TITLE: &str = "\u{1b}]0;title\u{7}";
/// How it is shown instead.
const SHOWN: &str = "\\u{1b}]0;title\\u{7}";

/// The token ids of a text, as the command line takes them.
fn ids(place: &Place, text: &str) -> Vec<String> {
    let output = place
        .guild(&["tokenize", MODEL, "--json", "-p", text])
        .output()
        .unwrap();
    let ids = object(&output)["ids"].as_array().unwrap().clone();
    ids.iter().map(ToString::to_string).collect()
}

/// What makes the model say nothing but the escape character.
fn only_escape(place: &Place) -> String {
    let ids = ids(place, "\u{1b}");
    assert_eq!(ids.len(), 1);
    format!("{}+1000", ids[0])
}

/// What the terminal shows up to `wanted`, which must come; nothing of it may control the terminal.
fn shows(command: Command, wanted: &str) {
    let mut terminal = Terminal::start(command);
    let before = terminal.wait_for(wanted);
    assert!(!before.contains('\u{1b}'), "{before:?}");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn a_completion_is_escaped_at_a_terminal_and_as_it_is_elsewhere() {
    let place = Place::new();
    let bias = only_escape(&place);
    let run = [
        "run",
        MODEL,
        "-q",
        "-t",
        "1",
        "-p",
        "a",
        "-n",
        "3",
        "--logit-bias",
        &bias,
    ];
    shows(place.guild(&run), "\\u{1b}\\u{1b}\\u{1b}");
    let piped = place.guild(&run).stdin(Stdio::null()).output().unwrap();
    assert_eq!(piped.stdout, b"\x1b\x1b\x1b\n");
}

#[test]
fn an_answer_is_escaped_at_a_terminal() {
    let place = Place::new();
    let bias = only_escape(&place);
    let chat = ["-q", "-n", "2", "-p", "a", "--logit-bias", &bias];
    shows(place.chat(&chat), "\\u{1b}\\u{1b}");
}

#[test]
fn a_rendered_conversation_is_escaped_at_a_terminal() {
    let place = Place::new();
    let messages = place.path().join("messages.json");
    let given = json!([{ "role": "user", "content": TITLE }]);
    std::fs::write(&messages, given.to_string()).unwrap();
    let template = place.template();
    let args = [
        "template",
        MODEL,
        "--chat-template",
        template.to_str().unwrap(),
        "--messages",
        messages.to_str().unwrap(),
    ];
    shows(place.guild(&args), SHOWN);
    let piped = place.guild(&args).output().unwrap();
    assert!(String::from_utf8(piped.stdout).unwrap().contains(TITLE));
}

#[test]
fn decoded_ids_are_escaped_at_a_terminal() {
    let place = Place::new();
    let ids = ids(&place, TITLE).join(",");
    let args = ["tokenize", MODEL, "--ids", &ids];
    shows(place.guild(&args), SHOWN);
    let piped = place.guild(&args).output().unwrap();
    assert_eq!(piped.stdout, format!("{TITLE}\n").into_bytes());
}

#[test]
fn reasoning_beside_an_answer_is_escaped_where_standard_error_is_a_terminal() {
    let place = Place::new();
    let bias = only_escape(&place);
    let chat = [
        "--think",
        "-n",
        "2",
        "-p",
        "a",
        "--no-progress",
        "--logit-bias",
        &bias,
    ];
    let mut command = place.chat(&chat);
    // Log lines have colours of their own.
    command.env("NO_COLOR", "1");
    let mut terminal = Terminal::start_with_stdout(command, Some(Stdio::null()));
    let before = terminal.wait_for("\\u{1b}\\u{1b}");
    assert!(!before.contains('\u{1b}'), "{before:?}");
    assert_eq!(terminal.end(), Some(0));
}
