//! Configuration with the real binary: which value wins, who is named as its origin, and what is refused.

mod program;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A home folder, a project in it, and the binary that runs in the project.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        for below in ["home/project/.git", "config/guild"] {
            std::fs::create_dir_all(folder.path().join(below)).unwrap();
        }
        Place { folder }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(below)
    }

    fn write(&self, below: &str, text: &str) -> String {
        let path = self.path(below);
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    }

    fn user(&self, text: &str) -> String {
        self.write("config/guild/config.toml", text)
    }

    fn project(&self, text: &str) -> String {
        self.write("home/project/guild.toml", text)
    }

    fn run(&self, variables: &[(&str, &str)], args: &[&str]) -> Output {
        self.command(variables, args).output().unwrap()
    }

    /// A command that ends within ten seconds and says that what lies at `path` isn't a file.
    #[track_caller]
    fn refuses_as_no_file(&self, path: &Path) {
        let mut command = self.command(&[], &["kernel", "list"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let start = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if start.elapsed() > Duration::from_secs(10) {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("{} keeps guild waiting", path.display());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        let path = path.to_string_lossy();
        for part in ["not a regular file", &*path, "--no-config"] {
            assert!(text.contains(part), "{text}");
        }
    }

    fn command(&self, variables: &[(&str, &str)], args: &[&str]) -> Command {
        let mut command = program::command(&self.path("home"));
        command
            .args(args)
            .current_dir(self.path("home/project"))
            .env_remove("GUILD_NO_CONFIG")
            .env("XDG_CONFIG_HOME", self.path("config"))
            .envs(variables.iter().copied());
        command
    }

    /// The value of an option and its origin's kind, as `config show` has it.
    fn shown(&self, variables: &[(&str, &str)], args: &[&str], option: (&str, &str)) -> Value {
        let output = self.run(variables, &[&["--json", "config", "show"], args].concat());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = answer["settings"]
            .as_array()
            .unwrap_or_else(|| panic!("{answer}"));
        let row = rows
            .iter()
            .find(|row| row["command"] == option.0 && row["option"] == option.1);
        row.unwrap().clone()
    }

    /// The message and the hint of a refusal.
    #[track_caller]
    fn refused(&self, exit: i32) -> (String, String) {
        let output = self.run(&[], &["--json", "kernel", "list"]);
        assert_eq!(output.status.code(), Some(exit));
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = |key: &str| answer[key].as_str().unwrap().to_owned();
        (text("message"), text("hint"))
    }
}

/// A committed model.
const MODEL: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/models/qwen35moe-small-bf16.gguf"
);

const TEMP: (&str, &str) = ("run", "temp");

#[test]
fn a_stronger_layer_wins_and_is_named() {
    let place = Place::new();
    let shown = |variables: &[(&str, &str)], args: &[&str]| {
        let row = place.shown(variables, args, TEMP);
        (row["value"].clone(), row["origin"].clone())
    };
    let (built_in, origin) = shown(&[], &[]);
    assert_eq!(origin["kind"], "default");

    let user = place.user("\n[run]\ntemp = 0.1\n");
    let (value, origin) = shown(&[], &[]);
    assert_eq!(value, "0.1");
    assert_eq!(
        (&origin["layer"], &origin["line"]),
        (&"user".into(), &3.into())
    );
    assert_eq!(origin["path"], user);

    place.project("[run]\ntemp = 0.2\n");
    let (value, origin) = shown(&[], &[]);
    assert_eq!((value, &origin["layer"]), ("0.2".into(), &"project".into()));

    let named = place.write("named.toml", "run.temp = 0.3\n");
    let (value, origin) = shown(&[], &["--config", &named]);
    assert_eq!((value, &origin["layer"]), ("0.3".into(), &"named".into()));

    let variables = [("GUILD_RUN_TEMP", "0.4"), ("GUILD_CONFIG", &named)];
    let (value, origin) = shown(&variables, &[]);
    assert_eq!(
        (value, &origin["name"]),
        ("0.4".into(), &"GUILD_RUN_TEMP".into())
    );

    let (value, _) = shown(&[], &["--no-config"]);
    assert_eq!(value, built_in);
}

#[test]
fn a_flag_wins_over_all() {
    let place = Place::new();
    place.user("color = \"never\"\n");
    let args = ["--color", "always"];
    let row = place.shown(&[("GUILD_COLOR", "auto")], &args, ("", "color"));
    assert_eq!(row["value"], "always");
    assert_eq!(row["origin"]["kind"], "flag");
}

#[test]
fn the_table_of_all_models_is_weaker_than_a_commands_own() {
    let place = Place::new();
    place.user("[bench]\nthreads = 3\n[model]\nthreads = 2\nbatch = 0x10\n");
    let threads = |command| place.shown(&[], &[], (command, "threads"))["value"].clone();
    // `bench` takes a list of them.
    assert_eq!(threads("run"), "2");
    assert_eq!(threads("bench"), serde_json::json!(["3"]));
    let batch = place.shown(&[], &[], ("plan", "batch"));
    assert_eq!(batch["value"], "16");
}

/// What is configured is what a command gets, not only what is shown.
#[test]
fn a_command_uses_the_configured_values() {
    let place = Place::new();
    let missing = |variables: &[(&str, &str)], args: &[&str]| {
        let output = place.run(variables, &[&["inspect", "no-such-file"], args].concat());
        assert_eq!(output.status.code(), Some(40));
        !output.stdout.is_empty()
    };
    assert!(!missing(&[], &[]));
    place.user("json = true\n");
    assert!(missing(&[], &[]));
    assert!(!missing(&[("GUILD_JSON", "off")], &[]));
    assert!(
        missing(&[("GUILD_JSON", "")], &[]),
        "an empty variable counts as unset"
    );
    assert!(!missing(&[], &["--no-config"]));
}

#[test]
fn an_unknown_key_is_an_error_with_its_place_and_a_suggestion() {
    let place = Place::new();
    let file = place.user("# line 1\n[run]\ntemperature = 1\n");
    let (message, hint) = place.refused(2);
    assert!(message.contains(&format!("{file}:3")), "{message}");
    assert!(message.contains("run.temperature"), "{message}");
    assert_eq!(hint, "did you mean run.temp?");

    place.user("[modle]\nthreads = 2\n");
    let (message, hint) = place.refused(2);
    assert!(message.contains("[modle]"), "{message}");
    assert_eq!(hint, "did you mean [model]?");
}

#[test]
fn wrong_values_wrong_types_and_broken_files_name_the_line() {
    let place = Place::new();
    let cases = [
        ("[model]\n\nthreads = 0\n", ":3"),
        ("[model]\nthreads = true\n", ":2"),
        ("json = 1\n", ":1"),
        ("[run]\ntemp = 1\n\ntemp = 2\n", ":4"),
        ("no_progress = true\nno-progress = true\n", "twice"),
        ("json = \n", ":1"),
        ("log_format = \"xml\"\n", "xml"),
        ("config = \"x\"\n", "no setting config"),
    ];
    for (text, part) in cases {
        place.user(text);
        let (message, _) = place.refused(2);
        assert!(message.contains(part), "{text:?}: {message}");
    }
    std::fs::write(
        place.path("config/guild/config.toml"),
        b"json = true\n\xff\n",
    )
    .unwrap();
    let (message, _) = place.refused(2);
    assert!(
        message.contains(":2") && message.contains("UTF-8"),
        "{message}"
    );
}

/// A folder that somebody else made must not decide what code runs or which files are written.
#[test]
fn a_projects_file_cannot_weaken_safety() {
    let place = Place::new();
    let guarded = [
        "data_dir = \"x\"",
        "log_file = \"x\"",
        "model.external_only = false",
        "model.no_builtin_cpu = true",
        "model.no_builtin_qwen = true",
        "model.allow_reference = true",
        "run.allow_reference = true",
        "logits.out = \"x\"",
        "kernel.trust.add.scope = [\"*\"]",
        "kernel.verify.id = \"a.b\"",
        "model.no_fit_check = true",
        "model.memory_limit = \"1TiB\"",
        "run.no_fit_check = true",
        "run.prompt = \"x\"",
        "run.system = \"x\"",
        "run.template_kwargs = \"{}\"",
        "run.stop = [\"x\"]",
        "run.tools = \"x\"",
        "run.chat_template = \"x\"",
        "run.logit_bias = \"1-inf\"",
        "json = true",
        "quiet = true",
        "log = \"off\"",
    ];
    for line in guarded {
        place.project(&format!("{line}\n"));
        let (message, hint) = place.refused(2);
        assert!(
            message.contains("guild.toml:1: a project's file can't set"),
            "{line}: {message}"
        );
        assert!(hint.contains("GUILD_"), "{line}: {hint}");
        // Whoever names the file, or owns it, may.
        place.project("");
        place.user(&format!("{line}\n"));
        let output = place.run(&[], &["config", "show"]);
        assert_eq!(output.status.code(), Some(0), "{line}");
        place.user("");
    }
    // What a person agrees to each time is no setting at all, whoever owns the file.
    for line in [
        "kernel.install.allow_downgrade = true",
        "kernel.install.accept_new_publisher = true",
        "kernel.trust.add.i_understand = true",
        "kernel.keygen.test_identity = true",
        "kernel.keygen.no_passphrase = true",
    ] {
        place.user(&format!("{line}\n"));
        let (message, _) = place.refused(2);
        assert!(
            message.contains("guild has no setting"),
            "{line}: {message}"
        );
        place.user("");
    }
}

/// What is configured is a default: it isn't in the way of what the command line says.
#[test]
fn a_configured_value_gives_way_to_a_flag_that_excludes_it() {
    let place = Place::new();
    let ids = |output: Output| {
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["prompt_tokens"].clone()
    };
    place.user("json = true\nrun.prompt = \"a\"\nrun.tokens = 1\n");
    let run = |variables: &[(&str, &str)], args: &[&str]| {
        ids(place.run(variables, &[&["run", MODEL], args].concat()))
    };
    let variables = [("GUILD_RUN_CHAT", "0"), ("GUILD_RUN_PROMPT", "b")];
    assert_eq!(run(&variables, &["--prompt-ids", "1,2,3"]), 3);
    let text = place.write("home/project/text", "abcdef");
    let long = run(&[], &["--file", &text]);
    assert!(long.as_u64() > run(&[], &[]).as_u64(), "{long}");
}

#[test]
fn paths_in_a_file_start_at_the_file() {
    let place = Place::new();
    place.user("data_dir = \"store\"\n");
    let row = place.shown(&[], &[], ("", "data-dir"));
    let expected = place.path("config/guild/store");
    assert_eq!(Path::new(row["value"].as_str().unwrap()), expected);
}

/// A pipe that nobody writes to would keep a reader waiting for good.
#[test]
fn what_is_found_and_is_no_file_is_refused_at_once() {
    let place = Place::new();
    for below in ["home/project/guild.toml", "config/guild/config.toml"] {
        let path = place.path(below);
        fifo(&path);
        place.refuses_as_no_file(&path);
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        place.refuses_as_no_file(&path);
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        place.refuses_as_no_file(&path);
        std::fs::remove_dir(&path).unwrap();
    }
    place.project(&format!("#{}\n", "x".repeat(1 << 20)));
    let (message, _) = place.refused(2);
    assert!(message.contains("1048576 bytes"), "{message}");
}

/// A link to a file is a file, and who names a pipe gets what is written to it.
#[test]
fn links_and_named_pipes_are_read() {
    let place = Place::new();
    let elsewhere = place.write("elsewhere.toml", "run.temp = 0.5\n");
    std::os::unix::fs::symlink(elsewhere, place.path("home/project/guild.toml")).unwrap();
    assert_eq!(place.shown(&[], &[], TEMP)["value"], "0.5");

    let pipe = place.path("pipe");
    fifo(&pipe);
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::write(pipe, "run.temp = 0.25\n")
    });
    let named = pipe.to_string_lossy();
    let shown = place.shown(&[], &["--config", &named], TEMP);
    assert_eq!(shown["value"], "0.25");
    writer.join().unwrap().unwrap();
}

