//! Stop strings over tokens of a real model.

use crate::{MODEL, Place, object};
use std::process::{Output, Stdio};

fn run(place: &Place, more: &[&str]) -> Output {
    let args = [
        "run",
        MODEL,
        "-t",
        "1",
        "-n",
        "24",
        "-p",
        "def main(): return",
    ];
    let args = [&args[..], more].concat();
    place.guild(&args).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn a_stop_string_over_several_tokens_ends_the_text_and_is_never_printed() {
    let place = Place::new();
    let whole = object(&run(&place, &["--json"]));
    let text = whole["text"].as_str().unwrap();
    assert_eq!(whole["finish"], "length");
    // The middle of the text, long enough for more than one token.
    let chars: Vec<char> = text.chars().collect();
    let stop: String = chars[chars.len() / 2..chars.len() / 2 + 8].iter().collect();
    let before = &text[..text.find(&stop).unwrap()];

    let stopped = object(&run(
        &place,
        &["--json", "--stop", "not in it", "--stop", &stop],
    ));
    assert_eq!(stopped["text"], before);
    assert_eq!(stopped["finish"], "stop");
    let tokens = stopped["tokens"].as_array().unwrap();
    assert!(tokens.len() < whole["tokens"].as_array().unwrap().len());
    assert_eq!(
        run(&place, &["--stop", &stop]).stdout,
        format!("{before}\n").into_bytes()
    );
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
