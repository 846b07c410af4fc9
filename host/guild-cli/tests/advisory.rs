//! An advisory from the publisher's command to the user's: previewed, taken, taken again.

mod home;
mod program;
mod published;

use guild_crash::{PACKAGE, Workshop};
use home::Home;
use published::publish;
use serde_json::{Value, json};
use std::fs;
use std::ops::Deref;

/// A home folder whose store trusts a key with all rights, and has a package by it.
struct Publisher {
    home: Home,
    key: String,
    bundle: String,
}

impl Deref for Publisher {
    type Target = Home;

    fn deref(&self) -> &Home {
        &self.home
    }
}

impl Publisher {
    fn new() -> Publisher {
        let home = Home::new();
        let key = publish(&home, ".local/share/guild", "");
        let bundle = Workshop::at(home.path()).unwrap().bundle("1.0.0");
        let bundle = bundle.to_string_lossy().into_owned();
        Publisher { home, key, bundle }
    }

    #[track_caller]
    fn fails(&self, line: &str, code: i32) -> String {
        let (found, _, complaint) = self.text(line);
        assert_eq!(found, code, "{line}: {complaint}");
        complaint
    }

    /// What it prints for scripts and for people.
    #[track_caller]
    fn ok(&self, line: &str) -> (String, String) {
        let (code, data, said) = self.text(line);
        assert_eq!(code, 0, "{line}: {said}");
        (data, said)
    }

    /// Signs an advisory with these lines.
    fn advisory(&self, lines: &str, file: &str) -> String {
        let key = &self.key;
        format!("kernel advisory --key-id {key} --seed-file seed {lines} -o {file}")
    }

    fn has(&self, file: &str) -> bool {
        self.path().join(file).exists()
    }
}

#[test]
fn a_stolen_key_is_withdrawn_by_a_file() {
    let home = Publisher::new();
    let key = home.key.clone();
    let lines = format!(
        "--compromised {} --floor {PACKAGE}=2 --reason stolen_in_May",
        &key[..16]
    );
    let (data, _) = home.ok(&home.advisory(&lines, "signed.json"));
    assert_eq!(data.trim_end(), key);

    let expected = format!("compromised\t{key}\nfloor\t{PACKAGE}\t2\n");
    let (data, said) = home.ok("kernel trust advisory signed.json --dry-run");
    assert_eq!(data, expected);
    for part in [
        "would be compromised: stolen in May",
        "org.guild.crash@1.0.0 would no longer load",
        "would be 2, after 0",
        "is enabled all the same",
    ] {
        assert!(said.contains(part), "no `{part}` in: {said}");
    }
    let generation = home.json("kernel trust advisory signed.json --dry-run")["generation"].clone();
    assert_eq!(
        home.json("kernel floor")["floors"],
        Value::Array(Vec::new())
    );
    home.ok("kernel fsck");

    let (data, said) = home.ok("kernel trust advisory signed.json");
    assert_eq!(data, expected);
    assert!(
        said.contains("org.guild.crash@1.0.0 no longer loads"),
        "{said}"
    );
    let entry = home.json("kernel log --verify -n 1")["generations"][0].clone();
    assert_eq!(entry["command"], "trust-advisory");
    assert_eq!(
        entry["generation"].as_u64(),
        generation.as_u64().map(|n| n + 1)
    );
    home.fails("kernel fsck", 13);

    // Again: nothing new, and no generation.
    let (data, said) = home.ok("kernel trust advisory signed.json");
    assert!(
        data.is_empty() && said.contains("Nothing new"),
        "{data}{said}"
    );
    let again = home.json("kernel trust advisory signed.json");
    assert_eq!(
        (&again["is_new"], &again["generation"]),
        (&false.into(), &entry["generation"])
    );
}

/// The doctor ends with what is wrong, and everything that it prints says the same of it.
#[test]
fn the_doctor_s_last_word_is_the_failed_finding() {
    let home = Publisher::new();
    home.ok(&format!("kernel trust revoke {} --compromised", home.key));
    let (code, report, said) = home.text("kernel doctor");
    assert_eq!(code, 13, "{said}");
    let message = "error: packages: org.guild.crash 1.0.0: ";
    assert!(said.starts_with(message), "{said}");
    assert!(said.contains("is compromised"), "{said}");
    let fix = "guild kernel disable org.guild.crash";
    assert!(said.contains(&format!("hint: {fix}\n")), "{said}");
    let fixes: Vec<&str> = report
        .lines()
        .filter_map(|line| line.trim().strip_prefix("fix: "))
        .filter(|line| line.starts_with("guild kernel"))
        .collect();
    assert_eq!(fixes, [fix, fix], "{report}");
    home.ok(&fix["guild ".len()..]);
    assert_eq!(home.text("kernel doctor").0, 0);
}