fn fifo(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

#[test]
fn a_named_file_must_be_there() {
    let place = Place::new();
    let output = place.run(&[], &["--config", "nowhere.toml", "kernel", "list"]);
    assert_eq!(output.status.code(), Some(40));
}

#[test]
fn help_works_though_the_configuration_is_broken() {
    let place = Place::new();
    place.user("nonsense");
    assert_eq!(place.run(&[], &["run", "--help"]).status.code(), Some(0));
    assert_eq!(place.run(&[], &["--version"]).status.code(), Some(0));
    assert_eq!(place.run(&[], &["kernel", "list"]).status.code(), Some(2));
}

#[test]
fn booleans_of_variables_have_several_spellings() {
    let place = Place::new();
    let json = |value: &str| {
        let output = place.run(&[("GUILD_JSON", value)], &["kernel", "list"]);
        (
            output.status.code().unwrap(),
            output.stdout.first() == Some(&b'{'),
        )
    };
    for on in ["1", "true", "on", "yes"] {
        assert_eq!(json(on), (0, true), "{on}");
    }
    for off in ["0", "false", "off", "no"] {
        assert_eq!(json(off), (0, false), "{off}");
    }
    assert_eq!(json("perhaps").0, 2);
}

#[test]
fn a_variable_that_nothing_reads_is_a_warning() {
    let place = Place::new();
    let output = place.run(&[("GUILD_TREADS", "2")], &["kernel", "list"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        text.contains("GUILD_TREADS") && text.contains("GUILD_THREADS"),
        "{text}"
    );
}

#[test]
fn a_wrong_value_of_a_variable_names_the_variable() {
    let place = Place::new();
    let output = place.run(&[("GUILD_THREADS", "many")], &["plan", "x"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("GUILD_THREADS"), "{text}");
}
