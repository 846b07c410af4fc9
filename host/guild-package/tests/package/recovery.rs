//! Rows 57, 58, 60 and 67: what an interrupted change leaves behind, and what is never guessed.

use crate::unprobed::Unprobed;
use std::fs;

use guild_package::{Code, Digest, Store, StoreOptions};
use serde_json::{Value, json};

use crate::fixture::{Bench, Publisher, grant, options};
use crate::versions::{CPU, id};

const PIN: &str = "org.guild.kernels.cpu@1.0.0";

/// Everything an interrupted install and `trust add` can leave.
fn litter(bench: &Bench) {
    let store = bench.store_path();
    let staging = store.join("staging/00000000deadbeef");
    fs::create_dir(&staging).unwrap();
    fs::write(staging.join("1"), "half a bundle").unwrap();
    fs::write(store.join("HEAD.tmp"), "9 half").unwrap();
    fs::write(store.join("gen/99-00000000.json"), "{}").unwrap();
    fs::write(store.join("trust/99.json"), "{}").unwrap();
}

#[test]
fn row_60_leftovers_are_removed_by_the_next_writer() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let clean = bench.listing();
    litter(&bench);
    // Readers see the committed state and remove nothing.
    assert_eq!(bench.store.enabled().unwrap().len(), 1);
    assert!(bench.store_path().join("HEAD.tmp").exists());
    assert!(
        bench
            .install(&bench.package(CPU, "1.0.0"))
            .unwrap()
            .already_installed
    );
    assert_eq!(bench.listing(), clean);
    // A second recovery changes no byte.
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    assert_eq!(bench.listing(), clean);
}

#[test]
fn row_67_the_chain_is_unbroken_back_to_the_first_generation() {
    let bench = Bench::new();
    for version in ["1.0.0", "1.0.1", "1.0.2"] {
        bench.install(&bench.package(CPU, version)).unwrap();
    }
    let mut generation = bench.store.generation().unwrap();
    while generation.n > 0 {
        let before = generation.n - 1;
        let name = format!("gen/{before}-{}.json", generation.prev.short());
        let bytes = fs::read(bench.store_path().join(name)).unwrap();
        assert_eq!(Digest::of(&bytes), generation.prev);
        generation = guild_package::store::generation::Generation::decode(&bytes).unwrap();
        assert_eq!(generation.n, before);
    }
    assert_eq!(generation.prev, Digest::NONE);
}

/// Each change to the committed files is seen by readers and by writers, and is not repaired.
#[test]
fn a_store_that_contradicts_itself_is_reported() {
    let changes: [fn(&Bench); 8] = [
        |bench| fs::remove_file(bench.store_path().join("HEAD")).unwrap(),
        |bench| replace(bench, "HEAD", |_| b"".to_vec()),
        |bench| replace(bench, "HEAD", |head| [head, b"\n"].concat()),
        |bench| {
            replace(bench, "HEAD", |_| {
                format!("7 {}\n", "0".repeat(64)).into_bytes()
            })
        },
        |bench| {
            replace(bench, &generation_name(bench), |bytes| {
                [bytes, b" "].concat()
            })
        },
        |bench| replace(bench, "trust/1.json", |bytes| bytes[1..].to_vec()),
        |bench| fs::remove_file(bench.store_path().join("trust/1.json")).unwrap(),
        |bench| fs::remove_file(bench.store_path().join(generation_name(bench))).unwrap(),
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let bench = Bench::new();
        bench.install(&bench.package(CPU, "1.0.0")).unwrap();
        let next = bench.bundle_file(&bench.package(CPU, "1.0.1"));
        change(&bench);
        let before = bench.listing();
        let errors = [
            Store::open(&bench.store_path(), StoreOptions::default()).unwrap_err(),
            bench.store.enabled().unwrap_err(),
            bench
                .store
                .install(&next, &options(), &Unprobed)
                .unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.code(), Code::StoreCorrupt, "change {index}: {error}");
            let next_step = error.next_step();
            assert!(
                next_step.contains("from a backup"),
                "change {index}: {next_step}"
            );
        }
        assert_eq!(bench.listing(), before, "change {index}");
    }
}

