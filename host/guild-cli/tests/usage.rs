//! A command line that cannot be carried out: exit code 2, one JSON object where it was asked for, and
//! nothing lost.

mod program;

use std::process::Output;

fn guild(args: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = program::command(home.path());
    command.args(args).output().unwrap()
}

#[test]
fn a_wrong_command_line_is_a_json_failure_under_json() {
    let output = guild(&["--json", "kernel", "instal"]);
    assert_eq!(output.status.code(), Some(2));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&answer["schema"], &answer["ok"]),
        (&1.into(), &false.into())
    );
    assert_eq!(answer["code"], "USAGE");
    assert!(answer["message"].as_str().unwrap().contains("instal"));
    assert!(output.stderr.is_empty());
}

#[test]
fn without_json_it_is_text_for_people() {
    let output = guild(&["kernel", "instal"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    assert_eq!(guild(&["--help"]).status.code(), Some(0));
}

/// Whoever refuses a command line, the words have one shape, and a next step.
#[test]
fn every_refusal_of_a_command_line_has_one_line_a_code_and_a_hint() {
    for (line, message, hint) in [
        (
            "kernel trust add",
            "the following required arguments were not provided: --scope <PREFIX>, <PUBLIC>",
            "`guild help kernel trust add` says what it takes",
        ),
        (
            "kernel instal",
            "unrecognized subcommand 'instal'",
            "'install'",
        ),
        (
            "kernel floor x y",
            "invalid value 'y' for '[EPOCH]'",
            "`guild help kernel floor`",
        ),
        (
            "--nonsense",
            "unexpected argument '--nonsense' found",
            "usage: guild",
        ),
        // By the command itself.
        (
            "kernel disable NO",
            "ID: ",
            "`guild help kernel disable` says what it takes",
        ),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let refused = guild(&words);
        assert_eq!(refused.status.code(), Some(2), "{line}");
        let said = String::from_utf8(refused.stderr).unwrap();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.len(), 2, "{line}: {said}");
        assert!(lines[0].starts_with(&format!("error: {message}")), "{said}");
        assert!(lines[0].ends_with(" [USAGE]"), "{said}");
        assert!(
            lines[1].starts_with("hint: ") && lines[1].contains(hint),
            "{said}"
        );
        let answer = guild(&[&["--json"], &words[..]].concat());
        let answer: serde_json::Value = serde_json::from_slice(&answer.stdout).unwrap();
        let shown = format!("error: {} [USAGE]", answer["message"].as_str().unwrap());
        assert_eq!(shown, lines[0], "{line}");
        // The usage that clap shows depends on what was given.
        assert!(answer["hint"].as_str().unwrap().contains(hint), "{answer}");
    }
}

/// What only the program says to itself is in no list of options.
#[test]
fn completions_name_no_hidden_word() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = String::from_utf8(guild(&["completions", shell]).stdout).unwrap();
        assert!(script.contains("selftest"), "{shell}");
        for word in ["run-one", "__trial", "__probe"] {
            assert!(!script.contains(word), "{shell}: {word}");
        }
    }
}

/// clap suggests what is alike; where it finds nothing, the commands are listed.
#[test]
fn a_misspelt_command_gets_a_suggestion_or_the_list() {
    let message = |args: &[&str]| String::from_utf8(guild(args).stderr).unwrap();
    let listed = message(&["rnu"]);
    assert!(listed.contains("commands here are run, logits"), "{listed}");
    let below = message(&["-q", "kernel", "xyz"]);
    assert!(below.contains("commands here are keygen, sign"), "{below}");
    let alike = message(&["inspct"]);
    assert!(alike.contains("'inspect'") && !alike.contains("commands here"));
}

/// Tables with different columns in one stream are nothing that a reader of values can read.
#[test]
fn operations_are_refused_with_csv_before_a_model_is_opened() {
    let refused = guild(&["bench", "no-such-file", "--ops", "--format", "csv"]);
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("--json"), "{message}");
}

/// A committed model.
const MODEL: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/models/qwen35moe-small-bf16.gguf"
);