#[test]
fn disabling_says_first_what_it_did() {
    let home = Publisher::new();
    let (data, said) = home.ok(&format!("kernel disable {PACKAGE}"));
    assert_eq!(data, format!("{PACKAGE} -\n"));
    assert!(
        said.starts_with("org.guild.crash 1.0.0 is disabled\n"),
        "{said}"
    );
    home.ok(&format!("kernel remove {PACKAGE}"));
    let (data, said) = home.ok("kernel gc");
    assert!(data.contains(" files deleted, "), "{data}");
    assert!(said.is_empty(), "{said}");
}

/// Each update has the command that installs it, on the store that is meant.
#[test]
fn an_update_is_named_with_its_file() {
    let home = Publisher::new();
    let (data, said) = home.ok("kernel outdated .");
    let updates = data.lines().filter(|line| line.starts_with('>')).count();
    assert!(updates > 0, "{data}");
    let steps: Vec<&str> = said.lines().collect();
    assert_eq!(steps.len(), updates, "{said}");
    assert_eq!(
        steps[0],
        "`guild kernel install ./1.0.1.gkernel` installs it."
    );
}

#[test]
fn a_withdrawn_key_signs_no_advisory() {
    let home = Publisher::new();
    let itself = format!("--superseded {} --reason replaced", home.key);
    home.ok(&home.advisory(&itself, "first.json"));
    home.ok("kernel trust advisory first.json");
    let later = format!("--floor {PACKAGE}=3 --reason later");
    home.ok(&home.advisory(&later, "second.json"));
    home.fails("kernel trust advisory second.json --dry-run", 13);
    assert_eq!(home.json("kernel audit")["refusals"], json!([]));
    let complaint = home.fails("kernel trust advisory second.json", 13);
    assert!(complaint.contains("replaced"), "{complaint}");
    let refusals = &home.json("kernel audit")["refusals"];
    assert_eq!(refusals.as_array().unwrap().len(), 1, "{refusals}");
    assert_eq!(refusals[0]["code"], "KEY_REVOKED");
    assert_eq!(refusals[0]["command"], "trust");
    assert_eq!(refusals[0]["keys"], json!([home.key]));
    assert_eq!(
        home.json("kernel floor")["floors"],
        Value::Array(Vec::new())
    );
}

#[test]
fn what_the_receiver_believes_is_the_receiver_s_word() {
    let home = Publisher::new();
    let lines = format!("--compromised {} --reason stolen", home.key);
    home.ok(&home.advisory(&lines, "signed.json"));
    home.fails("kernel trust advisory signed.json --since-gen 99", 2);
    let superseded = format!(
        "kernel trust revoke {} --superseded --since-gen 1",
        home.key
    );
    home.fails(&superseded, 2);
    let taken = home.json("kernel trust advisory signed.json --since-gen 2");
    assert_eq!(taken["stopped"], Value::Array(Vec::new()));
    home.ok("kernel fsck");
}

#[test]
fn an_advisory_that_nobody_could_take_is_not_written() {
    let home = Publisher::new();
    let key = home.key.clone();
    let (short, stranger) = (&key[..16], format!("gk1-{}", "0".repeat(64)));
    for lines in [
        "--reason x".to_owned(),
        format!("--compromised {key}"),
        format!("--compromised {key} --superseded {short} --reason x"),
        format!("--floor {PACKAGE}=1 --floor {PACKAGE}=2 --reason x"),
        format!("--floor {PACKAGE} --reason x"),
        format!("--floor {PACKAGE}=one --reason x"),
        format!("--floor {PACKAGE}=0 --reason x"),
        "--floor UPPER=1 --reason x".to_owned(),
        format!("--compromised {} --reason x", &stranger[..20]),
        format!("--compromised {key} --reason "),
    ] {
        home.fails(&home.advisory(&lines, "signed.json"), 2);
        assert!(!home.has("signed.json"), "{lines}");
    }
    // A key that nobody here knows may be named whole.
    let known_elsewhere = format!("--compromised {stranger} --reason x");
    home.ok(&home.advisory(&known_elsewhere, "signed.json"));
    let taken = home.json("kernel trust advisory signed.json");
    assert_eq!(taken["unknown"], serde_json::json!([stranger]));
}