/// A change of a state, and what is wrong with it then.
type Contradiction = (&'static str, fn(&mut Value));

/// Every digest fits, and the state says what can't be.
#[test]
fn a_state_that_contradicts_itself_is_reported() {
    let changes: [Contradiction; 9] = [
        ("schema is not 1", |state| state["schema"] = json!(2)),
        ("prev is not the digest of a predecessor", |state| {
            state["prev"] = json!("0".repeat(64));
        }),
        ("prev is not the digest of a predecessor", |state| {
            state["n"] = json!(0);
            cpu_version(state)["installed_gen"] = json!(0);
        }),
        ("an enabled version is not installed", |state| {
            state["packages"][CPU]["enabled"] = json!("1.0.1");
        }),
        ("an installed version is not the pinned one", |state| {
            state["pins"] = json!({});
        }),
        ("an installed version is not the pinned one", |state| {
            state["pins"][PIN] = json!("1".repeat(64));
        }),
        ("a version comes from the future", |state| {
            cpu_version(state)["installed_gen"] = json!(3);
        }),
        ("an active provider is not enabled", |state| {
            state["packages"][CPU]["enabled"] = Value::Null;
        }),
        ("an active provider is not enabled", |state| {
            let mut active = state["active"].as_object_mut().unwrap().values_mut();
            active.next().unwrap()["version"] = json!("1.0.1");
        }),
    ];
    for (words, change) in changes {
        let bench = Bench::new();
        bench.install(&bench.package(CPU, "1.0.0")).unwrap();
        put_state(&bench, None, |_| {});
        assert_eq!(bench.enabled_version().as_deref(), Some("1.0.0"));
        put_state(&bench, None, change);
        let error = bench.store.generation().unwrap_err();
        assert_eq!(error.code(), Code::StoreCorrupt, "{words}");
        assert!(error.to_string().contains(words), "{words}: {error}");
    }
}

/// A link leads to somebody else's state; what is no file holds none.
#[test]
fn a_link_or_a_folder_for_a_state_file_is_damage() {
    let bench = Bench::new();
    let head = bench.store_path().join("HEAD");
    fs::rename(&head, bench.store_path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", &head).unwrap();
    let error = bench.store.generation().unwrap_err();
    assert_eq!(error.code(), Code::StoreCorrupt);
    assert!(error.to_string().contains("it is a link"), "{error}");
    fs::remove_file(&head).unwrap();
    fs::create_dir(&head).unwrap();
    let error = bench.store.generation().unwrap_err();
    assert_eq!(error.code(), Code::StoreCorrupt);
    assert!(!error.to_string().contains("it is a link"), "{error}");
}

/// The numbers of `HEAD`, of the generation and of its trust file are those that each names the next by.
#[test]
fn a_number_that_another_file_contradicts_is_reported() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    put_state(&bench, Some(3), |_| {});
    let error = bench.store.generation().unwrap_err();
    assert_eq!(error.code(), Code::StoreCorrupt);
    assert!(error.to_string().contains("another number than HEAD says"));

    put_state(&bench, None, |state| state["trust"]["n"] = json!(2));
    let trust = bench.store_path().join("trust");
    fs::copy(trust.join("1.json"), trust.join("2.json")).unwrap();
    let error = bench.store.trust().unwrap_err();
    assert_eq!(error.code(), Code::StoreCorrupt);
    assert!(
        error
            .to_string()
            .contains("another number than the generation says")
    );
}

/// SHA-256 of the arguments as canonical JSON, here of the text that `docs/package-format.md` says.
#[test]
fn a_generation_has_the_digest_of_its_commands_arguments() {
    let bench = Bench::new();
    bench.store.raise_floor(&id(CPU), 2).unwrap();
    let arguments = format!("{{\"id\":\"{CPU}\",\"epoch\":2}}");
    let digest = bench.store.generation().unwrap().args_digest;
    assert_eq!(digest, Digest::of(arguments.as_bytes()));
}

#[test]
fn a_changed_manifest_or_envelope_in_the_store_is_reported() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let package = bench.store.enabled().unwrap().remove(0);
    for digest in [package.manifest_digest(), package.envelope_digest()] {
        let path = bench.meta(digest);
        let name = path.to_str().unwrap();
        let good = fs::read(&path).unwrap();
        replace(&bench, name, |bytes| [bytes, b" "].concat());
        let error = bench.store.enabled().unwrap_err();
        assert_eq!(error.code(), Code::StoreCorrupt);
        assert!(error.next_step().contains("writes it anew"), "{error}");
        replace(&bench, name, |_| good.clone());
        assert_eq!(bench.store.enabled().unwrap().len(), 1);
    }
}

