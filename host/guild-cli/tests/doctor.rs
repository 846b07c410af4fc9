//! `guild doctor` with the real binary: healthy, with warnings, and with a broken store.

mod program;

use serde_json::Value;
use std::path::Path;

/// Exit code and answer.
fn doctor(data_dir: &Path, variables: &[(&str, &str)]) -> (i32, Value) {
    let output = program::command(data_dir)
        .args(["--json", "doctor", "--data-dir"])
        .arg(data_dir)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let answer = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code().unwrap(), answer)
}

fn check<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let checks = answer["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == name);
    check.unwrap_or_else(|| panic!("{name}: {answer}"))
}

#[test]
fn every_matter_is_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let (exit, answer) = doctor(folder.path(), &[]);
    assert_eq!((exit, &answer["ok"]), (0, &true.into()));
    let names = [
        "version",
        "configuration",
        "variables",
        "loader",
        "sandbox",
        "cpu",
        "cores",
        "numa",
        "memory",
        "limits",
        "huge pages",
        "overcommit",
        "store",
        "loading",
        "devices",
    ];
    for name in names {
        let check = check(&answer, name);
        assert!(!check["finding"].as_str().unwrap().is_empty(), "{name}");
        let mended = !check["fix"].as_str().unwrap().is_empty();
        assert_eq!(mended, check["status"] != "ok", "{check}");
    }
}

/// The readings are those of the system.
#[test]
fn memory_and_threads_are_those_of_the_system() {
    let folder = tempfile::tempdir().unwrap();
    let (_, answer) = doctor(folder.path(), &[]);
    let text = std::fs::read_to_string("/proc/meminfo").unwrap();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let total = total.unwrap().trim().strip_suffix(" kB").unwrap();
    let total: u64 = total.parse().unwrap();
    let details = &check(&answer, "memory")["details"];
    assert_eq!(details["total_bytes"], total * 1024);
    let threads = std::thread::available_parallelism().unwrap().get();
    assert_eq!(check(&answer, "cores")["details"]["threads"], threads);
}

#[test]
fn misspelt_variables_and_loader_variables_are_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let variables = [("GUILD_TREADS", "2"), ("LD_LIBRARY_PATH", "/nowhere")];
    let (exit, answer) = doctor(folder.path(), &variables);
    assert_eq!(exit, 0);
    let variables = check(&answer, "variables");
    assert_eq!(variables["status"], "warning");
    assert_eq!(variables["fix"], "unset GUILD_TREADS");
    let loader = check(&answer, "loader");
    assert_eq!(loader["status"], "warning");
    assert_eq!(
        loader["details"]["findings"][0]["source"],
        "LD_LIBRARY_PATH"
    );
}

#[test]
#[cfg(feature = "builtin-cpu")]
fn the_instruction_set_that_kernels_choose_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (_, answer) = doctor(folder.path(), &[("GUILD_CPU_ISA", "portable")]);
    let details = &check(&answer, "loading")["details"];
    assert_eq!(details["instruction_set"], "portable");
    let (exit, answer) = doctor(folder.path(), &[("GUILD_CPU_ISA", "neon")]);
    assert_eq!(check(&answer, "loading")["status"], "failed");
    assert_ne!(exit, 0);
}

#[test]
fn a_broken_store_is_the_exit_code_and_the_report_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("kernels");
    std::fs::create_dir(&store).unwrap();
    let (exit, answer) = doctor(folder.path(), &[]);
    assert_eq!(exit, 33, "{answer}");
    assert_eq!(
        (&answer["ok"], &answer["code"]),
        (&false.into(), &"NOT_FOUND".into())
    );
    assert_eq!(check(&answer, "store")["status"], "failed");
    assert_eq!(check(&answer, "cpu")["name"], "cpu");
    assert_eq!(answer["failed"], 1);
}

/// The doctor is who a broken configuration is shown to.
#[test]
fn a_broken_configuration_is_a_failed_check_and_the_report_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("guild.toml");
    std::fs::write(&project, "[run\n").unwrap();
    let variables = [("GUILD_NO_CONFIG", "0"), ("GUILD_RUN_TEMP", "x")];
    let (exit, answer) = doctor(folder.path(), &variables);
    assert_eq!((exit, &answer["code"]), (2, &"USAGE".into()), "{answer}");
    let configuration = check(&answer, "configuration");
    assert_eq!(configuration["status"], "failed");
    let finding = configuration["finding"].as_str().unwrap();
    assert!(finding.contains("guild.toml:1"), "{finding}");
    assert!(finding.contains("GUILD_RUN_TEMP"), "{finding}");
    assert_eq!(check(&answer, "store")["status"], "ok");
    assert_eq!(answer["failed"], 1);

    let text = |args: &[&str]| {
        let mut command = program::command(folder.path());
        let output = command.args(args).envs(variables).output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), stdout)
    };
    let (exit, report) = text(&["doctor"]);
    assert_eq!(exit, Some(2));
    assert!(report.contains("FAILED   configuration"), "{report}");
    assert!(report.contains("ok       version"), "{report}");
    // No other command goes on, and help is there all the same.
    assert_eq!(text(&["kernel", "list"]), (Some(2), String::new()));
    assert_eq!(text(&["run", "--help"]).0, Some(0));
}
