//! Rows of the threat table that stand between the other files' subjects: 24, 50, 58 and 68.

use std::fs;
use std::io::{Seek as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use guild_package::probe::{Probe, Probed, Subject};
use guild_package::trust::{Grant, Right, Scope};
use guild_package::{Code, Digest, InstallOptions};

use crate::fixture::{Bench, Publisher, bundle, entries, grant, options};
use crate::unprobed::Unprobed;
use crate::versions::{CPU, OTHER, id};

/// Loops of the race for an object's bytes.
const RACES: usize = 10_000;

/// Overwrites the bundle in place while its code is on trial: after every check, before anything is stored.
struct Overwriting {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Probe for Overwriting {
    fn probe(&self, subject: &Subject<'_>) -> guild_package::Result<Probed> {
        fs::write(&self.path, &self.bytes).unwrap();
        Unprobed.probe(subject)
    }
}

#[test]
fn row_24_what_was_verified_is_what_is_used() {
    let bench = Bench::new();
    let first = bench.package(CPU, "1.0.0");
    let other = bench.package(OTHER, "9.9.9");
    let path = bench.bundle_file(&first);
    let overwriting = Overwriting {
        path: path.clone(),
        bytes: other,
    };
    let installed = bench
        .store
        .install(&path, &options(), &overwriting)
        .unwrap();
    assert_ne!(fs::read(&path).unwrap(), first, "it wasn't overwritten");
    let version = installed.version.to_string();
    assert_eq!((installed.id, version.as_str()), (id(CPU), "1.0.0"));
    let package = bench.store.enabled().unwrap().remove(0);
    let artifact = package.plugin_artifact().unwrap();
    let mut stored = Vec::new();
    let source = package.open_artifact(&artifact).unwrap();
    let keep = |piece: &[u8]| {
        stored.extend_from_slice(piece);
        Ok(())
    };
    source.copy_verified(keep).unwrap();
    assert_eq!(stored, entries(&first)[crate::fixture::PLUGIN]);
}

#[test]
fn row_50_an_epoch_can_t_run_far_ahead() {
    let bench = Bench::new();
    let with_epoch = |publisher: &Publisher, epoch: u64| {
        let parts = entries(&bench.package(CPU, "1.0.0"));
        let text = String::from_utf8(parts["manifest.json"].clone()).unwrap();
        let ahead = text.replace(
            "\"security_epoch\":1,",
            &format!("\"security_epoch\":{epoch},"),
        );
        assert_ne!(ahead, text);
        let signature = publisher.sign(guild_package::sign::Purpose::Release, ahead.as_bytes());
        let envelope = guild_package::envelope::Envelope::new(vec![signature]);
        let artifacts: Vec<_> = parts
            .iter()
            .filter(|(name, _)| !name.ends_with(".json"))
            .map(|(name, data)| (name.as_str(), data.as_slice()))
            .collect();
        bundle(ahead.as_bytes(), &artifacts, &envelope.encode().unwrap())
    };
    for epoch in [1001, u64::from(u32::MAX), (1 << 53) - 1] {
        let ahead = with_epoch(&bench.publisher, epoch);
        bench.install_refuses(&ahead, &options(), Code::ScopeDenied);
        // Without a store's memory there is no floor to be far above.
        bench.verify(&ahead).unwrap();
    }
    let dry = InstallOptions {
        dry_run: true,
        ..options()
    };
    let highest = with_epoch(&bench.publisher, 1000);
    bench.install_with(&highest, &dry).unwrap();
    // Who may raise epochs may; and it counts from the floor.
    let chief = Publisher::new(bench.path(), "chief");
    let mut scope = Scope::publish("org.guild".parse().unwrap()).unwrap();
    scope.rights = vec![Right::Publish, Right::Epoch];
    let grant = Grant {
        scopes: vec![scope],
        ..grant("org.guild")
    };
    bench.store.trust_add(&chief.record, &grant).unwrap();
    bench.install_with(&with_epoch(&chief, 5000), &dry).unwrap();
    bench.store.raise_floor(&id(CPU), 2000).unwrap();
    bench.install(&with_epoch(&bench.publisher, 3000)).unwrap();
}

#[test]
fn row_58_a_package_s_files_can_t_pass_for_the_store_s() {
    let bench = Bench::new();
    let parts = entries(&bench.package(CPU, "1.0.0"));
    // Names that the store itself has, or that other tools take for a sign that all is done.
    let names = [
        "format",
        "gen/0.json",
        "head",
        "lock",
        "objects/sha256/aa",
        "ok",
        "trust/1.json",
    ];
    let manifest = String::from_utf8(parts["manifest.json"].clone()).unwrap();
    let data = b"guild-store 1\n";
    let digest = Digest::of(data);
    let listed: String = names
        .iter()
        .map(|name| {
            format!(
                "{{\"path\":\"{name}\",\"sha256\":\"{digest}\",\"size\":{},\"role\":\"data\"}},",
                data.len()
            )
        })
        .collect();
    let mut files: Vec<(&str, &[u8])> = names.iter().map(|name| (*name, data.as_slice())).collect();
    files.extend(
        parts
            .iter()
            .filter(|(name, _)| !name.ends_with(".json"))
            .map(|(name, data)| (name.as_str(), data.as_slice())),
    );
    files.sort();
    // The manifest lists artifacts in the order of the entries.
    let mut tree: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let more: Vec<serde_json::Value> =
        serde_json::from_str(&format!("[{}]", listed.trim_end_matches(','))).unwrap();
    let artifacts = tree["artifacts"].as_array_mut().unwrap();
    artifacts.extend(more);
    artifacts.sort_by(|a, b| a["path"].as_str().cmp(&b["path"].as_str()));
    let manifest = serde_json::to_vec(&tree).unwrap();
    let before: Vec<_> = bench.listing().into_keys().collect();
    bench.install(&bench.craft(&manifest, &files)).unwrap();
    for path in bench.listing().into_keys() {
        let text = path.to_string_lossy().into_owned();
        let is_content = text.starts_with("objects/sha256/") || text.starts_with("meta/sha256/");
        let is_the_store_s = before.contains(&path) || text.starts_with("gen/");
        assert!(is_content || is_the_store_s, "{text}");
    }
    bench.store.examine().unwrap();
    assert_eq!(
        fs::read_to_string(bench.store_path().join("FORMAT")).unwrap(),
        "guild-store 1\n"
    );
}

/// The bytes that a reader gets are hashed while they are copied, so a swap at any moment is either seen or too late.
#[test]
fn row_68_a_racer_never_slips_other_bytes_in() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let package = bench.store.enabled().unwrap().remove(0);
    let artifact = package.plugin_artifact().unwrap();
    let object = bench.object(artifact.sha256());
    let good = fs::read(&object).unwrap();
    let mut evil = good.clone();
    evil[good.len() / 2] ^= 1;

    // An attacker with an open descriptor from before, as in row 55, who writes in place as fast as it can.
    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let (stop, good, evil) = (Arc::clone(&stop), good.clone(), evil);
        // Only root could open it for writing as it is; the attacker opened it before its mode was set.
        let mode = |mode| fs::set_permissions(&object, fs::Permissions::from_mode(mode)).unwrap();
        mode(0o600);
        let mut file = fs::OpenOptions::new().write(true).open(&object).unwrap();
        mode(0o444);
        std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                for bytes in [&evil, &good] {
                    file.rewind().unwrap();
                    file.write_all(bytes).unwrap();
                }
            }
        })
    };
    let (mut taken, mut noticed) = (0, 0);
    // Both outcomes come soon; how soon is the scheduler's affair.
    let mut races = 0;
    while races < RACES || ((taken == 0 || noticed == 0) && races < 100 * RACES) {
        races += 1;
        let mut copy = Vec::new();
        let source = package.open_artifact(&artifact).unwrap();
        let copied = source.copy_verified(|bytes| {
            copy.extend_from_slice(bytes);
            Ok(())
        });
        match copied {
            Ok(()) => {
                assert_eq!(copy, good, "other bytes were taken for the signed ones");
                taken += 1;
            }
            Err(error) => {
                assert_eq!(error.code(), Code::DigestMismatch, "{error}");
                noticed += 1;
            }
        }
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    assert!(
        taken > 0 && noticed > 0,
        "{taken} taken, {noticed} noticed: no race took place"
    );
}