/// The hint of a damaged file says that its bundle brings it back, and that holds though the key is withdrawn since.
#[test]
fn a_damaged_file_comes_back_though_its_key_is_retired() {
    let home = Publisher::new();
    home.ok(&format!("kernel trust revoke {} --superseded", home.key));
    let objects = home
        .path()
        .join(".local/share/guild/kernels/objects/sha256");
    for folder in fs::read_dir(objects).unwrap() {
        for object in fs::read_dir(folder.unwrap().path()).unwrap() {
            fs::remove_file(object.unwrap().path()).unwrap();
        }
    }
    let complaint = home.fails("kernel fsck", 32);
    assert!(complaint.contains("`guild kernel install` of the same bundle"));
    let bundle = home.bundle.clone();
    let (_, said) = home.ok(&format!("kernel install {bundle} --dry-run"));
    for words in [
        "of its files are damaged or missing",
        "Only its files were looked after",
        "retired",
        "[KEY_REVOKED]",
    ] {
        assert!(said.contains(words), "no `{words}` in: {said}");
    }
    home.fails("kernel fsck", 32);
    let (_, said) = home.ok(&format!("kernel install {bundle}"));
    assert!(said.contains("are whole again"), "{said}");
    home.ok("kernel fsck");
    let again = home.json(&format!("kernel install {bundle}"));
    assert_eq!(again["refused_as_new"]["code"], "KEY_REVOKED");
    assert_eq!(again["files_restored"], 0);
    assert_eq!(home.json("kernel audit")["refusals"], json!([]));
}

/// What a withdrawn key signed isn't hidden, and neither is why it was withdrawn.
#[test]
fn what_a_withdrawn_key_signed_is_named_with_the_reason() {
    let home = Publisher::new();
    let key = home.key.clone();
    let withdraw = format!("kernel trust revoke {key} --compromised --reason stolen_in_May");
    let words = "compromised, believed in nothing: stolen in May";
    let (_, said) = home.ok(&format!("{withdraw} --dry-run"));
    assert!(
        said.contains(&format!("would be withdrawn as {words}")),
        "{said}"
    );
    let whole = home.json("kernel list")["packages"][0].clone();
    home.ok(&withdraw);
    let package = "org.guild.crash@1.0.0";
    let (shown, _) = home.ok(&format!("kernel trust show {key}"));
    for line in [
        "reason  stolen in May",
        "package org.guild.crash@1.0.0 (broken)",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{shown}");
    }
    let (listed, _) = home.ok("kernel trust list");
    for part in [words, "org.guild.crash@1.0.0 (broken)"] {
        assert!(listed.contains(part), "no `{part}` in: {listed}");
    }
    let show = home.json(&format!("kernel trust show {key}"));
    for row in [&show, &home.json("kernel trust list")["keys"][0]] {
        assert_eq!(
            (&row["packages"], &row["broken"]),
            (&json!([package]), &json!([package]))
        );
    }
    let (one, _) = home.ok(&format!("kernel list {PACKAGE}"));
    assert!(one.starts_with("*! "), "{one}");
    for part in [
        "epoch     ",
        &format!("manifest  {}", whole["manifest_sha256"].as_str().unwrap()),
        "whether or not they count",
        &format!("signer    {key}"),
    ] {
        assert!(one.contains(part), "no `{part}` in: {one}");
    }
    let broken = home.json("kernel list")["packages"][0].clone();
    assert_eq!(broken["state"], "broken");
    for field in ["manifest_sha256", "recorded"] {
        assert_eq!(broken[field], whole[field]);
    }
    assert_eq!(broken["recorded"]["signers"][0]["key_id"], json!(key));
    let (log, _) = home.ok("kernel log");
    for part in [words, "for org.guild (publish epoch revoke)"] {
        assert!(log.contains(part), "no `{part}` in: {log}");
    }
    let changed = &home.json("kernel log -n 1")["generations"][0]["trust_changes"][0];
    assert_eq!(
        (&changed["since_gen"], &changed["reason"]),
        (&json!(0), &json!("stolen in May"))
    );
}