#[test]
#[cfg(all(feature = "builtin-cpu", feature = "builtin-qwen"))]
fn a_context_too_small_for_the_tokens_is_refused_before_any_is_made() {
    let ask = |context| {
        let ids = ["--prompt-ids", "1,2", "-n", "3", "-c", context];
        guild(&[&["run", MODEL], &ids[..]].concat())
    };
    let refused = ask("3");
    assert_eq!(refused.status.code(), Some(2));
    assert!(refused.stdout.is_empty());
    // Two of the prompt and two generated: the third is only written.
    assert_eq!(ask("4").status.code(), Some(0));
}

#[test]
#[cfg(all(feature = "builtin-cpu", feature = "builtin-qwen"))]
fn a_sampling_option_outside_its_range_is_named_with_its_value() {
    let cases = [
        (
            "--temp",
            "-1",
            "--temp is -1; it must be 0 or above, and finite",
        ),
        (
            "--temp",
            "nan",
            "--temp is NaN; it must be 0 or above, and finite",
        ),
        ("--top-p", "1.5", "--top-p is 1.5; it must be from 0 to 1"),
        ("--min-p", "-0.1", "--min-p is -0.1; it must be from 0 to 1"),
        ("--typical", "2", "--typical is 2; it must be from 0 to 1"),
        (
            "--repeat-penalty",
            "0",
            "--repeat-penalty is 0; it must be above 0, and finite",
        ),
        (
            "--presence-penalty",
            "inf",
            "--presence-penalty is inf; it must be finite",
        ),
        (
            "--frequency-penalty",
            "nan",
            "--frequency-penalty is NaN; it must be finite",
        ),
        (
            "--repeat-last-n",
            "16777217",
            "16777217 is not in 0..=16777216",
        ),
        (
            "--logit-bias",
            "3+inf",
            "--logit-bias is inf; it must be finite, or -inf",
        ),
        (
            "--logit-bias",
            "1024+1",
            "token 1024, and the vocabulary has 1024",
        ),
        ("--logit-bias", "3+1,3+2", "twice for token 3"),
        ("--logit-bias", "3", "isn't a token id"),
        ("--top-k", "-1", "--top-k"),
    ];
    for (option, value, words) in cases {
        let option = format!("{option}={value}");
        let refused = guild(&["run", MODEL, "--prompt-ids", "1", "-n", "1", &option]);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{option}: {said}");
        assert!(said.contains(words), "{option}: {said}");
    }
}

#[test]
#[cfg(all(feature = "builtin-cpu", feature = "builtin-qwen"))]
fn sampling_that_is_in_effect_is_reported() {
    let line = ["--json", "run", MODEL, "--prompt-ids", "1,2", "-n", "2"];
    let more = [
        "--temp",
        "0.8",
        "--top-k",
        "40",
        "--logit-bias",
        "7-inf",
        "--seed",
        "9",
    ];
    let output = guild(&[&line[..], &more].concat());
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let sampling = &answer["sampling"];
    assert_eq!(
        (&sampling["temp"], &sampling["top_k"]),
        (&0.8.into(), &40.into())
    );
    assert_eq!(sampling["logit_bias"][0]["bias"], "-inf");
    let said = guild(&[&line[1..], &more].concat()).stderr;
    let said = String::from_utf8_lossy(&said);
    assert!(
        said.contains("sampling: logit-bias 1, top-k 40, temp 0.8, seed 9"),
        "{said}"
    );
}

#[test]
fn logits_never_overwrite_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let (model, link) = (folder.path().join("m.gguf"), folder.path().join("l.npy"));
    std::fs::copy(MODEL, &model).unwrap();
    std::fs::hard_link(&model, &link).unwrap();
    let (model, link) = (model.to_str().unwrap(), link.to_str().unwrap());
    let refused = guild(&["logits", model, "--ids", "1,2", "--out", link]);
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(std::fs::read(model).unwrap(), std::fs::read(MODEL).unwrap());
}

#[test]
fn a_standard_error_that_is_full_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let status = program::command(home.path())
        .args(["inspect", "no-such-file"])
        .stderr(std::fs::File::create("/dev/full").unwrap())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(40));
}
