//! The log of refusals from the command line, where there is no package store, and where the log can't be written.

mod program;

use guild_package::Digest;
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;

/// No bundle, and not even text that a terminal should see.
const NO_BUNDLE: &[u8] = b"no bundle \x1b[2J";

/// A home folder with a file that is no bundle.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("no.gkernel"), NO_BUNDLE).unwrap();
        Self { folder }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn guild(&self, words: &[&str]) -> Output {
        let mut command = program::command(self.folder.path());
        command.arg("--data-dir").arg(self.data()).args(words);
        command.output().unwrap()
    }

    fn json(&self, words: &[&str]) -> Value {
        let output = self.guild(&[&["--json"], words].concat());
        assert!(output.stderr.is_empty(), "{words:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Installs what is no bundle; gives what is said of that on standard error.
    #[track_caller]
    fn is_refused(&self) -> String {
        let output = self.guild(&["kernel", "install", "no.gkernel"]);
        assert_eq!(output.status.code(), Some(15), "BUNDLE_MALFORMED");
        String::from_utf8(output.stderr).unwrap()
    }
}

#[test]
fn a_refusal_is_recorded_and_makes_no_store() {
    let home = Home::new();
    assert_eq!(home.json(&["kernel", "audit"])["refusals"], json!([]));
    assert!(!home.data().exists(), "a question makes no folder");
    for _ in 0..3 {
        assert!(!home.is_refused().contains("audit"));
    }
    assert!(!home.data().join("kernels").exists());
    let answer = home.json(&["kernel", "audit", "--verify"]);
    let refusals = answer["refusals"].as_array().unwrap();
    assert_eq!(refusals.len(), 1, "{answer}");
    assert_eq!(refusals[0]["code"], "BUNDLE_MALFORMED");
    assert_eq!(refusals[0]["command"], "install");
    let bundle = Digest::of(NO_BUNDLE).to_string();
    assert_eq!(refusals[0]["subject"], bundle.as_str());
    assert_eq!(answer["counted"], 2);
    assert_eq!(answer["verified"]["faults"], json!([]));
    let said = home.guild(&["kernel", "audit"]);
    let line = String::from_utf8(said.stdout).unwrap();
    assert!(line.contains("Z\tBUNDLE_MALFORMED\tinstall\t"), "{line}");
    let sentence = String::from_utf8(said.stderr).unwrap();
    assert!(sentence.starts_with("2 more have no record"), "{sentence}");
}

#[test]
fn damage_is_named_and_ends_the_check() {
    let home = Home::new();
    home.is_refused();
    std::fs::write(home.folder.path().join("no.gkernel"), "another").unwrap();
    home.is_refused();
    let segment = home.data().join("audit/00000000.log");
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[50] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let answer = home.json(&["kernel", "audit"]);
    assert_eq!(answer["refusals"].as_array().unwrap().len(), 1);
    let output = home.guild(&["kernel", "audit", "--verify"]);
    assert_eq!(output.status.code(), Some(32), "STORE_CORRUPT");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("00000000.log, record 1 (byte 0)"), "{said}");
    let answer = home.json(&["kernel", "audit", "--verify"]);
    assert_eq!(answer["code"], "STORE_CORRUPT");
    let fault = json!([{"segment": 0, "place": 1, "offset": 0, "kind": "damaged"}]);
    assert_eq!(answer["verified"]["faults"], fault);
}

#[test]
fn a_log_that_can_t_be_written_changes_nothing_but_a_warning() {
    let home = Home::new();
    std::fs::create_dir(home.data()).unwrap();
    let audit = home.data().join("audit");
    std::fs::write(&audit, "a file").unwrap();
    assert!(home.is_refused().contains("the audit log has no record"));
    assert_eq!(std::fs::read(&audit).unwrap(), b"a file");
    // A link isn't followed.
    let elsewhere = home.folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::remove_file(&audit).unwrap();
    symlink(&elsewhere, &audit).unwrap();
    assert!(home.is_refused().contains("the audit log has no record"));
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    let listed = home.guild(&["kernel", "audit"]);
    assert_eq!(listed.status.code(), Some(40), "IO");
    let said = String::from_utf8(listed.stderr).unwrap();
    assert!(said.contains("it is a link"), "{said}");
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::remove_file(&audit).unwrap();
    std::fs::create_dir(&audit).unwrap();
    std::fs::set_permissions(&audit, open).unwrap();
    let listed = home.guild(&["kernel", "audit"]);
    let said = String::from_utf8(listed.stderr).unwrap();
    assert!(said.contains("may write to it"), "{said}");
    assert!(!said.contains("package store"), "{said}");
}

#[test]
fn the_doctor_looks_at_the_log() {
    let home = Home::new();
    let check = || {
        let answer = home.json(&["kernel", "doctor"]);
        let checks = answer["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|it| it["name"] == "audit").unwrap()
    };
    assert_eq!(check()["finding"], "nothing was refused yet");
    home.is_refused();
    let audit = home.data().join("audit");
    let found = check();
    assert_eq!(found["status"], "ok", "{found}");
    assert_eq!(found["details"]["records"], 1);
    std::fs::set_permissions(&audit, std::fs::Permissions::from_mode(0o755)).unwrap();
    let open = check();
    assert_eq!(open["status"], "warning", "{open}");
    assert_eq!(open["fix"], format!("chmod 700 {}", audit.display()));
    // A log whose only segment is gone says so.
    std::fs::rename(audit.join("00000000.log"), audit.join("00000002.log")).unwrap();
    let damaged = check();
    assert_eq!(damaged["fix"], "guild kernel audit --verify", "{damaged}");
    std::fs::remove_file(audit.join("00000002.log")).unwrap();
    let said = home.guild(&["kernel", "audit"]).stderr;
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("has no record"), "{said}");
}

/// Whoever may not write to the data folder has no log, and hears nothing of it.
#[test]
fn in_a_folder_that_is_only_read_nothing_happens() {
    let home = Home::new();
    std::fs::create_dir(home.data()).unwrap();
    let only_read = |path: &Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o555)).unwrap();
    };
    only_read(&home.data());
    let mut command = program::command(home.folder.path());
    if rustix::process::geteuid().is_root() {
        // Root may write anywhere. The program may lie where others can't read.
        let program = home.folder.path().join("guild");
        std::fs::copy(command.get_program(), &program).unwrap();
        for path in [home.folder.path(), &program] {
            only_read(path);
        }
        let variables: Vec<_> = command.get_envs().collect();
        let mut other = std::process::Command::new(&program);
        for (name, value) in variables {
            match value {
                Some(value) => other.env(name, value),
                None => other.env_remove(name),
            };
        }
        other
            .uid(65_534)
            .gid(65_534)
            .current_dir(home.folder.path());
        command = other;
    }
    command.arg("--data-dir").arg(home.data());
    let output = command.args(["kernel", "install", "no.gkernel"]).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(15), "BUNDLE_MALFORMED");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!said.contains("audit"), "{said}");
    assert_eq!(std::fs::read_dir(home.data()).unwrap().count(), 0);
}
