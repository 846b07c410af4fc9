//! Packages that must not get in: each refused with its own code, and nothing in the store changed.

use guild_end_to_end::{CPU, QWEN, Site, file};
use guild_package::Digest;
use guild_package::bundle::{Bundle, BundleEntry, EmitEntry, emit};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every file of the store with its bytes.
fn snapshot(site: &Site) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    collect(&site.guild.data_dir().join("kernels"), &mut files);
    files
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => collect(&path, files),
            false => drop(files.insert(path.clone(), std::fs::read(&path).unwrap())),
        }
    }
}

#[track_caller]
fn refused(site: &Site, bundle: &str, exit: i32, name: &str) {
    let before = snapshot(site);
    let output = site.output(&["kernel", "install", bundle]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(exit), "{answer}");
    assert_eq!(answer["code"], name);
    assert!(!answer["message"].as_str().unwrap().is_empty());
    assert!(before == snapshot(site), "the store changed");
    let recorded = newest_refusal(site);
    assert_eq!(
        (&recorded["code"], &recorded["command"]),
        (&name.into(), &"install".into())
    );
    assert!(
        answer["message"]
            .as_str()
            .unwrap()
            .starts_with(recorded["detail"].as_str().unwrap().trim_end_matches("...")),
        "{recorded}"
    );
    let subject = recorded["subject"].as_str().unwrap();
    let bytes = std::fs::read(bundle).unwrap();
    assert!(
        subject.contains("@1.0.0") || subject == Digest::of(&bytes).to_string(),
        "{recorded}"
    );
}

/// The last line of the audit log.
fn newest_refusal(site: &Site) -> serde_json::Value {
    let audit = site.guild.json(&["kernel", "audit", "--verify"]).unwrap();
    audit["refusals"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone()
}

#[test]
fn a_flipped_byte_breaks_the_checksum() {
    let site = Site::new();
    let bundle = site.bundle(CPU);
    let good = std::fs::read(&bundle).unwrap();
    let manifest_text = good.windows(9).position(|w| w == b"\"schema\":").unwrap();
    for position in [manifest_text + 9, good.len() / 2] {
        let mut bytes = good.clone();
        bytes[position] ^= 1;
        let flipped = site.path(&format!("flipped-{position}.gkernel"));
        std::fs::write(&flipped, bytes).unwrap();
        // The checksum of the archive's own record no longer fits.
        refused(&site, &flipped.to_string_lossy(), 15, "BUNDLE_MALFORMED");
    }
}

/// Who can write a byte can write its checksum too: then the signed digest and the signature tell.
#[test]
fn a_flipped_byte_with_its_checksum_written_anew_is_refused() {
    let site = Site::new();
    let bundle = std::fs::read(site.bundle(CPU)).unwrap();
    let path = site.path("rewritten.gkernel");
    let refuses = |entry: &str, exit, name| {
        std::fs::write(&path, with_flipped_byte(&bundle, entry)).unwrap();
        refused(&site, &path.to_string_lossy(), exit, name);
    };
    refuses("lib/libguild_cpu.so", 16, "DIGEST_MISMATCH");
    refuses("manifest.json", 11, "SIGNATURE_INVALID");
}

/// The bundle with one bit of `name` changed, as a whole archive again.
fn with_flipped_byte(bundle: &[u8], name: &str) -> Vec<u8> {
    let bundle = Bundle::parse(bundle).unwrap();
    let flip = |entry: &str, bytes: &mut Vec<u8>| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= u8::from(entry == name);
    };
    let mut manifest = bundle.manifest().unwrap();
    flip("manifest.json", &mut manifest);
    let read = |entry: &BundleEntry| {
        let mut data = Vec::new();
        let keep = |piece: &[u8]| {
            data.extend_from_slice(piece);
            Ok(())
        };
        bundle.read_entry(entry, keep).unwrap();
        flip(entry.name.as_str(), &mut data);
        data
    };
    let contents: Vec<_> = bundle.artifacts().iter().map(read).collect();
    let names = bundle.artifacts().iter().map(|entry| &entry.name);
    let entries: Vec<_> = names
        .zip(&contents)
        .map(|(name, data)| EmitEntry { name, data })
        .collect();
    let mut bytes = Vec::new();
    let envelope = bundle.envelope().unwrap();
    emit(&mut bytes, &manifest, &entries, &envelope).unwrap();
    bytes
}

#[test]
fn an_untrusted_key_is_refused() {
    let publisher = Site::new();
    let bundle = publisher.bundle(QWEN);
    refused(&Site::new(), &bundle, 12, "KEY_UNTRUSTED");
}

#[test]
fn a_scope_that_does_not_cover_the_id_is_refused() {
    let site = Site::new();
    let staged = site.stage(QWEN);
    let toml = staged.join("package.toml");
    let content = std::fs::read_to_string(&toml).unwrap();
    std::fs::write(
        &toml,
        content.replace("org.guild.runners.qwen", "org.guildx.runners.qwen"),
    )
    .unwrap();
    refused(&site, &site.sign(&staged, "elsewhere"), 14, "SCOPE_DENIED");
}

