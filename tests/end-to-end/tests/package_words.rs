//! What the package commands say about real packages: hints that mend what happened, and who vouches for what.

use guild_end_to_end::{CPU, QWEN, SMALL_BF16, Site, file};
use serde_json::Value;

/// Exit code and JSON object of a short run with installed packages alone.
fn run(site: &Site, more: &[&str]) -> (i32, Value) {
    let model = file(SMALL_BF16);
    let line = [&["run", &model, "--prompt-ids", "5,6,7", "-n", "2"], more].concat();
    let output = site.output(&line);
    let answer = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code().unwrap(), answer)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Standard output and standard error of a command that succeeds.
#[track_caller]
fn said(site: &Site, line: &[&str]) -> (String, String) {
    let output = site.text_command(line).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (out, said) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{line:?}: {said}");
    (out, said)
}

#[test]
fn what_is_installed_and_not_enabled_is_named_where_it_is_missing() {
    let site = Site::with(&[CPU, QWEN]);
    for (id, _, _) in [QWEN, CPU] {
        site.guild.json(&["kernel", "disable", id]).unwrap();
        let (code, answer) = run(&site, &["--external-only"]);
        assert_eq!(code, 4, "{answer}");
        let enable = format!("`guild kernel enable {id}`");
        assert!(text(&answer["hint"]).starts_with(&enable), "{answer}");
        // It is what helps.
        site.guild.json(&["kernel", "enable", id]).unwrap();
        assert_eq!(run(&site, &["--external-only"]).0, 0);
    }
}

#[test]
fn a_package_that_fails_today_s_trust_is_named_with_a_way_out() {
    let site = Site::with(&[QWEN]);
    let revoke = ["kernel", "trust", "revoke", &site.key.id, "--compromised"];
    site.guild.json(&revoke).unwrap();
    let (code, answer) = run(&site, &[]);
    assert_eq!((code, text(&answer["code"])), (13, "KEY_REVOKED"));
    let (message, hint) = (text(&answer["message"]), text(&answer["hint"]));
    assert!(message.contains(QWEN.0), "{message}");
    let disable = format!("`guild kernel disable {}`", QWEN.0);
    assert!(hint.contains(&disable), "{hint}");
    let (listed, legend) = said(&site, &["kernel", "list"]);
    assert!(listed.starts_with(&format!("*! {}", QWEN.0)), "{listed}");
    assert!(legend.contains("`!` would fail to load now"), "{legend}");

    let doctor: Value = serde_json::from_slice(&site.output(&["kernel", "doctor"]).stdout).unwrap();
    let checks = doctor["checks"].as_array().unwrap();
    let packages = checks.iter().find(|check| check["name"] == "packages");
    let fix = text(&packages.unwrap()["fix"]).to_owned();
    assert_eq!(format!("`{fix}`"), disable);
    let fsck: Value = serde_json::from_slice(&site.output(&["kernel", "fsck"]).stdout).unwrap();
    assert_eq!(fsck["code"], "KEY_REVOKED");
    assert!(
        !text(&fsck["hint"]).contains("install of the same bundle"),
        "{fsck}"
    );
    // It is what helps.
    let words: Vec<&str> = fix.split(' ').skip(1).collect();
    site.guild.json(&words).unwrap();
    assert_eq!(run(&site, &[]).0, 0);
}

/// It loads, and wouldn't come back once it is disabled.
#[test]
fn what_is_enabled_below_its_floor_is_named_where_packages_are_looked_over() {
    let site = Site::with(&[QWEN]);
    site.guild.json(&["kernel", "floor", QWEN.0, "7"]).unwrap();
    let doctor = site.guild.json(&["kernel", "doctor"]).unwrap();
    let mut checks = doctor["checks"].as_array().unwrap().iter();
    let packages = checks.find(|check| check["name"] == "packages").unwrap();
    assert_eq!(packages["status"], "warning", "{packages}");
    let consequence = text(&packages["consequence"]);
    let words = format!("{} 1.0.0 is enabled below its floor, 7", QWEN.0);
    assert!(consequence.contains(&words), "{consequence}");
    assert_eq!(packages["details"]["packages"][0]["below_floor"], true);
    let (listed, _) = said(&site, &["kernel", "rollback", "--list"]);
    assert!(listed.starts_with(&format!("*! {}", QWEN.0)), "{listed}");
    assert!(listed.contains("DOWNGRADE_REFUSED"), "{listed}");
}

