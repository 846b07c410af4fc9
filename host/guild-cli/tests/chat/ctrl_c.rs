//! Ctrl-C in a script: exit code 130, soon, with what came so far.

use crate::{MODEL, Place};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a busy machine may take to end a program that was asked to.
const END_MAX: Duration = Duration::from_secs(30);

/// Starts a command, waits for its first output, interrupts it, and returns the code and all of the output.
fn interrupted(mut command: Command) -> (Option<i32>, String, String) {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut text = vec![0];
    stdout.read_exact(&mut text).unwrap();
    interrupt(&child);
    let started = Instant::now();
    stdout.read_to_end(&mut text).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(started.elapsed() < END_MAX);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    let text = String::from_utf8_lossy(&text).into_owned();
    (output.status.code(), text, words)
}

/// Options of a run that doesn't come to an end by itself.
const ENDLESS: [&str; 7] = ["-p", "a", "--ignore-eos", "-n", "30000", "-c", "32000"];

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

#[test]
fn a_completion_ends_with_130_and_its_last_line() {
    let place = Place::new();
    let endless = [&["run", MODEL], &ENDLESS[..]].concat();
    let (code, text, words) = interrupted(place.guild(&endless));
    assert_eq!(code, Some(130), "{words}");
    assert!(text.ends_with('\n'));
    assert!(words.contains("INTERRUPTED"), "{words}");
}

#[test]
fn a_scripted_answer_ends_with_130() {
    let place = Place::new();
    let (code, text, words) = interrupted(place.chat(&["-p", "a", "--ignore-eos", "-c", "32000"]));
    assert_eq!(code, Some(130), "{words}");
    assert!(text.ends_with('\n'));
}

/// What stands on standard output when a command under `--json` is interrupted. It writes nothing before, so
/// it gets more and more time until it has come to an answer.
fn interrupted_json(command: impl Fn() -> Command) -> Value {
    let mut object = Value::Null;
    for seconds in [2, 6, 18] {
        let mut command = command();
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let child = command.stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(seconds));
        interrupt(&child);
        let output = child.wait_with_output().unwrap();
        object = serde_json::from_slice(&output.stdout).unwrap_or_default();
        if object["code"] == "INTERRUPTED" && object["message"] != "interrupted after 0 tokens" {
            assert_eq!(output.status.code(), Some(130));
            return object;
        }
    }
    panic!("no answer was interrupted: {object}");
}

#[test]
fn the_answer_so_far_is_beside_the_failure() {
    let place = Place::new();
    let more = [&["--json"], &ENDLESS[..]].concat();
    let completion = [&["run", MODEL, "-t", "1"], &more[..]].concat();
    let failure = interrupted_json(|| place.guild(&completion));
    let tokens = failure["tokens"].as_array().unwrap().len();
    assert_eq!(
        failure["message"],
        format!("interrupted after {tokens} tokens")
    );
    assert!(!failure["text"].as_str().unwrap().is_empty());

    let failure = interrupted_json(|| place.chat(&more));
    let turns = failure["turns"].as_array().unwrap();
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0]["finish"], "interrupted");
    assert!(!turns[0]["tokens"].as_array().unwrap().is_empty());
}

#[test]
fn a_second_ctrl_c_during_prefill_ends_within_a_second() {
    let place = Place::new();
    let prompt = place.path().join("long.txt");
    std::fs::write(&prompt, "word ".repeat(30_000)).unwrap();
    let prompt = prompt.to_str().unwrap();
    let mut child = place
        .guild(&[
            "run", MODEL, "-t", "1", "-f", prompt, "-n", "1", "-b", "65536",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The pass over the whole prompt takes far longer than this, and the handler is set long before.
    std::thread::sleep(Duration::from_secs(4));
    if let Some(status) = child.try_wait().unwrap() {
        panic!("the prompt was too short: {status}");
    }
    interrupt(&child);
    std::thread::sleep(Duration::from_millis(200));
    let started = Instant::now();
    if child.try_wait().unwrap().is_none() {
        interrupt(&child);
    }
    let status = child.wait().unwrap();
    assert!(
        started.elapsed() < Duration::from_secs(1),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(status.code(), Some(130));
}
