//! Stop strings over tokens of a real model.

use crate::{MODEL, Place, TRAINED, alone, object};
use guild_mini_ornith::language::Language;
use std::process::{Output, Stdio};

const PROMPT: &str = "Once upon a time";

/// The beginning of a story.
fn run(place: &Place, more: &[&str]) -> Output {
    let args = ["run", TRAINED, "-t", "1", "-n", "24", "-p", PROMPT];
    let args = [&args[..], more].concat();
    place.guild(&args).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn a_stop_string_over_several_tokens_ends_the_text_and_is_never_printed() {
    let place = Place::new();
    let whole = object(&run(&place, &["--json"]));
    let text = whole["text"].as_str().unwrap();
    assert_eq!(whole["finish"], "length");
    // The last blank is the name's, and so in another token.
    let stop = " named ";
    let stopped = object(&run(
        &place,
        &["--json", "--stop", "not in it", "--stop", stop],
    ));
    let before = stopped["text"].as_str().unwrap();
    let told = format!("{PROMPT}{before}{stop}");
    assert!(
        Language::of_mini_ornith().begins_a_document(&told),
        "{told}"
    );
    assert!(text.starts_with(&format!("{before}{stop}")), "{text:?}");
    assert_eq!(stopped["finish"], "stop");
    let tokens = stopped["tokens"].as_array().unwrap();
    assert!(tokens.len() < whole["tokens"].as_array().unwrap().len());
    assert_eq!(
        run(&place, &["--stop", stop]).stdout,
        format!("{before}\n").into_bytes()
    );
}

#[test]
fn a_stop_string_ends_an_answer() {
    let place = Place::new();
    let question = [
        "--json",
        "--no-think",
        "-p",
        "Tell me a story about a hedgehog.",
    ];
    let content = |more: &[&str]| {
        let answer = object(&alone(place.talk(&[&question[..], more].concat())));
        let turn = &answer["turns"][0];
        let text = turn["content"].as_str().unwrap().to_owned();
        (text, turn["finish"].as_str().unwrap().to_owned())
    };
    let (whole, finish) = content(&[]);
    assert_eq!(finish, "end");
    let (sentence, finish) = content(&["--stop", "."]);
    assert_eq!(finish, "stop");
    assert_eq!(sentence, whole.split('.').next().unwrap());
    assert!(sentence.contains("hedgehog named"), "{sentence}");
}

#[test]
fn a_text_may_begin_with_a_hyphen_and_a_stop_string_is_never_empty() {
    let place = Place::new();
    let args = ["run", MODEL, "-n", "1", "-p", "- item", "--stop", "-x"];
    let output = place.guild(&args).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let output = place
        .chat(&["-n", "1", "-p", "- item", "--system", "- brief"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");

    let output = run(&place, &["--stop", ""]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(words.contains("--stop"), "{words}");
    assert!(words.contains("an empty text"), "{words}");
}

/// The model was made for 32768 positions.
#[test]
fn a_context_beyond_the_models_own_is_warned_of() {
    let place = Place::new();
    let chat = |context: &str| {
        let mut command = place.chat(&["-n", "1", "-p", "a", "-c", context]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let complete = |context: &str| {
        let output = place
            .guild(&["run", MODEL, "-n", "1", "-p", "a", "-c", context])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    for words in [chat("32769"), complete("32769")] {
        assert!(words.contains("was made for 32768"), "{words}");
    }
    for words in [chat("32768"), complete("32768")] {
        assert!(!words.contains("was made for"), "{words}");
    }
}

#[test]
fn text_that_only_looks_like_a_stop_string_is_printed_in_the_end() {
    let place = Place::new();
    let whole = object(&run(&place, &["--json"]));
    let text = whole["text"].as_str().unwrap();
    let last: String = text
        .chars()
        .rev()
        .take(4)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .collect();
    let stop = format!("{last} and more");
    let held = object(&run(&place, &["--json", "--stop", &stop]));
    assert_eq!(held["text"], text);
    assert_eq!(held["finish"], "length");
}
