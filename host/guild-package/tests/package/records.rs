//! The log, `fsck` and `outdated`: rows 57 and 67.

use crate::unprobed::Unprobed;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use guild_package::rotation::{RotationBody, write_rotation};
use guild_package::store::generation::{Active, Generation, TrustReference};
use guild_package::store::{LogEntry, RevokeOptions};
use guild_package::trust::{KeyStatus, Policy, Right, RightLeft, TrustBody, Withdrawal};
use guild_package::{Code, Digest};

use crate::fixture::{Bench, Publisher, grant, options};
use crate::versions::{BACK, CPU, OTHER, change_byte, id, version};

#[test]
fn the_log_tells_what_each_generation_changed() {
    let bench = Bench::with_two_versions();
    bench.store.rollback(None, BACK, &Unprobed).unwrap();
    bench
        .store
        .remove(&id(CPU), Some(&version("1.0.1")))
        .unwrap();
    let log = bench.store.log(usize::MAX).unwrap();
    let operations: Vec<_> = log
        .iter()
        .map(|entry| (entry.n, entry.op.to_string()))
        .collect();
    let expected = [
        (5, "remove"),
        (4, "rollback"),
        (3, "install"),
        (2, "install"),
        (1, "trust-add"),
        (0, "init"),
    ];
    assert_eq!(operations, expected.map(|(n, op)| (n, op.to_owned())));
    assert_eq!(log[0].removed[0].to_string(), format!("{CPU}@1.0.1"));
    assert_eq!(log[2].installed[0].to_string(), format!("{CPU}@1.0.1"));
    let (before, after) = (&log[1].selected[0].before, &log[1].selected[0].after);
    assert_eq!(
        (before, after),
        (&Some(version("1.0.1")), &Some(version("1.0.0")))
    );
    assert_eq!(
        (log[4].trust, log[5].trust, log[3].trust),
        (Some(1), Some(0), None)
    );
    assert_eq!(bench.store.log(2).unwrap(), log[..2]);
    let whole = bench.store.verify_chain().unwrap();
    assert_eq!((whole.generations, whole.trust_files), (6, 2));

    // Who serves the one name that all fixture packages provide.
    let served = |entry: &LogEntry| {
        let who = |active: &Option<Active>| {
            let active = active.as_ref().map(|active| active.version.to_string());
            active.unwrap_or_else(|| "nobody".to_owned())
        };
        let changes = entry.active.iter();
        let changes = changes.map(|it| format!("{} to {}", who(&it.before), who(&it.after)));
        changes.collect::<Vec<_>>()
    };
    let all: Vec<_> = log.iter().map(served).collect();
    let none: Vec<String> = Vec::new();
    let one = |text: &str| vec![text.to_owned()];
    let expected = [
        none.clone(),
        one("1.0.1 to 1.0.0"),
        one("1.0.0 to 1.0.1"),
        one("nobody to 1.0.0"),
        none.clone(),
        none,
    ];
    assert_eq!(all, expected);
}

fn trust_changes(entry: &LogEntry) -> Vec<String> {
    let changes = entry.trust_changes.iter();
    changes.map(ToString::to_string).collect()
}

fn two_reviewers() -> Policy {
    Policy {
        prefix: "org.example".parse().unwrap(),
        publish: 1,
        reviewer: 2,
        distinct_operators: false,
        strict_ambient: false,
        allow_ptx_jit: false,
    }
}

#[test]
fn the_log_tells_what_each_change_of_trust_was() {
    let bench = Bench::new();
    let successor = Publisher::like(bench.path(), "successor", "publisher");
    let (old, new) = (&bench.publisher.record, &successor.record);
    let mut more = grant("org.example");
    more.scopes[0].rights = vec![Right::Publish, Right::Rotate];
    more.not_after = Some(crate::fixture::NOW_S * 2);
    bench.store.trust_add(old, &more).unwrap();
    let policy = two_reviewers();
    bench.store.trust_policy(policy.clone()).unwrap();
    let path = bench.path().join("rotation");
    let body = RotationBody {
        schema: 1,
        from: old.id,
        to: new.clone(),
        scopes: vec!["org.example".parse().unwrap()],
        rights_left: vec![RightLeft::VerifyInstalled],
        issued_at: crate::fixture::NOW_S,
    };
    write_rotation(&path, &body, &bench.publisher.seed(), &successor.seed()).unwrap();
    bench.store.trust_rotate(&path, false).unwrap();
    let lost = RevokeOptions {
        withdrawal: Withdrawal::Compromised { since_gen: 0 },
        reason: None,
        dry_run: false,
    };
    bench.store.trust_revoke(&new.id, &lost).unwrap();
    bench.store.trust_revoke(&old.id, &lost).unwrap();

    let log = bench.store.log(usize::MAX).unwrap();
    let changes: Vec<_> = log.iter().map(trust_changes).collect();
    let new_id = new.id;
    let (old, new) = (
        format!("{} (publisher)", old.id.short()),
        format!("{} (successor)", new.id.short()),
    );
    let until = guild_package::text::Time(crate::fixture::NOW_S * 2);
    let expected = [
        vec![format!(
            "key withdrawn {old}: compromised, believed in nothing: followed by {new_id}"
        )],
        vec![format!(
            "key withdrawn {new}: compromised, believed in nothing"
        )],
        vec![
            format!("key added {new} for org.example (publish rotate)"),
            format!("key followed {old} by {new}; the old one is retired"),
        ],
        vec![format!("policy set {policy}")],
        vec![
            format!("scopes added to {old}: org.example (publish rotate)"),
            format!("{old} is good until {until}"),
        ],
        vec![format!("key added {old} for org.guild (publish)")],
        vec![],
    ];
    assert_eq!(changes, expected);
    // A part of the log knows what the part before it said.
    assert_eq!(bench.store.log(1).unwrap(), log[..1]);

    // A withdrawal doesn't make a key younger.
    let added = bench.store.keys_added().unwrap();
    let added = |key: &guild_package::KeyRecord| added[&key.id].generation;
    assert_eq!(
        (added(&bench.publisher.record), added(&successor.record)),
        (1, 4)
    );
}

