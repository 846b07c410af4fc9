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
