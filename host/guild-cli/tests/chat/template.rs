//! `guild template`.

use crate::{MODEL, Place, TRAINED, object, with_input};
use serde_json::json;
use std::process::Stdio;

#[test]
fn a_conversation_is_shown_as_the_model_would_get_it() {
    let place = Place::new();
    let messages = place.path().join("messages.json");
    let given = json!({
        "messages": [{ "role": "user", "content": "Hé" }],
        "tools": [{ "name": "f" }]
    });
    std::fs::write(&messages, given.to_string()).unwrap();
    let template = place.template();
    let options = [
        "--chat-template",
        template.to_str().unwrap(),
        "--system",
        "S",
        "--think",
    ];
    let from_file = ["template", MODEL, "--messages", messages.to_str().unwrap()];
    let expected = "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nHé<|im_end|>\n<|im_start|>assistant\n<think>\n[{\"name\": \"f\"}]";
    let args = [&from_file[..], &options].concat();
    let output = place.guild(&args).stdin(Stdio::null()).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    let piped = [&["template", MODEL, "--json"][..], &options].concat();
    let answer = object(&with_input(place.guild(&piped), &given.to_string()));
    assert_eq!(
        (&answer["text"], &answer["messages"]),
        (&json!(expected), &json!(2))
    );
}

/// The model's own template, as transformers renders it.
#[test]
fn the_files_template_is_used_where_none_is_given() {
    let golden = guild_mini_ornith::golden();
    let place = Place::new();
    let rendered = |question: &str, options: &[&str]| {
        let messages = json!([{ "role": "user", "content": question }]).to_string();
        let args = [&["template", TRAINED], options].concat();
        let output = with_input(place.guild(&args), &messages);
        String::from_utf8(output.stdout).unwrap()
    };
    let mut kinds = [0, 0];
    for case in golden["greedy"].as_array().unwrap() {
        let wanted = case["prompt"].as_str().unwrap();
        let Some(turn) = wanted.strip_prefix("<|im_start|>user\n") else {
            continue;
        };
        let (question, rest) = turn.split_once("<|im_end|>").unwrap();
        let thinking = !rest.contains("</think>");
        kinds[usize::from(thinking)] += 1;
        if thinking {
            assert_eq!(rendered(question, &[]), wanted);
            assert_eq!(rendered(question, &["--think"]), wanted);
        } else {
            assert_eq!(rendered(question, &["--no-think"]), wanted);
        }
    }
    assert!(kinds[0] > 0 && kinds[1] > 0, "{kinds:?}");
}

#[test]
fn what_is_wrong_is_named() {
    let place = Place::new();
    let broken = place.path().join("broken.jinja");
    std::fs::write(&broken, "a\n{% if %}").unwrap();
    let refusing = place.path().join("refusing.jinja");
    std::fs::write(&refusing, "{{ raise_exception('No such role') }}").unwrap();
    let ask = |template: &std::path::Path, more: &[&str], input: &str| {
        let args = [
            "template",
            MODEL,
            "--chat-template",
            template.to_str().unwrap(),
        ];
        let output = with_input(place.guild(&[&args[..], more].concat()), input);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), words)
    };
    let messages = "[{\"role\": \"user\", \"content\": \"a\"}]";
    let (code, words) = ask(&broken, &[], messages);
    assert!(code == Some(3) && words.contains("line 2"), "{words}");
    assert!(words.contains("broken.jinja"), "{words}");
    let (code, words) = ask(&refusing, &[], messages);
    assert!(code == Some(2) && words.contains("No such role"), "{words}");
    assert!(words.contains("refusing.jinja"), "{words}");
    let (code, words) = ask(&place.template(), &[], "[{\"content\": \"a\"}]");
    assert!(
        code == Some(2) && words.contains("messages[0] has no \"role\""),
        "{words}"
    );
    let (code, words) = ask(&place.template(), &[], "{}");
    assert!(
        code == Some(2) && words.contains("list of messages"),
        "{words}"
    );
    let (code, words) = ask(&place.template(), &["--template-kwargs", "[1]"], messages);
    assert!(
        code == Some(2) && words.contains("--template-kwargs"),
        "{words}"
    );
}

#[test]
fn what_is_wrong_with_the_input_is_named() {
    let place = Place::new();
    let template = place.template();
    let template = ["--chat-template", template.to_str().unwrap()];
    let ask = |more: &[&str], input: &str| {
        let args = [&["template", MODEL][..], more].concat();
        let output = with_input(place.guild(&args), input);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), words)
    };
    let says_nothing = r#"[{"role": "user", "content": "a"}, {"role": "user", "text": "b"}]"#;
    let (code, words) = ask(&template, says_nothing);
    assert!(code == Some(2) && words.contains("messages[1]"), "{words}");
    assert!(words.contains("\"content\""), "{words}");
    let (code, words) = ask(&template, "");
    let empty = words.contains("standard input is empty");
    assert!(code == Some(2) && empty, "{words}");
    let (code, words) = ask(&template, "Hello");
    let named = words.contains("standard input isn't JSON");
    assert!(code == Some(2) && named, "{words}");
    assert!(words.contains("\"role\": \"user\""), "{words}");
    let tools = place.path().join("tools.json");
    std::fs::write(&tools, "f(x)").unwrap();
    let tools = [&template[..], &["--tools", tools.to_str().unwrap()]].concat();
    let (code, words) = ask(&tools, "[]");
    let named = words.contains("tools.json isn't JSON") && words.contains("list of tools");
    assert!(code == Some(2) && named, "{words}");
}

/// Of `--think` and `--no-think` the last counts.
#[test]
fn the_last_word_on_thinking_counts() {
    let place = Place::new();
    let template = place.template();
    let thinks = |options: [&str; 2]| {
        let args = [
            "template",
            MODEL,
            "--chat-template",
            template.to_str().unwrap(),
        ];
        let output = with_input(place.guild(&[&args[..], &options].concat()), "[]");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("<think>")
    };
    assert!(thinks(["--no-think", "--think"]));
    assert!(!thinks(["--think", "--no-think"]));
}