/// A signature that was good at install is checked again when the package is read.
#[test]
fn row_42_reading_an_installed_package_verifies_it_again() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    bench.force_trust(|body| body.keys.clear());
    assert_eq!(
        bench.store.enabled().unwrap_err().code(),
        Code::KeyUntrusted
    );
    let narrow = Publisher::new(bench.path(), "narrow");
    bench
        .store
        .trust_add(&narrow.record, &grant("org.guild"))
        .unwrap();
    assert_eq!(
        bench.store.enabled().unwrap_err().code(),
        Code::KeyUntrusted
    );
    bench
        .store
        .trust_add(&bench.publisher.record, &grant("org.other"))
        .unwrap();
    assert_eq!(bench.store.enabled().unwrap_err().code(), Code::ScopeDenied);
    bench
        .store
        .trust_add(&bench.publisher.record, &grant("org.guild.kernels"))
        .unwrap();
    assert_eq!(bench.store.enabled().unwrap().len(), 1);
}

#[test]
fn an_interrupted_creation_starts_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernels");
    Store::open(&path, StoreOptions::default()).unwrap();
    fs::remove_file(path.join("HEAD")).unwrap();
    fs::write(path.join("HEAD.tmp"), "half").unwrap();
    // Of another second, and so of another name.
    fs::write(path.join("gen/0-00000000.json"), "half").unwrap();
    let store = Store::open(&path, StoreOptions::default()).unwrap();
    assert_eq!(store.generation().unwrap().n, 0);
    assert!(!path.join("HEAD.tmp").exists());
    assert_eq!(fs::read_dir(path.join("gen")).unwrap().count(), 1);
}

fn generation_name(bench: &Bench) -> String {
    let head = fs::read_to_string(bench.store_path().join("HEAD")).unwrap();
    let (n, digest) = head.trim_end().split_once(' ').unwrap();
    format!("gen/{n}-{}.json", &digest[..8])
}

/// The one version of a state that has one.
fn cpu_version(state: &mut Value) -> &mut Value {
    &mut state["packages"][CPU]["versions"]["1.0.0"]
}

/// Puts a changed copy of the generation in force, with every digest as it must be. `HEAD` says `n`, or what the file says.
fn put_state(bench: &Bench, n: Option<u64>, change: impl FnOnce(&mut Value)) {
    let root = bench.store_path();
    let bytes = fs::read(root.join(generation_name(bench))).unwrap();
    let mut state: Value = serde_json::from_slice(&bytes).unwrap();
    change(&mut state);
    let bytes = serde_json::to_vec(&state).unwrap();
    let n = n.or_else(|| state["n"].as_u64()).unwrap();
    fs::write(root.join("HEAD"), format!("{n} {}\n", Digest::of(&bytes))).unwrap();
    fs::write(root.join(generation_name(bench)), bytes).unwrap();
}

fn replace(bench: &Bench, name: &str, change: impl FnOnce(&[u8]) -> Vec<u8>) {
    let path = bench.store_path().join(name);
    let bytes = change(&fs::read(&path).unwrap());
    fs::remove_file(&path).unwrap();
    fs::write(&path, bytes).unwrap();
}