#[test]
fn other_bytes_under_a_taken_version_are_refused() {
    let site = Site::with(&[QWEN]);
    let staged = site.stage(QWEN);
    let toml = staged.join("package.toml");
    let content = std::fs::read_to_string(&toml).unwrap();
    std::fs::write(&toml, content.replace("Runners for", "Other runners for")).unwrap();
    refused(&site, &site.sign(&staged, "again"), 17, "VERSION_IMMUTABLE");
}

#[test]
fn a_library_without_the_entry_symbol_is_refused() {
    let site = Site::new();
    let staged = site.stage(QWEN);
    let source = site.path("empty.c");
    std::fs::write(&source, "int nothing_here = 1;\n").unwrap();
    let library = staged.join("lib/libguild_qwen.so");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(&source)
        .status();
    assert!(compiled.unwrap().success());
    let bundle = site.sign(&staged, "no-entry");
    refused(&site, &bundle, 22, "PREFLIGHT_REFUSED");
}

/// A bundle under the name of the Qwen package whose library is a C plugin that does this in `init`.
fn in_init(site: &Site, statements: &str) -> String {
    let staged = site.stage(QWEN);
    let library = staged.join("lib/libguild_qwen.so");
    let compiled = Command::new("cc")
        .args(["-std=c99", "-shared", "-fPIC", "-I"])
        .arg(file("include"))
        .arg("-DPLUGIN_ID=\"org.guild.runners.qwen\"")
        .arg(format!("-DIN_INIT={statements}"))
        .arg("-o")
        .arg(&library)
        .arg(file("tests/c-plugins/in_init.c"))
        .status();
    assert!(compiled.unwrap().success());
    site.sign(&staged, "in-init")
}

#[test]
fn a_package_that_crashes_in_its_trial_run_is_refused() {
    let site = Site::new();
    let bundle = in_init(&site, "abort();");
    refused(&site, &bundle, 23, "PROBE_FAILED");
}

/// Row 84, with the real kernels: the signed vectors differ in one bit from what they compute.
#[test]
fn row_84_kernels_that_compute_something_else_are_refused() {
    let site = Site::new();
    let staged = site.stage(CPU);
    let vectors = staged.join("golden/linear-q4_k.golden");
    let mut bytes = std::fs::read(&vectors).unwrap();
    // The file ends with an output; its last number in this bit becomes twice or half of it.
    let exponent = bytes.len() - 2;
    bytes[exponent] ^= 0x80;
    std::fs::write(&vectors, bytes).unwrap();
    refused(&site, &site.sign(&staged, "bent"), 23, "PROBE_FAILED");
    let good = site.bundle(CPU);
    let installed = site.guild.json(&["kernel", "install", &good]).unwrap();
    assert!(installed["receipt_sha256"].is_string(), "{installed}");
}

/// What is refused later is recorded too: at load, and when it is enabled or gone back to.
#[test]
fn refusals_of_installed_packages_are_recorded() {
    let site = Site::with(&[CPU, QWEN]);
    let refused = |line: &[&str], exit: i32, code: &str, command: &str| {
        let before = snapshot(&site);
        let output = site.output(line);
        let answer = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(exit), "{line:?}: {answer}");
        assert!(before == snapshot(&site), "{line:?}: the store changed");
        let recorded = newest_refusal(&site);
        assert_eq!(recorded["code"], code, "{line:?}");
        assert_eq!(recorded["command"], command, "{line:?}");
        recorded["subject"].as_str().unwrap_or_default().to_owned()
    };
    let cpu = format!("{}@1.0.0", CPU.0);
    site.guild.json(&["kernel", "disable", CPU.0]).unwrap();
    site.guild.json(&["kernel", "floor", CPU.0, "9"]).unwrap();
    let enable = ["kernel", "enable", &cpu];
    assert_eq!(refused(&enable, 18, "DOWNGRADE_REFUSED", "enable"), cpu);
    let rollback = ["kernel", "rollback", CPU.0];
    assert_eq!(refused(&rollback, 34, "DOWNGRADE_REFUSED", "rollback"), cpu);
    // Questions leave no record.
    let audit = || site.guild.json(&["kernel", "audit"]).unwrap()["refusals"].clone();
    let before = audit();
    let bundle = Site::new().bundle(QWEN);
    for line in [
        &["kernel", "verify", &bundle][..],
        &["kernel", "install", &bundle, "--dry-run"],
        &["kernel", "install", "no-such-file"],
        &["kernel", "rollback", "org.guild.no.such"],
    ] {
        assert!(!site.output(line).status.success(), "{line:?}");
        assert_eq!(audit(), before, "{line:?}");
    }
    let key = site.key.id.clone();
    let revoke = ["kernel", "trust", "revoke", &key, "--compromised"];
    site.guild.json(&revoke).unwrap();
    let model = file(guild_end_to_end::SMALL_BF16);
    let run = ["run", &model, "--prompt-ids", "1", "-n", "1"];
    let qwen = format!("{}@1.0.0", QWEN.0);
    assert_eq!(refused(&run, 13, "KEY_REVOKED", "load"), qwen);
    let newest = newest_refusal(&site);
    assert_eq!(newest["keys"], serde_json::json!([key]));
    let said = site
        .text_command(&["kernel", "audit", "-n", "1"])
        .output()
        .unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains(&qwen) && said.lines().count() == 1, "{said}");
}
