//! Every exit code of the table, and the test that reaches it with the real binary, or why none can.

use guild_cli::exit::Exit;
use guild_end_to_end::{QWEN, SMALL_BF16, Site, file, root};
use guild_package::bundle::{Bundle, EmitEntry, emit};
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::process::{Child, ChildStdout, ExitStatus, Stdio};

/// The test that reaches a code, as `file::function`.
const REACHED: &[(Exit, &str)] = &[
    (
        Exit::Ok,
        "tests/end-to-end/tests/schemas.rs::every_answer_is_the_one_its_schema_describes",
    ),
    (
        Exit::Usage,
        "host/guild-cli/tests/usage.rs::a_wrong_command_line_is_a_json_failure_under_json",
    ),
    (
        Exit::Damaged,
        "tests/end-to-end/tests/exit_codes.rs::a_file_that_is_no_model_is_damaged",
    ),
    (
        Exit::Unsupported,
        "tests/end-to-end/tests/providers.rs::each_built_in_switch_alone_and_together",
    ),
    (
        Exit::Resource,
        "tests/end-to-end/tests/memory.rs::what_does_not_fit_is_refused_with_both_numbers_and_a_way_out",
    ),
    (
        Exit::Unsigned,
        "tests/end-to-end/tests/exit_codes.rs::a_bundle_without_signatures_is_unsigned",
    ),
    (
        Exit::SignatureInvalid,
        "tests/end-to-end/tests/refusals.rs::a_flipped_byte_with_its_checksum_written_anew_is_refused",
    ),
    (
        Exit::KeyUntrusted,
        "tests/end-to-end/tests/refusals.rs::an_untrusted_key_is_refused",
    ),
    (
        Exit::ScopeDenied,
        "tests/end-to-end/tests/refusals.rs::a_scope_that_does_not_cover_the_id_is_refused",
    ),
    (
        Exit::BundleMalformed,
        "tests/end-to-end/tests/refusals.rs::a_flipped_byte_breaks_the_checksum",
    ),
    (
        Exit::DigestMismatch,
        "tests/end-to-end/tests/refusals.rs::a_flipped_byte_with_its_checksum_written_anew_is_refused",
    ),
    (
        Exit::VersionImmutable,
        "tests/end-to-end/tests/refusals.rs::other_bytes_under_a_taken_version_are_refused",
    ),
    (
        Exit::KeyRevoked,
        "host/guild-cli/tests/advisory.rs::a_withdrawn_key_signs_no_advisory",
    ),
    (
        Exit::DowngradeRefused,
        "tests/end-to-end/tests/exit_codes.rs::an_older_version_is_a_downgrade",
    ),
    (
        Exit::Incompatible,
        "tests/end-to-end/tests/exit_codes.rs::a_package_for_another_abi_is_incompatible",
    ),
    (
        Exit::DependencyMissing,
        "tests/end-to-end/tests/exit_codes.rs::a_package_whose_dependency_is_not_enabled_is_refused",
    ),
    (
        Exit::PreflightRefused,
        "tests/end-to-end/tests/refusals.rs::a_library_without_the_entry_symbol_is_refused",
    ),
    (
        Exit::ProbeFailed,
        "tests/end-to-end/tests/refusals.rs::a_package_that_crashes_in_its_trial_run_is_refused",
    ),
    (
        Exit::ActiveSessionBusy,
        "tests/end-to-end/tests/exit_codes.rs::a_package_that_a_session_uses_is_busy",
    ),
    (
        Exit::RollbackUnavailable,
        "tests/end-to-end/tests/exit_codes.rs::without_an_earlier_version_no_rollback_is_available",
    ),
    (
        Exit::StoreLocked,
        "tests/end-to-end/tests/exit_codes.rs::a_store_that_another_process_writes_is_locked",
    ),
    (
        Exit::StoreCorrupt,
        "tests/end-to-end/tests/exit_codes.rs::a_store_whose_records_do_not_fit_is_corrupt",
    ),
    (
        Exit::NotFound,
        "tests/end-to-end/tests/exit_codes.rs::a_bundle_of_another_package_is_not_the_one_asked_for",
    ),
    (
        Exit::Io,
        "host/guild-cli/tests/usage.rs::a_standard_error_that_is_full_changes_nothing",
    ),
    (
        Exit::Interrupted,
        "tests/end-to-end/tests/exit_codes.rs::an_interrupted_run_says_so",
    ),
];