#[test]
fn row_83_code_is_for_the_machine_that_the_manifest_says() {
    let bench = Bench::new();
    let parts = entries(&bench.package(CPU, "1.0.0"));
    let manifest: serde_json::Value = serde_json::from_slice(&parts["manifest.json"]).unwrap();
    let mut files: Vec<(&str, &[u8])> = parts
        .iter()
        .filter(|(name, _)| !name.ends_with(".json"))
        .map(|(name, data)| (name.as_str(), data.as_slice()))
        .collect();
    let other = match std::env::consts::ARCH {
        "aarch64" => "x86_64",
        _ => "aarch64",
    };
    let mut elsewhere = manifest.clone();
    elsewhere["targets"][0]["arch"] = other.into();
    let elsewhere = bench.craft(&serde_json::to_vec(&elsewhere).unwrap(), &files);
    bench.refuses(&elsewhere, Code::PreflightRefused);

    let text = ".version 6.3\n.target sm_61\n.address_size 64\n.visible .entry route(.param .u64 x) { ret; }\n";
    files.push(("ptx/route.ptx", text.as_bytes()));
    let with = |target: &str, entry: &str| {
        let mut manifest = manifest.clone();
        let artifact = serde_json::json!({
            "path": "ptx/route.ptx",
            "sha256": Digest::of(text.as_bytes()),
            "size": text.len(),
            "role": "ptx",
            "ptx": { "target": target, "entries": [entry] },
        });
        manifest["artifacts"].as_array_mut().unwrap().push(artifact);
        bench.craft(&serde_json::to_vec(&manifest).unwrap(), &files)
    };
    bench.refuses(&with("sm_90", "route"), Code::BundleMalformed);
    bench.refuses(&with("sm_61", "scan"), Code::BundleMalformed);
    bench.verify(&with("sm_61", "route")).unwrap();
}
