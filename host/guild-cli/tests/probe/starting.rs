//! Row 41: a trial run that can't take place, or that somebody else has a hand in, is a failed one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::fixture::{Bench, Package};
use crate::trial::{in_init, refused_by};
use guild_loader::probe::{ChildProbe, Helper};

#[track_caller]
fn refused_with(helper: &Path, words: &[&str]) {
    let probe = ChildProbe::new(Helper::File(helper.to_owned()));
    refused_by(&probe, &Package::of("good"), words);
}

fn file(folder: &Path, bytes: &[u8], mode: u32) -> PathBuf {
    let path = folder.join("helper");
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

/// A program that answers with this text.
fn answering(folder: &Path, statements: &str) -> PathBuf {
    let (source, program) = (folder.join("helper.c"), folder.join("helper"));
    let text = format!("#include <stdio.h>\nint main(void) {{ {statements} return 0; }}\n");
    fs::write(&source, text).unwrap();
    let built = Command::new("cc")
        .args(["-o"])
        .args([&program, &source])
        .status();
    assert!(built.unwrap().success());
    program
}

#[test]
fn row_41_the_helper_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    refused_with(
        &folder.path().join("gone"),
        &["could not be started", "never activated"],
    );
    refused_with(folder.path(), &["could not be started"]);
}

#[test]
fn row_41_the_helper_is_not_executable() {
    let folder = tempfile::tempdir().unwrap();
    let program = fs::read("/bin/true").unwrap();
    let helper = file(folder.path(), &program, 0o644);
    refused_with(&helper, &["could not be started"]);
}

#[test]
fn row_41_the_helper_is_corrupt() {
    let folder = tempfile::tempdir().unwrap();
    let program = fs::read(env!("CARGO_BIN_EXE_guild")).unwrap();
    for length in [0, 16, 4096] {
        let helper = file(folder.path(), &program[..length], 0o755);
        refused_with(&helper, &[]);
    }
    let mut damaged = program;
    let middle = damaged.len() / 2;
    damaged[64..middle].fill(0);
    refused_with(&file(folder.path(), &damaged, 0o755), &[]);
}

#[test]
fn row_41_the_helper_says_nothing() {
    refused_with("/bin/true".as_ref(), &["did not answer in two lines"]);
    refused_with("/bin/false".as_ref(), &["exit code 1"]);
}

#[test]
fn row_41_the_helper_says_what_was_not_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let first = "puts(\"{\\\"landlock_abi\\\":7,\\\"seccomp\\\":true}\");";
    let report = |id: &str| {
        format!(
            "{first} puts(\"{{\\\"schema\\\":1,\\\"report\\\":{{\\\"descriptor\\\":{{\\\"id\\\":\\\"{id}\\\",\\\"version\\\":\\\"1.0.0\\\",\\\"operations\\\":[],\\\"runners\\\":[]}},\\\"golden\\\":[]}}}}\");"
        )
    };
    for (statements, word) in [
        (report("org.other"), "says that it is org.other"),
        (report("org.test.plugin"), "does not offer"),
        (first.to_owned(), "did not answer in two lines"),
        (format!("{first} puts(\"no\");"), "not to be believed"),
        (
            format!("for (int i = 0; i < 5000000; i++) {first}"),
            "not to be believed",
        ),
    ] {
        refused_with(&answering(folder.path(), &statements), &[word]);
    }
}

/// Where the system can't shut a trial run in, policy decides.
#[test]
fn less_than_a_whole_sandbox_is_refused_where_it_is_required() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = "puts(\"{\\\"schema\\\":1,\\\"refused\\\":{\\\"code\\\":\\\"X\\\",\\\"message\\\":\\\"reached\\\"}}\");";
    for (landlock, seccomp, word) in [
        (0, true, "no Landlock"),
        (7, false, "no seccomp"),
        (0, false, "neither Landlock nor seccomp"),
    ] {
        let first =
            format!("puts(\"{{\\\"landlock_abi\\\":{landlock},\\\"seccomp\\\":{seccomp}}}\");");
        let helper = answering(folder.path(), &format!("{first} {refusal}"));
        let probe = ChildProbe::new(Helper::File(helper));
        refused_by(&probe, &Package::of("good"), &["X reached"]);
        refused_by(
            &probe.require_sandbox(true),
            &Package::of("good"),
            &[word, "--require-sandbox"],
        );
    }
}

/// The child's side is for the host alone: it ends with whoever started it, and takes no other words.
#[test]
fn nobody_starts_it_by_hand() {
    let guild = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_guild"))
            .args(words)
            .output()
            .unwrap();
        assert!(output.stdout.is_empty());
        let text = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), text)
    };
    for words in [
        &["__probe"][..],
        &["__probe", "1", "2", "3"],
        &["__probe", "1", "2", "3", "x"],
        &["__probe", "1", "2", "3", "4", "more"],
    ] {
        let (code, text) = guild(words);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains("guild kernel install"), "{text}");
    }
    let (code, text) = guild(&["__probe", "1", "0", "0", "0"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("has ended"), "{text}");
}

/// Whether a process runs: it is there, and no mere entry that waits to be asked for.
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}

/// Waits for what comes within seconds.
#[track_caller]
fn eventually<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(8), "it didn't come");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A command that is killed leaves no code on trial behind, and no change.
#[test]
fn a_trial_run_ends_with_its_host() {
    let bench = Bench::new();
    let (bundle, _) = bench.sign(&Package {
        defines: &in_init("for (;;) sleep(1000);"),
        ..Package::of("in_init")
    });
    let generation = bench.store.generation().unwrap();
    let mut host = Command::new(env!("CARGO_BIN_EXE_guild"))
        .arg("--data-dir")
        .arg(bench.path())
        .args(["kernel", "install"])
        .arg(&bundle)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let list = format!("/proc/{0}/task/{0}/children", host.id());
    let child = eventually(|| {
        let children = fs::read_to_string(&list).unwrap_or_default();
        children.split_whitespace().next().map(str::to_owned)
    });
    // Time enough to get to `init`; what it does before ends with its host too.
    std::thread::sleep(Duration::from_millis(200));
    assert!(runs(&child));
    host.kill().unwrap();
    host.wait().unwrap();
    eventually(|| (!runs(&child)).then_some(()));
    assert_eq!(bench.store.generation().unwrap(), generation);
}