/// Every file of the chain, changed or taken away, is found.
#[test]
fn row_67_a_broken_chain_is_named() {
    let bench = Bench::with_two_versions();
    for folder in ["gen", "trust"] {
        for entry in fs::read_dir(bench.store_path().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            change_byte(&path);
            let broken = bench.store.verify_chain().unwrap_err();
            assert_eq!(
                broken.code(),
                Code::StoreCorrupt,
                "{}: {broken}",
                path.display()
            );
            let name = path.file_name().unwrap().to_string_lossy();
            assert!(broken.to_string().contains(&*name), "{broken}");
            fs::remove_file(&path).unwrap();
            assert_eq!(
                bench.store.verify_chain().unwrap_err().code(),
                Code::StoreCorrupt
            );
            fs::write(&path, bytes).unwrap();
        }
    }
    bench.store.verify_chain().unwrap();
}

#[test]
fn a_chain_in_which_a_pin_or_floor_shrank_is_broken() {
    let shrinks: [fn(&mut Generation); 3] = [
        |generation| generation.pins.clear(),
        |generation| generation.floors.clear(),
        |generation| generation.time_seen = 0,
    ];
    for shrink in shrinks {
        let bench = Bench::with_two_versions();
        bench.force_generation(|generation| {
            generation.floors.insert(id(CPU), 1);
        });
        bench.store.verify_chain().unwrap();
        bench.force_generation(|generation| {
            generation.packages.clear();
            generation.active.clear();
            shrink(generation);
        });
        let broken = bench.store.verify_chain().unwrap_err();
        assert_eq!(broken.code(), Code::StoreCorrupt, "{broken}");
    }
}

/// Each file of the store, damaged in turn, is one fault with its version, and nothing else is.
#[test]
fn row_57_an_examination_names_what_is_damaged_and_changes_nothing() {
    let bench = Bench::with_two_versions();
    let whole = bench.store.examine().unwrap();
    assert_eq!((whole.versions, whole.files, whole.faults.len()), (2, 4, 0));
    assert!(whole.chain.is_some() && whole.strangers.is_empty());
    let listing = bench.listing();
    let content = |path: &&std::path::PathBuf| {
        (path.starts_with("objects") || path.starts_with("meta"))
            && bench.store_path().join(path).is_file()
    };
    let files: Vec<_> = listing.keys().filter(content).cloned().collect();
    assert_eq!(files.len(), 9);
    for file in files {
        let path = bench.store_path().join(&file);
        let bytes = fs::read(&path).unwrap();
        change_byte(&path);
        let before = bench.listing();
        let examined = bench.store.examine().unwrap();
        assert_eq!(bench.listing(), before);
        // The document is both versions'.
        let shared = bytes == b"a package for tests\n";
        let expected = if shared { 2 } else { 1 };
        assert_eq!(examined.faults.len(), expected, "{}", file.display());
        assert!(examined.faults.iter().all(|fault| fault.version.is_some()));
        fs::remove_file(&path).unwrap();
        assert_eq!(bench.store.examine().unwrap().faults.len(), expected);
        fs::write(&path, &bytes).unwrap();
        let mode = fs::Permissions::from_mode(0o644);
        fs::set_permissions(&path, mode).unwrap();
        let loose = bench.store.examine().unwrap().faults.len();
        assert_eq!(loose > 0, file.starts_with("objects"), "{}", file.display());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    }
    assert_eq!(bench.listing(), listing);
}

