//! What goes where: data to standard output, all else to standard error or the log file.

mod program;

use std::process::{Output, Stdio};

fn guild(variables: &[(&str, &str)], args: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    program::command(home.path())
        .args(args)
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A command that warns: a variable that nothing reads.
const WARNS: (&str, &str) = ("GUILD_NO_SUCH_THING", "1");

#[test]
fn log_lines_go_to_stderr_in_the_format_asked_for() {
    let plain = guild(&[WARNS], &["kernel", "list"]);
    assert!(
        text(&plain.stderr).contains("WARN"),
        "{}",
        text(&plain.stderr)
    );
    assert!(plain.stdout.is_empty());
    let json = guild(
        &[WARNS],
        &["kernel", "list", "--json", "--log-format", "json"],
    );
    let line = text(&json.stderr);
    let line: serde_json::Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    assert_eq!(line["level"], "WARN");
    assert!(serde_json::from_slice::<serde_json::Value>(&json.stdout).is_ok());
}

#[test]
fn quiet_keeps_sentences_and_warnings_back() {
    let loud = guild(&[WARNS], &["kernel", "list"]);
    assert!(text(&loud.stderr).contains("No package is installed"));
    let quiet = guild(&[WARNS], &["-q", "kernel", "list"]);
    assert!(quiet.stderr.is_empty(), "{}", text(&quiet.stderr));
    // A failure is said all the same.
    let failed = guild(&[], &["-q", "inspect", "no-such-file"]);
    assert!(text(&failed.stderr).contains("no-such-file"));
}

#[test]
fn a_log_file_takes_the_lines() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log");
    let path = file.to_string_lossy();
    let output = guild(&[WARNS], &["kernel", "list", "--log-file", &path]);
    assert!(!text(&output.stderr).contains("WARN"));
    assert!(
        std::fs::read_to_string(&file)
            .unwrap()
            .contains("GUILD_NO_SUCH_THING")
    );
    let nowhere = folder.path().join("no/folder");
    let refused = guild(
        &[],
        &["kernel", "list", "--log-file", &nowhere.to_string_lossy()],
    );
    assert_eq!(refused.status.code(), Some(40));
}

#[test]
fn a_filter_that_is_none_is_refused() {
    assert_eq!(
        guild(&[("GUILD_LOG", "a=b=c")], &["kernel", "list"])
            .status
            .code(),
        Some(2)
    );
    let debug = guild(&[("GUILD_LOG", "debug")], &["kernel", "list"]);
    assert_eq!(debug.status.code(), Some(0));
}

