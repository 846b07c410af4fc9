//! Broken model files against the real program: each is refused with its own code and a message that names the fault,
//! without a panic or a signal, quickly, and in little memory. What is wrong with a model and not with its container
//! doesn't keep `inspect` from showing the rest.
#![cfg(all(feature = "builtin-cpu", feature = "builtin-qwen"))]

mod guild;
#[path = "../program/mod.rs"]
mod program;
mod terminal;

use guild::{Ended, Folder};
use guild_hostile::cases::{Case, Stage, all};
use guild_hostile::tiny;
use std::collections::BTreeSet;

#[test]
fn there_are_enough_cases_and_each_has_its_own_name() {
    let cases = all();
    assert!(cases.len() >= 60, "{}", cases.len());
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len());
}

#[test]
fn the_sound_models_are_served() {
    for model in [tiny::qwen35moe(), tiny::sentencepiece()] {
        let folder = Folder::of(&[("model.gguf".into(), model.bytes())]);
        for command in [INSPECT, PLAN, RUN_IDS, RUN_TEXT] {
            let ended = folder.guild(command);
            let said = format!("{}{}", ended.stdout, ended.stderr);
            assert_eq!(ended.exit, Some(0), "{command:?}: {said}");
            assert!(!said.contains("can't be used"), "{said}");
        }
    }
}

/// One test over the table, so that all failures of a change are seen at once.
#[test]
fn every_case_is_refused_with_its_code_and_names_the_fault() {
    let failures: Vec<String> = all().iter().filter_map(check).collect();
    assert!(
        failures.is_empty(),
        "{} failed:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// What is shown of special tokens costs one walk over the vocabulary, however many keys there are.
#[test]
fn keys_that_look_like_special_tokens_cost_no_time() {
    let folder = Folder::of(&[("model.gguf".into(), tiny::many_roles().bytes())]);
    let ended = folder.guild(INSPECT);
    let said = format!("{}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.exit, Some(0), "{said}");
    assert!(
        said.contains("eos = 99999") && said.contains("t99999"),
        "{said}"
    );
    assert!(!said.contains("role19999 ="), "{said}");
    assert!(ended.seconds <= SECONDS_MAX, "{} s", ended.seconds);
}

/// Seconds that any command on a model may take, broken or not.
const SECONDS_MAX: f64 = 1.0;
const INSPECT: &[&str] = &["inspect"];
const PLAN: &[&str] = &["plan", "--json", "-c", "16", "-t", "1"];
const RUN_IDS: &[&str] = &["run", "--json", "--prompt-ids", "1,2", "-n", "1", "-t", "1"];
const RUN_TEXT: &[&str] = &["run", "--json", "-p", "hello", "-n", "1", "-t", "1"];

/// Runs a case through its commands; gives what is wrong.
fn check(case: &Case) -> Option<String> {
    let folder = Folder::of(&case.files());
    let refused: &[&[&str]] = match case.stage {
        Stage::Container => &[INSPECT, PLAN, RUN_IDS],
        Stage::Model => &[PLAN, RUN_IDS],
        Stage::Weights => &[RUN_IDS],
        Stage::Tokenizer => &[RUN_TEXT],
    };
    let served: &[&[&str]] = match case.stage {
        Stage::Container => &[],
        Stage::Model => &[INSPECT],
        Stage::Weights => &[INSPECT, PLAN],
        Stage::Tokenizer => &[INSPECT, PLAN, RUN_IDS],
    };
    let refused = refused.iter().map(|command| (*command, case.exit));
    let served = served.iter().map(|command| (*command, 0));
    refused.chain(served).find_map(|(command, exit)| {
        let ended = folder.guild(command);
        let fault = fault(case, &ended, exit, folder.bytes)?;
        let words = (ended.stdout.trim(), ended.stderr.trim());
        Some(format!(
            "{}: {}: {fault}; it said {words:?}",
            case.name, command[0]
        ))
    })
}

fn fault(case: &Case, ended: &Ended, exit: i32, file_bytes: u64) -> Option<String> {
    const MEMORY_BYTES_MAX: u64 = 200 << 20;
    if ended.exit != Some(exit) {
        return Some(format!("it ended with {:?}, not {exit}", ended.exit));
    }
    let said = format!("{}{}", ended.stdout, ended.stderr);
    if said.contains("panicked") {
        return Some("it panicked".to_owned());
    }
    // A served command may still tell what it left out, as `inspect` does for a tokenizer.
    let must_say = exit != 0 || (case.stage == Stage::Tokenizer && ended.command == "inspect");
    // JSON escapes quotes and control characters once more.
    let spelled = |part: &str| {
        let json = serde_json::Value::from(part).to_string();
        said.contains(part) || said.contains(json.trim_matches('"'))
    };
    let missing = case.says.iter().find(|part| must_say && !spelled(part));
    if let Some(part) = missing {
        return Some(format!("the message lacks {part:?}"));
    }
    if ended.seconds > SECONDS_MAX {
        return Some(format!("it took {:.2} s", ended.seconds));
    }
    if ended.peak_bytes > file_bytes + MEMORY_BYTES_MAX {
        return Some(format!("it took {} bytes of memory", ended.peak_bytes));
    }
    None
}
