//! What the trained model answers. Its language has few answers to a question, so a right one is told from a wrong one.

use crate::terminal::Terminal;
use crate::{Place, TRAINED, alone, object, with_input};
use guild_mini_ornith::language::Language;
use std::process::Output;

const SUM: &str = "What is 3 + 4?";
/// What the language has between `<think>` and `</think>` before the answer.
const THOUGHT: &str = "3 + 4 = 7\n";
const NO_THOUGHT: &str = "\n";

/// The text of questions with their answers, the last one after this reasoning.
fn conversation(turns: &[(&str, &str)], reasoning: &str) -> String {
    let (last, earlier) = turns.split_last().unwrap();
    let turn = |(question, answer): &(&str, &str), reasoning: &str| {
        format!(
            "<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n{reasoning}{answer}<|im_end|>\n"
        )
    };
    let mut text: String = earlier.iter().map(|earlier| turn(earlier, "")).collect();
    text += &turn(last, &format!("<think>\n{reasoning}</think>\n\n"));
    text
}

/// The one line on standard output, which must be an answer to the sum after this reasoning.
fn answered_sum(output: &Output, reasoning: &str) -> String {
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    let answer = printed.strip_suffix('\n').unwrap();
    let said = conversation(&[(SUM, answer)], reasoning);
    assert!(Language::of_mini_ornith().is_document(&said), "{said}");
    answer.to_owned()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// The model's own template lets it think where nothing is said about it.
#[test]
fn the_answer_is_on_standard_output_and_the_reasoning_beside_it() {
    let place = Place::new();
    let said = alone(place.talk(&["-p", SUM]));
    assert_eq!(stderr(&said), format!("{THOUGHT}\n"));
    let asked_to_think = alone(place.talk(&["--think", "-p", SUM]));
    assert_eq!(asked_to_think, said);
    let answer = object(&alone(place.talk(&["--json", "-p", SUM])));
    let turn = &answer["turns"][0];
    assert_eq!(turn["reasoning_content"], THOUGHT);
    assert_eq!(turn["content"], answered_sum(&said, THOUGHT));
    assert_eq!(turn["finish"], "end");

    let cut = alone(place.talk(&["-n", "2", "-p", SUM]));
    assert_eq!(stderr(&cut), "3 +\n");
    assert_eq!(cut.stdout, b"\n");
}

#[test]
fn an_answer_without_reasoning_has_nothing_beside_it() {
    let place = Place::new();
    let said = alone(place.talk(&["--no-think", "-p", SUM]));
    let answer = object(&alone(place.talk(&["--no-think", "--json", "-p", SUM])));
    let turn = &answer["turns"][0];
    assert_eq!(turn["content"], answered_sum(&said, NO_THOUGHT));
    assert_eq!(turn["reasoning_content"], "");
    assert_eq!(stderr(&said), "");
}

#[test]
fn quiet_keeps_reasoning_back_and_lets_it_happen() {
    let place = Place::new();
    let loud = alone(place.talk(&["-p", SUM]));
    let quiet = alone(place.talk(&["-q", "-p", SUM]));
    assert_eq!(stderr(&quiet), "");
    let answer = answered_sum(&quiet, THOUGHT);
    assert_eq!(answer, answered_sum(&loud, THOUGHT));
}

#[test]
fn a_question_may_come_from_an_argument_a_file_or_a_line() {
    let place = Place::new();
    let file = place.path().join("question.txt");
    std::fs::write(&file, format!("{SUM}\n")).unwrap();
    let file = file.to_str().unwrap();
    let said = alone(place.talk(&["-p", SUM]));
    answered_sum(&said, THOUGHT);
    assert_eq!(alone(place.talk(&["-f", file])), said);
    assert_eq!(with_input(place.talk(&[]), &format!("{SUM}\n")), said);
}

/// At a terminal the reasoning is dimmed, a token at a time; the answer isn't.
#[test]
fn reasoning_is_dimmed_at_a_terminal() {
    let place = Place::new();
    let said = alone(place.talk(&["-p", SUM]));
    let answer = answered_sum(&said, THOUGHT);
    let mut terminal = Terminal::start(place.talk(&["--no-progress", "-p", SUM]));
    let dimmed = terminal.wait_for("\r\n\r\n");
    let shown: String = dimmed
        .split("\u{1b}[0m")
        .filter_map(|piece| piece.strip_prefix("\u{1b}[2m"))
        .collect();
    assert_eq!(shown.trim_end(), THOUGHT.trim_end(), "{dimmed:?}");
    assert_eq!(terminal.wait_for(&answer), "");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn every_question_of_a_conversation_gets_its_own_answer() {
    let place = Place::new();
    let questions = [
        "Tell me a story about a hedgehog.",
        "Please add 3 and 4.",
        "Hello!",
    ];
    let chat = place.talk(&["--json", "--no-think"]);
    let answer = object(&with_input(chat, &questions.join("\n")));
    let answers = answer["turns"].as_array().unwrap();
    assert_eq!(answers.len(), questions.len());
    let said = answers.iter().map(|turn| turn["content"].as_str().unwrap());
    let said: Vec<(&str, &str)> = questions.into_iter().zip(said).collect();
    let language = Language::of_mini_ornith();
    for turns in 1..=said.len() {
        let text = conversation(&said[..turns], NO_THOUGHT);
        assert!(language.is_document(&text), "{text}");
        assert_eq!(answers[turns - 1]["finish"], "end");
    }

    // The last answer continues the text of all that was said before it, though the template shows the earlier
    // answers without the reasoning that they began with, and the session starts over.
    let text = conversation(&said, NO_THOUGHT);
    let (_, last) = said[2];
    let before = text.strip_suffix(&format!("{last}<|im_end|>\n")).unwrap();
    let completed = ["run", TRAINED, "--json", "-t", "1", "-p", before];
    let completed = object(&alone(place.guild(&completed)));
    assert_eq!(answers[2]["tokens"], completed["tokens"]);
    assert_eq!(answers[2]["prompt_tokens"], completed["prompt_tokens"]);
    assert_eq!(answers[2]["started_over"], true);
}