/// Codes that no command line leads to, and why.
const OUT_OF_REACH: &[(Exit, &str)] = &[
    (
        Exit::Internal,
        "a fault in guild or in a package at run time; no input is known to cause one",
    ),
    (
        Exit::Expired,
        "no command gives a key a last day yet; guild-package's tests reach it",
    ),
    (
        Exit::AmbientTainted,
        "no command sets the policy that refuses a tainted environment yet; guild-loader's tests reach it",
    ),
    (
        Exit::LoaderUnavailable,
        "needs a system that forbids executable memory files",
    ),
];

#[test]
fn every_code_is_reached_by_a_test_or_has_a_reason() {
    for (exit, name) in Exit::TABLE {
        let reached = REACHED
            .iter()
            .filter(|(reached, _)| reached == exit)
            .count();
        let excused = OUT_OF_REACH
            .iter()
            .filter(|(other, _)| other == exit)
            .count();
        assert_eq!(reached + excused, 1, "{name}: list it once");
    }
    for (exit, test) in REACHED {
        let (path, function) = test.split_once("::").unwrap();
        let text = std::fs::read_to_string(root().join(path)).unwrap();
        let found = text.contains(&format!("fn {function}()"));
        assert!(found, "{}: {test} is not there", exit.name());
    }
    for (exit, reason) in OUT_OF_REACH {
        assert!(reason.len() > 20, "{}: no reason", exit.name());
    }
}

/// The command fails with this code, in its exit status and in its answer.
#[track_caller]
fn fails(site: &Site, args: &[&str], exit: Exit) -> Value {
    let output = site.output(args);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(exit as i32), "{answer}");
    assert_eq!(answer["code"], exit.name(), "{answer}");
    answer
}

#[test]
fn a_file_that_is_no_model_is_damaged() {
    let site = Site::new();
    let path = site.path("cut.gguf");
    let whole = std::fs::read(file(SMALL_BF16)).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let path = path.to_string_lossy();
    fails(&site, &["run", &path, "--prompt-ids", "1"], Exit::Damaged);
}

#[test]
fn a_bundle_without_signatures_is_unsigned() {
    let site = Site::new();
    let whole = std::fs::read(site.bundle(QWEN)).unwrap();
    let bundle = Bundle::parse(whole.as_slice()).unwrap();
    let mut envelope: Value = serde_json::from_slice(&bundle.envelope().unwrap()).unwrap();
    envelope["signatures"] = Value::Array(Vec::new());
    let contents: Vec<Vec<u8>> = bundle
        .artifacts()
        .iter()
        .map(|entry| {
            let mut data = Vec::new();
            let keep = |piece: &[u8]| {
                data.extend_from_slice(piece);
                Ok(())
            };
            bundle.read_entry(entry, keep).unwrap();
            data
        })
        .collect();
    let names = bundle.artifacts().iter().map(|entry| &entry.name);
    let entries: Vec<_> = names
        .zip(&contents)
        .map(|(name, data)| EmitEntry { name, data })
        .collect();
    let mut bytes = Vec::new();
    let manifest = bundle.manifest().unwrap();
    emit(
        &mut bytes,
        &manifest,
        &entries,
        envelope.to_string().as_bytes(),
    )
    .unwrap();
    let path = site.path("unsigned.gkernel");
    std::fs::write(&path, bytes).unwrap();
    let path = path.to_string_lossy();
    fails(&site, &["kernel", "install", &path], Exit::Unsigned);
}

/// A bundle of the Qwen package with its `package.toml` changed.
fn changed(site: &Site, name: &str, change: impl Fn(&str) -> String) -> String {
    let staged = site.stage(QWEN);
    let toml = staged.join("package.toml");
    let text = std::fs::read_to_string(&toml).unwrap();
    let new = change(&text);
    assert_ne!(text, new, "{name}: nothing was changed");
    std::fs::write(&toml, new).unwrap();
    site.sign(&staged, name)
}