#[test]
fn what_is_no_part_of_the_store_is_listed_and_left_alone() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let strangers = [
        "HEAD.tmp",
        "./notes.txt",
        "gen/9-00000000.json",
        "gen/readme",
        "leases/readme",
        "objects/sha256/zz/file",
        "objects/stray",
        "meta/sha256/ab/short",
        "staging/0123456789abcdef",
        "trust/7.json",
    ];
    for path in strangers {
        let path = bench.store_path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"x").unwrap();
    }
    // Folders with nothing in them, and one that a collection may leave.
    let empty = [
        "gen/0-00000000.json",
        "leases/folder",
        "meta/folder",
        "meta/sha256/AB",
        "objects/sha256/folder",
        "trust/0",
    ];
    for path in empty.iter().chain(&["objects/sha256/ab"]) {
        fs::create_dir_all(bench.store_path().join(path)).unwrap();
    }
    let examined = bench.store.examine().unwrap();
    let found: std::collections::BTreeSet<_> = examined
        .strangers
        .iter()
        .map(|path| path.as_str().trim_start_matches("./"))
        .collect();
    let expected = strangers.map(|path| path.trim_start_matches("./"));
    assert_eq!(found, expected.into_iter().chain(empty).collect());
    assert!(examined.faults.is_empty());
    // Garbage is what the store wrote, not what others put there.
    assert_eq!(bench.store.collect_garbage().unwrap().files, 0);
    assert!(bench.store_path().join("objects/sha256/zz/file").exists());
}

#[test]
fn a_folder_s_bundles_are_judged_as_an_install_would() {
    let bench = Bench::with_two_versions();
    bench.store.rollback(None, BACK, &Unprobed).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let stranger = Publisher::new(folder.path(), "stranger");
    for (name, bytes) in [
        ("a.gkernel", bench.package(CPU, "1.0.2")),
        ("b.gkernel", bench.package(CPU, "1.0.1")),
        ("c.gkmodule", bench.package(OTHER, "1.0.0")),
        ("d.gkernel", bench.package_by(&stranger, CPU, "1.0.3", "")),
        ("e.txt", b"no bundle".to_vec()),
        ("f.gkernel", b"no bundle".to_vec()),
    ] {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let before = bench.listing();
    let offers = bench
        .store
        .offers(folder.path(), &options().verify)
        .unwrap();
    assert_eq!(bench.listing(), before);
    let seen: Vec<_> = offers
        .iter()
        .map(|offer| {
            let name = offer.file.file_name().unwrap().to_string_lossy();
            match &offer.package {
                Ok(offered) => format!("{name} {} {}", offered.version, offered.is_update()),
                Err(error) => format!("{name} {}", error.code().name()),
            }
        })
        .collect();
    let expected = [
        "a.gkernel 1.0.2 true",
        "b.gkernel 1.0.1 false",
        "c.gkmodule 1.0.0 false",
        "d.gkernel KEY_UNTRUSTED",
        "f.gkernel BUNDLE_MALFORMED",
    ];
    assert_eq!(seen, expected);
    let offered = offers[0].package.as_ref().unwrap();
    assert_eq!(offered.enabled, Some(version("1.0.0")));
    assert_eq!(offered.newest, Some(version("1.0.1")));
}

/// Each trust file of a chain takes something back that the one before said.
#[test]
fn a_chain_in_which_trust_was_taken_back_is_broken() {
    let takes_back: [fn(&mut TrustBody); 4] = [
        |trust| trust.keys.clear(),
        |trust| trust.keys[0].status = KeyStatus::Active,
        |trust| trust.keys[0].since_gen += 1,
        |trust| trust.keys[0].scopes[0].rights.push(Right::Epoch),
    ];
    for take_back in takes_back {
        let bench = Bench::with_two_versions();
        bench.force_trust(|trust| {
            trust.keys[0].status = KeyStatus::Compromised;
            trust.keys[0].since_gen = 2;
        });
        bench.store.verify_chain().unwrap();
        bench.force_trust(take_back);
        let broken = bench.store.verify_chain().unwrap_err();
        assert_eq!(broken.code(), Code::StoreCorrupt);
        assert!(broken.to_string().contains("trust/2.json"), "{broken}");
    }
}

#[test]
fn a_key_from_the_future_is_not_believed() {
    let bench = Bench::with_two_versions();
    bench.force_trust(|trust| trust.keys[0].since_gen = 5);
    assert_eq!(
        bench.store.enabled().unwrap_err().code(),
        Code::StoreCorrupt
    );
}

/// What generation 4 believed of generation 5 is seen when the chain is walked, though the newest trust says it no more.
#[test]
fn a_key_from_the_future_of_its_own_generation_breaks_the_chain() {
    let bench = Bench::with_two_versions();
    let store = bench.store_path();
    let trust = bench.store.trust().unwrap();
    let put_trust = |prev: Digest, n: u64, since_gen: u64| {
        let mut body = trust.body().clone();
        (body.n, body.prev) = (n, prev);
        body.keys[0].since_gen = since_gen;
        let bytes = serde_json::to_vec(&body).unwrap();
        fs::write(store.join(format!("trust/{n}.json")), &bytes).unwrap();
        Digest::of(&bytes)
    };
    let early = put_trust(trust.digest(), 2, 5);
    let later = put_trust(early, 3, 5);
    let references = [(2, early), (3, later)].map(|(n, sha256)| TrustReference { n, sha256 });
    bench.force_generations(references.map(|it| move |state: &mut Generation| state.trust = it));
    bench.store.trust().unwrap();
    let broken = bench.store.verify_chain().unwrap_err();
    assert_eq!(broken.code(), Code::StoreCorrupt);
    assert!(
        broken.to_string().contains("comes from the future"),
        "{broken}"
    );
}