#[test]
fn a_missing_file_is_marked_and_the_same_bundle_brings_it_back() {
    let site = Site::with(&[QWEN]);
    let listed = site.guild.json(&["kernel", "list"]).unwrap();
    assert_eq!(listed["packages"][0]["state"], "enabled");
    let objects = site.guild.data_dir().join("kernels/objects/sha256");
    for folder in std::fs::read_dir(objects).unwrap() {
        for object in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            std::fs::remove_file(object.unwrap().path()).unwrap();
        }
    }
    let listed = site.guild.json(&["kernel", "list"]).unwrap();
    let row = &listed["packages"][0];
    assert_eq!(
        (text(&row["state"]), text(&row["code"])),
        ("broken", "STORE_CORRUPT")
    );
    let fsck: Value = serde_json::from_slice(&site.output(&["kernel", "fsck"]).stdout).unwrap();
    for hint in [&row["hint"], &fsck["hint"], &fsck["faults"][0]["hint"]] {
        assert!(
            text(hint).contains("`guild kernel install` of the same bundle"),
            "{hint}"
        );
    }
    let bundle = site.path(&format!("{}.gkernel", QWEN.0));
    site.guild
        .json(&["kernel", "install", &bundle.to_string_lossy()])
        .unwrap();
    site.guild.json(&["kernel", "fsck"]).unwrap();
    let listed = site.guild.json(&["kernel", "list"]).unwrap();
    assert_eq!(listed["packages"][0]["state"], "enabled");
}

/// A bundle that a reviewer whom the site trusts has countersigned, and the reviewer's key.
fn reviewed(site: &Site) -> (String, String) {
    let at = |name: &str| site.path(name).to_string_lossy().into_owned();
    let (seed, public, out) = (at("reviewer.seed"), at("reviewer.json"), at("out.gkernel"));
    let words = |line: &str, more: &[&str]| -> Vec<String> {
        let words = line.split(' ').chain(more.iter().copied());
        words.map(str::to_owned).collect()
    };
    let json = |line: Vec<String>| {
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        site.guild.json(&line).unwrap()
    };
    let line = format!("kernel keygen --seed-file {seed} --public {public} --label Rita");
    let made = json(words(
        &line,
        &["--operator", "Review Board", "--test-identity"],
    ));
    let key = text(&made["key_id"]).to_owned();
    let line = format!("kernel trust add {public} --scope org.guild --right countersign:reviewer");
    json(words(&line, &[]));
    let bundle = site.bundle(QWEN);
    let line = format!(
        "kernel countersign {bundle} --role reviewer --statement good --key-id {key} --seed-file {seed} --out {out}"
    );
    let line = words(&line, &[]);
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let (_, written) = said(site, &line);
    assert!(written.contains(&format!("Bundle {out}")), "{written}");
    (out, key)
}

#[test]
fn a_reviewer_is_shown_with_role_key_and_operator() {
    let site = Site::new();
    let (out, key) = reviewed(&site);
    let key = key.as_str();
    let line =
        format!("reviewer  {key} Rita (test identity), held by Review Board \u{201c}good\u{201d}");
    let (verified, _) = said(&site, &["kernel", "verify", &out]);
    assert!(verified.lines().any(|shown| shown == line), "{verified}");
    let (_, installed) = said(&site, &["kernel", "install", &out]);
    assert!(installed.lines().any(|shown| shown == line), "{installed}");
    let (shown, _) = said(&site, &["kernel", "list", QWEN.0]);
    assert!(
        shown.lines().any(|shown| shown.trim_start() == line),
        "{shown}"
    );
    let expected = |row: &Value| {
        assert_eq!(
            (
                text(&row["role"]),
                text(&row["key_id"]),
                text(&row["operator"])
            ),
            ("reviewer", key, "Review Board")
        );
        assert_eq!(text(&row["statements"][0]), "good");
    };
    expected(&site.guild.json(&["kernel", "verify", &out]).unwrap()["countersigners"][0]);
    expected(&site.guild.json(&["kernel", "install", &out]).unwrap()["countersigners"][0]);
    let listed = site.guild.json(&["kernel", "list", QWEN.0]).unwrap();
    expected(&listed["packages"][0]["countersigners"][0]);
    let trusted = site.guild.json(&["kernel", "trust", "list"]).unwrap();
    for row in trusted["keys"].as_array().unwrap() {
        assert_eq!(row["packages"][0], format!("{}@1.0.0", QWEN.0), "{row}");
    }
    let (_, removed) = said(&site, &["kernel", "remove", QWEN.0]);
    assert!(
        removed.contains("Its pins and its floor remain"),
        "{removed}"
    );
    let (_, legend) = said(&site, &["kernel", "rollback", "--list"]);
    assert!(legend.contains("No package is installed"), "{legend}");
}

#[test]
fn marks_have_a_legend() {
    let site = Site::with(&[QWEN]);
    let (_, legend) = said(&site, &["kernel", "rollback", "--list"]);
    for mark in [
        "`*` is enabled",
        "`-` was enabled before",
        "`!` can't be enabled now",
    ] {
        assert!(legend.contains(mark), "{legend}");
    }
    let (_, none) = said(&site, &["kernel", "list"]);
    assert!(!none.contains("`!`"), "{none}");
}
