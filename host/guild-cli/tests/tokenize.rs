//! `guild tokenize` as a user runs it. Ids were made by the `tokenizers` Python package and by transformers.

mod program;

use std::io::Write;
use std::process::{Output, Stdio};

const MODEL: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/models/qwen35moe-tiny-Q4_K_M.gguf"
);

/// A model with stories, sums and conversations in its language.
const TRAINED: &str = guild_mini_ornith::MODEL;

fn guild(arguments: &[&str], input: &[u8]) -> Output {
    guild_with(MODEL, arguments, input)
}

fn guild_with(model: &str, arguments: &[&str], input: &[u8]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut child = program::command(home.path())
        .args(["tokenize", model])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input may be gone.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn stdout(arguments: &[&str], input: &[u8]) -> String {
    stdout_with(MODEL, arguments, input)
}

fn stdout_with(model: &str, arguments: &[&str], input: &[u8]) -> String {
    let output = guild_with(model, arguments, input);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert!(error.is_empty(), "{error}");
    String::from_utf8(output.stdout).unwrap()
}

/// A text with markers and characters of several tokens, and its ids with markers and without.
fn golden() -> (String, [Vec<u32>; 2]) {
    let golden = include_str!("../../../tests/data/tokenizer/qwen35moe-tiny.json");
    let golden: serde_json::Value = serde_json::from_str(golden).unwrap();
    let mut cases = golden["cases"].as_array().unwrap().iter();
    let case = cases.find(|case| {
        let text = case["text"].as_str().unwrap();
        text.contains("<|im_start|>") && text.contains("12345")
    });
    let case = case.unwrap();
    let ids = |key: &str| serde_json::from_value(case[key].clone()).unwrap();
    (
        case["text"].as_str().unwrap().into(),
        [ids("ids"), ids("ids_without_control")],
    )
}

fn listed(ids: &[u32]) -> String {
    let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
    ids.join(",")
}

#[test]
fn text_from_every_source_gives_the_ids_of_the_python_package() {
    let (text, [ids, plain]) = golden();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    std::fs::write(&file, &text).unwrap();
    let want = listed(&ids) + "\n";
    assert_eq!(stdout(&["-p", &text], b""), want);
    assert_eq!(stdout(&["-f", file.to_str().unwrap()], b""), want);
    assert_eq!(stdout(&[], text.as_bytes()), want);
    let plain = listed(&plain) + "\n";
    assert_eq!(stdout(&["--no-special", "-p", &text], b""), plain);
    assert_eq!(
        stdout(&["--count"], text.as_bytes()),
        format!("{}\n", ids.len())
    );
    assert_eq!(stdout(&["-p", ""], b""), "\n");
}

#[test]
fn prompts_and_answers_of_a_trained_model_have_the_ids_of_transformers() {
    let golden = guild_mini_ornith::golden();
    let ids =
        |value: &serde_json::Value| -> Vec<u32> { serde_json::from_value(value.clone()).unwrap() };
    let cases = golden["greedy"].as_array().unwrap();
    assert!(cases.len() >= 4);
    for case in cases {
        let [prompt, text] = ["prompt", "text"].map(|key| case[key].as_str().unwrap());
        let mut all = ids(&case["prompt_ids"]);
        assert_eq!(
            stdout_with(TRAINED, &["-p", prompt], b""),
            listed(&all) + "\n"
        );
        all.extend(ids(&case["ids"]));
        let decoded = stdout_with(TRAINED, &["--ids", &listed(&all)], b"");
        assert_eq!(decoded, format!("{text}\n"));
    }
}

/// As llama.cpp's programs read a file. A text of the command line is taken as it is.
#[test]
fn one_newline_at_the_end_of_a_file_or_of_standard_input_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    std::fs::write(&file, "a\n\n").unwrap();
    let want = stdout(&["-p", "a\n"], b"");
    assert_ne!(want, stdout(&["-p", "a"], b""));
    assert_eq!(stdout(&["-f", file.to_str().unwrap()], b""), want);
    assert_eq!(stdout(&[], b"a\n\n"), want);
    assert_eq!(stdout(&[], b"a\n"), stdout(&["-p", "a"], b""));
    assert_eq!(stdout(&[], b"\n"), "\n");
}

#[test]
fn a_text_may_begin_with_a_hyphen() {
    assert_eq!(stdout(&["-p", "- a"], b""), stdout(&[], b"- a"));
    assert_eq!(stdout(&["-p", "--ids"], b""), stdout(&[], b"--ids"));
}

#[test]
fn ids_give_the_text() {
    let (text, [ids, plain]) = golden();
    assert_eq!(stdout(&["--ids", &listed(&ids)], b""), format!("{text}\n"));
    assert_eq!(
        stdout(&["--ids", &listed(&plain)], b""),
        format!("{text}\n")
    );
    assert_eq!(
        stdout(&["--ids", "1016,1018,64"], b""),
        "<|endoftext|><|im_end|>a\n"
    );
    assert_eq!(
        stdout(&["--no-special", "--ids", "1016,1018,64"], b""),
        "a\n"
    );
}

#[test]
fn pieces_are_one_a_line_and_bytes_in_json() {
    // The first two bytes of é and of 🦙 are tokens of their own in so small a vocabulary.
    let text = "a🦙\n";
    let lines = stdout(&["--pieces", "-p", text], b"");
    assert!(lines.starts_with("64\t\"a\"\n"), "{lines}");
    assert!(lines.contains("\"\\xf0"), "{lines}");
    assert!(lines.ends_with("\t\"\\n\"\n"), "{lines}");
    let answer: serde_json::Value =
        serde_json::from_str(&stdout(&["--json", "-p", text], b"")).unwrap();
    assert_eq!(answer["ok"], true);
    let pieces = answer["pieces"].as_array().unwrap();
    assert_eq!(answer["count"], pieces.len());
    assert_eq!(answer["ids"].as_array().unwrap().len(), pieces.len());
    assert_eq!(pieces[0], "a");
    assert!(pieces[1]["bytes"].is_string(), "{answer}");
    assert!(answer.get("text").is_none());
    let ids: Vec<u32> = serde_json::from_value(answer["ids"].clone()).unwrap();
    let decoded = stdout(&["--json", "--ids", &listed(&ids)], b"");
    let decoded: serde_json::Value = serde_json::from_str(&decoded).unwrap();
    assert_eq!(decoded["text"], text);
    assert_eq!(decoded["ids"], answer["ids"]);
}

#[test]
fn what_cannot_be_done_is_refused() {
    for (arguments, input, says) in [
        (&["--ids", "1,1024"][..], &b""[..], "1024"),
        (&["--add-bos", "-p", "x"], b"", "beginning-of-text"),
        (&["--add-bos", "--no-bos", "-p", "x"], b"", "--no-bos"),
        (&["--ids", "1", "-p", "x"], b"", "--ids"),
        (&[], b"ab\xff", "not UTF-8 at byte 2"),
    ] {
        let output = guild(arguments, input);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(says), "{arguments:?}: {error}");
    }
    let missing = guild(&["-f", "no such file"], b"");
    assert_eq!(missing.status.code(), Some(40));
}
