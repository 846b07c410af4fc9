//! Receipts: the same reasons give the same bytes, other reasons give others, and no check depends on one.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::fixture::{Bench, NOW_S, options};
use crate::unprobed::{Unprobed, promised};
use guild_package::probe::{Probe, Probed, Sandbox, Subject};
use guild_package::{Code, Digest, InstallOptions, Receipt, Result, Store, StoreOptions};

const CPU: &str = "org.guild.kernels.cpu";

fn receipt_of(store: &Store) -> (Digest, Receipt) {
    let packages = store.enabled().unwrap();
    let package = packages.iter().find(|package| package.id().as_str() == CPU);
    let package = package.unwrap();
    (
        package.receipt_digest().unwrap(),
        package.receipt().unwrap(),
    )
}

/// A second store that trusts the same key.
fn other_store(bench: &Bench) -> Store {
    let store = Store::open(&bench.path().join("other"), StoreOptions::default()).unwrap();
    let grant = crate::fixture::grant("org.guild");
    store.trust_add(&bench.publisher.record, &grant).unwrap();
    store
}

#[test]
fn two_stores_with_equal_inputs_give_equal_bytes() {
    let bench = Bench::new();
    let bytes = bench.package(CPU, "1.0.0");
    let installed = bench.install(&bytes).unwrap();
    let other = other_store(&bench);
    let mut later = options();
    later.verify.now_s = NOW_S + 1000;
    other
        .install(&bench.bundle_file(&bytes), &later, &Unprobed)
        .unwrap();
    let (digest, receipt) = receipt_of(&bench.store);
    assert_eq!(installed.receipt, Some(digest));
    assert_eq!((digest, receipt.clone()), receipt_of(&other));
    assert_eq!(Digest::of(&receipt.encode().unwrap()), digest);
    let text = String::from_utf8(receipt.encode().unwrap()).unwrap();
    let path = bench.path().to_str().unwrap();
    assert!(!text.contains(path) && !text.contains(&NOW_S.to_string()));
}

/// A probe that found less.
struct Unfenced;

impl Probe for Unfenced {
    fn probe(&self, subject: &Subject<'_>) -> Result<Probed> {
        Ok(Probed {
            sandbox: Sandbox {
                landlock_abi: 3,
                seccomp: true,
            },
            sandbox_required: true,
            report: promised(subject.manifest())?,
            ambient: vec!["LD_PRELOAD".parse().unwrap()],
        })
    }
}

#[test]
fn every_reason_shows() {
    let bench = Bench::new();
    let bytes = bench.package(CPU, "1.0.0");
    bench.install(&bytes).unwrap();
    let (plain, receipt) = receipt_of(&bench.store);
    let other = other_store(&bench);
    let path = bench.bundle_file(&bytes);
    other.install(&path, &options(), &Unfenced).unwrap();
    let (unfenced, other_receipt) = receipt_of(&other);
    assert_ne!(plain, unfenced);
    assert_ne!(receipt.policy_sha256, other_receipt.policy_sha256);
    assert_eq!(other_receipt.ambient[0].as_str(), "LD_PRELOAD");
    assert_eq!(other_receipt.sandbox.landlock_abi, 3);

    let third = Store::open(&bench.path().join("third"), StoreOptions::default()).unwrap();
    let grant = crate::fixture::grant("org.guild.kernels");
    third.trust_add(&bench.publisher.record, &grant).unwrap();
    let lenient = InstallOptions {
        allow_downgrade: true,
        ..options()
    };
    third.install(&path, &lenient, &Unprobed).unwrap();
    let (_, third) = receipt_of(&third);
    assert_ne!(third.trust_sha256, receipt.trust_sha256);
    assert_ne!(third.policy_sha256, receipt.policy_sha256);
    assert_eq!(third.manifest_sha256, receipt.manifest_sha256);
}

#[test]
fn enable_writes_a_new_one_under_the_trust_of_the_day() {
    let bench = Bench::with_two_versions();
    let (before, _) = receipt_of(&bench.store);
    let id = CPU.parse().unwrap();
    let old = "1.0.0".parse().unwrap();
    let selected = bench.store.enable(&id, Some(&old), &Unprobed).unwrap();
    let (after, receipt) = receipt_of(&bench.store);
    assert_ne!(before, after);
    assert_eq!(selected.receipt, Some(after));
    assert_eq!(receipt.version.to_string(), "1.0.0");
    assert_eq!(receipt.trust_sha256, bench.store.trust().unwrap().digest());
    // Both versions keep theirs, and nothing that is needed is taken for garbage.
    bench.store.collect_garbage().unwrap();
    for row in bench.store.list().unwrap() {
        row.package.unwrap().receipt().unwrap();
    }
}

/// Row 43: what the receipt says was verified once isn't believed.
#[test]
fn row_43_a_receipt_replaces_no_verification() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let package = &bench.store.enabled().unwrap()[0];
    let artifact = package.plugin_artifact().unwrap();
    let path = bench.object(artifact.sha256());
    let mut bytes = fs::read(&path).unwrap();
    bytes[100] ^= 1;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    assert!(package.receipt().is_ok());
    let source = package.open_artifact(&artifact).unwrap();
    let refused = source.copy_verified(|_| Ok(())).unwrap_err();
    assert_eq!(refused.code(), Code::DigestMismatch);
}

#[test]
fn a_damaged_or_missing_receipt_is_named_and_stops_nothing() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let (digest, _) = receipt_of(&bench.store);
    let path = bench.meta(digest);
    assert!(bench.store.examine().unwrap().faults.is_empty());
    fs::remove_file(&path).unwrap();
    let package = &bench.store.enabled().unwrap()[0];
    assert_eq!(package.receipt().unwrap_err().code(), Code::StoreCorrupt);
    assert_eq!(bench.store.examine().unwrap().faults.len(), 1);
}