#[test]
fn colours_follow_the_option_and_the_variables() {
    let coloured = |variables: &[(&str, &str)], args: &[&str]| {
        let output = guild(variables, &[args, &["--help"]].concat());
        text(&output.stdout).contains('\u{1b}')
    };
    assert!(!coloured(&[], &[]), "not a terminal");
    assert!(coloured(&[], &["--color", "always"]));
    assert!(coloured(&[("CLICOLOR_FORCE", "1")], &[]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1")], &["--color", "never"]));
    assert!(!coloured(&[("NO_COLOR", "1")], &[]));
    let logged = |args: &[&str]| {
        let output = guild(&[WARNS], &[args, &["kernel", "list"]].concat());
        text(&output.stderr).contains('\u{1b}')
    };
    assert!(logged(&["--color", "always"]) && !logged(&["--color", "auto"]));
}

/// As `guild … | head -0` does.
#[test]
fn a_reader_that_goes_away_ends_the_command_quietly() {
    let model = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/models/qwen35moe-small-bf16.gguf"
    );
    for args in [
        &["inspect", model][..],
        &["config", "show"],
        &["man"],
        &["completions", "zsh"],
        &["--help"],
        &["--version"],
        &["--version", "--json"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let home = tempfile::tempdir().unwrap();
        let output = program::command(home.path())
            .args(args)
            .stdout(Stdio::from(writer))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(
            output.stderr.is_empty(),
            "{args:?}: {}",
            text(&output.stderr)
        );
    }
}

/// Help and version too say that what they were to write didn't get there.
#[test]
fn a_full_disk_is_an_io_failure() {
    for args in [
        &["--help"][..],
        &["run", "--help"],
        &["--version"],
        &["man"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let home = tempfile::tempdir().unwrap();
        let output = program::command(home.path())
            .args(args)
            .stdout(Stdio::from(full.unwrap()))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(40), "{args:?}");
        let message = text(&output.stderr);
        assert!(message.contains("standard output"), "{args:?}: {message}");
    }
}

#[test]
fn the_version_names_target_and_abi() {
    let line = text(&guild(&[], &["--version"]).stdout);
    assert!(
        line.starts_with("guild ") && line.contains("host-abi 1."),
        "{line}"
    );
    let answer: serde_json::Value =
        serde_json::from_slice(&guild(&[], &["--version", "--json"]).stdout).unwrap();
    assert_eq!(answer["version"], env!("CARGO_PKG_VERSION"));
    assert!(line.contains(answer["target"].as_str().unwrap()));
}

#[cfg(all(feature = "builtin-cpu", feature = "builtin-qwen"))]
const MODEL: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/models/qwen35moe-small-bf16.gguf"
);

#[test]
#[cfg(all(feature = "builtin-cpu", feature = "builtin-qwen"))]
fn verbose_runs_tell_how_the_model_was_loaded() {
    let run = |flags: &[&str]| {
        let line = ["run", MODEL, "--prompt-ids", "5,6,7", "-n", "3"];
        let output = guild(&[], &[flags, &line].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        (text(&output.stdout), text(&output.stderr))
    };
    let (plain, silent) = run(&[]);
    let (informed, information) = run(&["-v"]);
    let (detailed, details) = run(&["-vv"]);
    assert!(!silent.contains("INFO"), "{silent}");
    for part in [
        "model file opened",
        "qwen35moe-small-bf16.gguf",
        "builtin.org.guild.kernels.cpu",
        "builtin.org.guild.runners.qwen",
        "runner chosen",
        "rows=3",
        "memory planned",
        "weights read",
        "sampler in effect",
    ] {
        assert!(
            information.contains(part),
            "{part:?} isn't in {information}"
        );
        assert!(details.contains(part), "{part:?} isn't in {details}");
    }
    for part in ["instruction set", "leases taken", "tokenizer of the file"] {
        assert!(!information.contains(part), "{part:?} is in {information}");
        assert!(details.contains(part), "{part:?} isn't in {details}");
    }
    assert_eq!((&informed, &detailed), (&plain, &plain));
}

#[test]
#[cfg(all(feature = "builtin-cpu", feature = "builtin-qwen"))]
fn perplexity_of_a_text_that_spells_control_tokens_says_how_they_are_read() {
    use guild_mini_ornith::{HELD_OUT, MODEL};
    let line = ["perplexity", MODEL, "-f", HELD_OUT, "--chunks", "1"];
    let said = |more: &[&str]| text(&guild(&[], &[&line, more].concat()).stderr);
    let note = "--special reads them as tokens";
    assert!(said(&[]).contains(note));
    assert!(!said(&["--special"]).contains(note));
}

/// Not even with all details, to standard error or to a file.
#[test]
#[cfg(all(feature = "builtin-cpu", feature = "builtin-qwen"))]
fn no_prompt_and_no_story_is_logged() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let line = [
        "run",
        guild_mini_ornith::MODEL,
        "-n",
        "16",
        "-p",
        "Once upon a time",
    ];
    let to_file = ["--log", "trace", "--log-file", &*log.to_string_lossy()];
    let shown = guild(&[], &[&["-vv"], &line[..]].concat());
    let filed = guild(&[], &[&to_file[..], &line].concat());
    assert!(shown.status.success() && filed.status.success());
    let story = text(&shown.stdout);
    let log = std::fs::read_to_string(log).unwrap();
    for logged in [&log, &text(&shown.stderr)] {
        assert!(logged.contains("sampler in effect"), "{logged}");
        for words in ["upon", story.trim(), story.split_once(" named ").unwrap().0] {
            assert!(!logged.contains(words), "{words:?} is in {logged}");
        }
    }
}

#[test]
#[cfg(all(feature = "builtin-cpu", feature = "builtin-qwen"))]
fn an_instruction_set_that_is_none_is_the_users_to_mend() {
    let line = ["--json", "plan", MODEL];
    let output = guild(&[("GUILD_CPU_ISA", "foo")], &line);
    assert_eq!(output.status.code(), Some(2));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["code"], "USAGE");
    assert_eq!(
        answer["hint"],
        "unset GUILD_CPU_ISA or set it to one of portable, avx2, avxvnni, avx512, avx512vnni, amx"
    );
}

/// What happened and what to do stand apart.
#[test]
fn a_failure_has_its_next_step_in_the_hint() {
    let failed = |args: &[&str]| -> serde_json::Value {
        serde_json::from_slice(&guild(&[], args).stdout).unwrap()
    };
    let missing = failed(&["--json", "inspect", "no-such-file"]);
    assert_eq!(
        missing["hint"],
        "check that the file exists and may be read"
    );
    assert!(!missing["message"].as_str().unwrap().contains("check"));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    std::fs::write(&path, b"GGUF").unwrap();
    let damaged = failed(&["--json", "inspect", &path.to_string_lossy()]);
    assert_eq!(damaged["hint"], "download or convert the file again");
}

#[test]
#[cfg(all(
    feature = "builtin-cpu",
    feature = "builtin-qwen",
    feature = "builtin-llama"
))]
fn an_unknown_architecture_is_named_with_the_known_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    let mut model = guild_hostile::tiny::qwen35moe();
    model.set(
        "general.architecture",
        guild_hostile::writer::text("nonesuch"),
    );
    std::fs::write(&path, model.bytes()).unwrap();
    let plan = |more: &[&str]| -> serde_json::Value {
        let path = path.to_string_lossy();
        let line = [&["--json", "plan", &*path], more].concat();
        serde_json::from_slice(&guild(&[], &line).stdout).unwrap()
    };
    let answer = plan(&[]);
    assert_eq!(answer["code"], "UNSUPPORTED");
    let message = answer["message"].as_str().unwrap();
    for part in ["nonesuch", "qwen35moe", "llama"] {
        assert!(message.contains(part), "{part:?} isn't in {message:?}");
    }
    assert!(
        message.len() < 200 && !message.contains("not loaded"),
        "{message}"
    );
    assert_eq!(
        answer["hint"],
        "install a package with a runner for it; `guild inspect` still shows the file"
    );
    let less = plan(&["--no-builtin-llama"]);
    let message = less["message"].as_str().unwrap();
    assert!(
        message.ends_with("not loaded: org.guild.runners.llama"),
        "{message}"
    );
    assert!(less["hint"].as_str().unwrap().contains("--no-builtin-"));
}
