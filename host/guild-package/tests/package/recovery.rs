//! Rows 57, 58, 60 and 67: what an interrupted change leaves behind, and what is never guessed.

use crate::unprobed::Unprobed;
use std::fs;

use guild_package::{Code, Store, StoreOptions};

use crate::fixture::{Bench, Publisher, grant, options};

const CPU: &str = "org.guild.kernels.cpu";

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
        assert_eq!(guild_package::Digest::of(&bytes), generation.prev);
        generation = guild_package::store::generation::Generation::decode(&bytes).unwrap();
        assert_eq!(generation.n, before);
    }
    assert_eq!(generation.prev, guild_package::Digest::NONE);
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
        let codes = [
            Store::open(&bench.store_path(), StoreOptions::default())
                .unwrap_err()
                .code(),
            bench.store.enabled().unwrap_err().code(),
            bench
                .store
                .install(&next, &options(), &Unprobed)
                .unwrap_err()
                .code(),
        ];
        assert_eq!(codes, [Code::StoreCorrupt; 3], "change {index}");
        assert_eq!(bench.listing(), before, "change {index}");
    }
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
        assert_eq!(
            bench.store.enabled().unwrap_err().code(),
            Code::StoreCorrupt
        );
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

fn replace(bench: &Bench, name: &str, change: impl FnOnce(&[u8]) -> Vec<u8>) {
    let path = bench.store_path().join(name);
    let bytes = change(&fs::read(&path).unwrap());
    fs::remove_file(&path).unwrap();
    fs::write(&path, bytes).unwrap();
}
