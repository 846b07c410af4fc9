//! Which packages may serve: built-in switches, missing providers, packages that fail to load.

use guild_end_to_end::{CPU, QWEN, REFERENCE, SMALL_BF16, Site, file};
use serde_json::Value;

/// Exit code and JSON object of a short run.
fn run(site: &Site, more: &[&str]) -> (i32, Value) {
    let model = file(SMALL_BF16);
    let args = [&["run", &model, "--prompt-ids", "5,6,7", "-n", "2"], more].concat();
    let output = site.output(&args);
    (
        output.status.code().unwrap(),
        serde_json::from_slice(&output.stdout).unwrap(),
    )
}

#[track_caller]
fn refused(site: &Site, more: &[&str], exit: i32, words: &[&str]) {
    let (code, answer) = run(site, more);
    let message = answer["message"].as_str().unwrap_or_default();
    assert_eq!(code, exit, "{answer}");
    for word in words {
        assert!(message.contains(word), "{word:?} is not in {message:?}");
    }
}

#[test]
fn each_built_in_switch_alone_and_together() {
    let empty = Site::new();
    assert_eq!(run(&empty, &[]).0, 0);
    let kernels = ["guild.core.", "org.guild.kernels.cpu"];
    refused(&empty, &["--no-builtin-cpu"], 4, &kernels);
    let runners = ["qwen35moe", "org.guild.runners.qwen"];
    refused(&empty, &["--no-builtin-qwen"], 4, &runners);
    refused(
        &empty,
        &["--no-builtin-cpu", "--no-builtin-qwen"],
        4,
        &runners,
    );
    refused(&empty, &["--external-only"], 4, &runners);
}

#[test]
fn an_installed_package_takes_the_place_of_a_built_in_one() {
    let site = Site::with(&[CPU]);
    let (code, answer) = run(&site, &[]);
    assert_eq!(code, 0);
    let packages = answer["packages"].as_array().unwrap();
    let ids: Vec<&str> = packages
        .iter()
        .map(|package| package["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        ["org.guild.kernels.cpu", "builtin.org.guild.runners.qwen"]
    );
    let calls = packages[0]["operations"].as_array().unwrap().iter();
    assert!(
        calls
            .map(|entry| entry["calls"].as_u64().unwrap())
            .sum::<u64>()
            > 0
    );
}

/// From a token to the receipt of the code that made it, whose bytes have the digest that the report names.
#[test]
fn a_report_leads_to_the_receipt_of_each_package() {
    let site = Site::with(&[CPU]);
    let (_, answer) = run(&site, &[]);
    let packages = answer["packages"].as_array().unwrap();
    assert!(packages[1]["receipt_sha256"].is_null(), "{answer}");
    let command = ["kernel", "receipt", "org.guild.kernels.cpu"];
    let printed = site.text_command(&command).output().unwrap().stdout;
    let receipt = printed.strip_suffix(b"\n").unwrap();
    let digest = guild_package::Digest::of(receipt).to_string();
    assert_eq!(packages[0]["receipt_sha256"], digest.as_str());
    let receipt: Value = serde_json::from_slice(receipt).unwrap();
    assert_eq!(receipt["manifest_sha256"], packages[0]["digest"]);
    assert_eq!(receipt["golden"].as_array().unwrap().len(), 3);
}

#[test]
fn the_reference_package_binds_only_when_it_is_asked_for() {
    let site = Site::with(&[REFERENCE, QWEN]);
    refused(&site, &["--external-only"], 4, &["guild.core."]);
    assert_eq!(run(&site, &["--external-only", "--allow-reference"]).0, 0);
}

#[test]
fn an_enabled_package_that_fails_to_load_fails_the_model_load() {
    let site = Site::with(&[CPU, QWEN]);
    let objects = site.guild.data_dir().join("kernels/objects/sha256");
    let library = smallest_plugin(&objects);
    let mut bytes = std::fs::read(&library).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    // Objects are read-only; somebody with the owner's rights can still change them.
    let mut permissions = std::fs::metadata(&library).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o644);
    std::fs::set_permissions(&library, permissions.clone()).unwrap();
    std::fs::write(&library, bytes).unwrap();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o444);
    std::fs::set_permissions(&library, permissions).unwrap();
    refused(&site, &[], 16, &["org.guild."]);
}

/// The smallest library with an entry among a store's objects.
fn smallest_plugin(folder: &std::path::Path) -> std::path::PathBuf {
    let mut plugins = Vec::new();
    for fan in std::fs::read_dir(folder).unwrap() {
        for object in std::fs::read_dir(fan.unwrap().path()).unwrap() {
            let path = object.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            // Symbol files are ELF too, but have no entry symbol's string table in a loaded segment.
            if bytes
                .windows(21)
                .any(|window| window == b"guild_plugin_entry_v1")
            {
                plugins.push((bytes.len(), path));
            }
        }
    }
    plugins.sort();
    plugins.remove(0).1
}