/// Puts a text of the same length in the place of the one that a file has.
fn replace(path: &Path, old: &str, new: &str) {
    let mut bytes = std::fs::read(path).unwrap();
    let mut places = bytes.windows(old.len());
    let at = places.position(|window| window == old.as_bytes()).unwrap();
    bytes[at..at + new.len()].copy_from_slice(new.as_bytes());
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn an_older_version_is_a_downgrade() {
    let site = Site::with(&[QWEN]);
    let staged = site.stage(QWEN);
    let toml = staged.join("package.toml");
    replace(&toml, "\nversion = \"1.0.0\"", "\nversion = \"0.9.0\"");
    // The library says in its note which version it is.
    let library = staged.join("lib").join(QWEN.2);
    replace(&library, "\nversion=1.0.0\n", "\nversion=0.9.0\n");
    let older = site.sign(&staged, "older");
    fails(
        &site,
        &["kernel", "install", &older],
        Exit::DowngradeRefused,
    );
}

#[test]
fn a_package_for_another_abi_is_incompatible() {
    let site = Site::new();
    let later = changed(&site, "later", |text| {
        text.replace("host_min = \"1.0\"", "host_min = \"9.0\"")
            .replace("host_max = \"1.0\"", "host_max = \"9.0\"")
    });
    fails(&site, &["kernel", "install", &later], Exit::Incompatible);
}

#[test]
fn a_package_whose_dependency_is_not_enabled_is_refused() {
    let site = Site::new();
    let needy = changed(&site, "needy", |text| {
        format!(
            "{text}\n[[depends]]\nid = \"org.guild.not.there\"\nreq = \">=1.0.0\"\nmin_epoch = 1\n"
        )
    });
    let answer = fails(
        &site,
        &["kernel", "install", &needy],
        Exit::DependencyMissing,
    );
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("org.guild.not.there"), "{message}");
}

/// Takes as long as a command waits for another one: ten seconds.
#[test]
fn a_store_that_another_process_writes_is_locked() {
    let site = Site::new();
    let bundle = site.bundle(QWEN);
    let lock = store(&site).join("LOCK");
    let lock = std::fs::File::options().write(true).open(lock).unwrap();
    let exclusive = libc::flock {
        l_type: libc::F_WRLCK as i16,
        l_whence: libc::SEEK_SET as i16,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    nix::fcntl::fcntl(&lock, nix::fcntl::FcntlArg::F_OFD_SETLK(&exclusive)).unwrap();
    fails(&site, &["kernel", "install", &bundle], Exit::StoreLocked);
}

#[test]
fn a_store_whose_records_do_not_fit_is_corrupt() {
    let site = Site::new();
    let head = store(&site).join("HEAD");
    let text = std::fs::read_to_string(&head).unwrap();
    std::fs::write(&head, text.replace(['0', '1', '2', '3'], "4")).unwrap();
    fails(&site, &["kernel", "list"], Exit::StoreCorrupt);
}

fn store(site: &Site) -> std::path::PathBuf {
    let folder: &Path = site.guild.data_dir();
    folder.join("kernels")
}

#[test]
fn a_bundle_of_another_package_is_not_the_one_asked_for() {
    let site = Site::new();
    let bundle = site.bundle(QWEN);
    let verify = ["kernel", "verify", &bundle, "--id", "org.guild.another"];
    fails(&site, &verify, Exit::NotFound);
}

/// A session that generates until it is told to stop, and its standard output behind the first byte.
fn endless_session(site: &Site) -> (Child, ChildStdout) {
    let model = file(SMALL_BF16);
    let args = [
        "run",
        &model,
        "--prompt-ids",
        "1,2",
        "-n",
        "1000000",
        "--ignore-eos",
    ];
    let mut child = site
        .text_command(&args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Text comes long after packages are loaded and the signal has its handler.
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0]).unwrap();
    (child, stdout)
}

/// Interrupts it and waits.
fn interrupt(mut child: Child, mut stdout: ChildStdout) -> ExitStatus {
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    std::io::copy(&mut stdout, &mut std::io::sink()).unwrap();
    child.wait().unwrap()
}

/// With the code, which the program chose: a death by the signal itself has none.
#[test]
fn an_interrupted_run_says_so() {
    let site = Site::new();
    let (child, stdout) = endless_session(&site);
    let status = interrupt(child, stdout);
    assert_eq!(status.code(), Some(130), "{status}");
}

/// Also when the session is killed, its lease ends with it.
#[test]
fn a_package_that_a_session_uses_is_busy() {
    let site = Site::with(&[QWEN]);
    let (mut child, stdout) = endless_session(&site);
    for command in ["disable", "remove"] {
        let failure = fails(&site, &["kernel", command, QWEN.0], Exit::ActiveSessionBusy);
        let message = failure["message"].as_str().unwrap();
        assert!(message.contains(&child.id().to_string()), "{message}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    drop(stdout);
    let disabled = site.output(&["kernel", "disable", QWEN.0]);
    assert!(disabled.status.success(), "{disabled:?}");
}

#[test]
fn without_an_earlier_version_no_rollback_is_available() {
    let site = Site::with(&[QWEN]);
    let rollback = ["kernel", "rollback", QWEN.0];
    fails(&site, &rollback, Exit::RollbackUnavailable);
}
