//! Conversations from `-p`, `-f` and standard input.

use crate::{MODEL, Place, object, with_input};
use serde_json::{Value, json};
use std::process::Stdio;

fn chat_json(place: &Place, more: &[&str], input: &str) -> Value {
    object(&with_input(
        place.chat(&[&["--json"], more].concat()),
        input,
    ))
}

/// The greedy tokens that follow a text without any conversation.
fn completion(place: &Place, text: &str, tokens: &str) -> Value {
    let output = place
        .guild(&["run", MODEL, "--json", "-t", "1", "-p", text, "-n", tokens])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    object(&output)["tokens"].clone()
}

#[test]
fn each_line_is_a_turn_and_the_session_is_kept() {
    let place = Place::new();
    let answer = chat_json(
        &place,
        &["-n", "1", "--system", "S"],
        "One\n\nTwo\\\nand more\n",
    );
    let turns = answer["turns"].as_array().unwrap();
    assert_eq!(turns.len(), 2);
    let first =
        "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nOne<|im_end|>\n<|im_start|>assistant\n";
    assert_eq!(turns[0]["tokens"], completion(&place, first, "1"));
    assert_eq!(turns[0]["reused_tokens"], 0);
    let said = turns[0]["content"].as_str().unwrap();
    let second = format!(
        "{first}{said}<|im_end|>\n<|im_start|>user\nTwo\nand more<|im_end|>\n<|im_start|>assistant\n"
    );
    // What a kept session gives is what a fresh one gives.
    assert_eq!(turns[1]["tokens"], completion(&place, &second, "1"));
    assert_eq!(turns[1]["reused_tokens"], turns[0]["prompt_tokens"]);
    assert_eq!(turns[1]["started_over"], false);
}

#[test]
fn a_conversation_that_changed_starts_over() {
    let place = Place::new();
    let input = "One\n/system other\nTwo\n/clear\nThree\n/undo\nFour\n";
    let answer = chat_json(&place, &["-n", "1"], input);
    let turns = answer["turns"].as_array().unwrap();
    assert_eq!(turns.len(), 4);
    assert_eq!(
        (&turns[1]["started_over"], &turns[1]["reused_tokens"]),
        (&json!(true), &json!(0))
    );
    // Three and Four are asked after the same messages, so only the question differs.
    let alone = chat_json(&place, &["-n", "1", "--system", "other"], "Four\n");
    assert_eq!(turns[3]["tokens"], alone["turns"][0]["tokens"]);
}

#[test]
fn a_full_context_is_said_and_nothing_is_lost() {
    let place = Place::new();
    let long = "word ".repeat(60);
    let input = format!("Hi\n{long}\n");
    let output = with_input(place.chat(&["-n", "1", "-c", "40"]), &input);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(
        words.contains("the context holds 40") && words.contains("-c"),
        "{words}"
    );
    // An answer that reaches the end is kept.
    let output = with_input(place.chat(&["--ignore-eos", "-c", "40"]), "Hi\n");
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("the context is full"));
}

#[test]
fn commands_that_fail_or_do_not_exist_say_so() {
    let place = Place::new();
    let output = with_input(
        place.chat(&["-n", "1"]),
        "/nonsense\n/think maybe\n/stats\n/quit\nnever\n",
    );
    assert!(output.status.success());
    assert!(output.stdout.is_empty());
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(
        words.contains("/nonsense") && words.contains("on or off") && words.contains("no answer")
    );
}

#[test]
fn a_script_cannot_write_files() {
    let place = Place::new();
    let saved = place.path().join("saved.json");
    let input = format!("Hi\n/save {}\nnever\n", saved.display());
    let output = with_input(place.chat(&["-n", "1"]), &input);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(words.contains("/save works at a terminal only"), "{words}");
    assert!(!saved.exists());
}

#[test]
fn a_question_that_begins_with_two_strokes_may_go_on_in_the_next_line() {
    let place = Place::new();
    let answer = chat_json(&place, &["-n", "1"], "//One\\\nmore\n");
    let text = "<|im_start|>user\n/One\nmore<|im_end|>\n<|im_start|>assistant\n";
    let turn = &answer["turns"][0];
    assert_eq!(turn["tokens"], completion(&place, text, "1"));
    let ids = place
        .guild(&["tokenize", MODEL, "--json", "-p", text])
        .output()
        .unwrap();
    assert_eq!(turn["prompt_tokens"], object(&ids)["count"]);
}

#[test]
fn template_options_without_chat_and_a_model_without_template_are_refused() {
    let place = Place::new();
    let output = place
        .guild(&["run", MODEL, "--system", "S", "-p", "a"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let output = place
        .guild(&["run", MODEL, "--chat", "-p", "a"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(33));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--chat-template"));
}

#[test]
fn a_raw_prompt_may_come_from_standard_input() {
    let place = Place::new();
    let args = ["run", MODEL, "--json", "-t", "1", "-n", "2"];
    let piped = object(&with_input(place.guild(&args), "def f():"));
    assert_eq!(piped["tokens"], completion(&place, "def f():", "2"));
    let output = with_input(place.guild(&args), "");
    assert_eq!(output.status.code(), Some(2));
}
