//! Which packages are loaded, which are left out and why, and how long a package is held.

use crate::fixture::{Bench, Package};
use guild_loader::load::REFERENCE_PACKAGE;
use guild_loader::{LeftOut, LeftOutReason, LoadOptions, load_enabled};

fn other(id: &str) -> Vec<(&'static str, String)> {
    vec![("PLUGIN_ID", format!("\"{id}\""))]
}

#[test]
fn an_empty_store_loads_nothing() {
    let loaded = Bench::new().load().unwrap();
    assert_eq!(loaded.registry().packages().count(), 0);
}

#[test]
fn two_packages_may_not_have_one_implementation() {
    let bench = Bench::with(&Package::of("good"));
    bench.install(&Package {
        id: "org.test.second",
        defines: &other("org.test.second"),
        ..Package::of("good")
    });
    let words = [
        "org.test.second@1.0.0",
        "org.test.plugin@1.0.0",
        "with only one of the two packages",
    ];
    bench.refuses("PREFLIGHT_REFUSED", 22, &words);
}

#[test]
fn the_reference_package_binds_only_if_it_was_asked_for() {
    let bench = Bench::with(&Package {
        id: REFERENCE_PACKAGE,
        defines: &other(REFERENCE_PACKAGE),
        ..Package::of("good")
    });
    let load = |allow_reference| {
        let options = LoadOptions {
            allow_reference,
            ..LoadOptions::default()
        };
        load_enabled(&bench.store, "loader test", &options).unwrap()
    };
    let without = load(false);
    assert_eq!(without.registry().packages().count(), 0);
    assert_eq!(without.leases().len(), 0);
    let left_out = LeftOut {
        id: REFERENCE_PACKAGE.to_owned(),
        reason: LeftOutReason::ReferenceNotAllowed,
    };
    assert_eq!(without.left_out(), [left_out]);
    assert_eq!(load(true).registry().all_operations().count(), 2);
}

#[test]
fn a_lease_lasts_as_long_as_what_was_loaded() {
    let bench = Bench::with(&Package::of("good"));
    let notes = || {
        std::fs::read_dir(bench.path().join("kernels/leases"))
            .unwrap()
            .filter(|entry| {
                let name = entry.as_ref().unwrap().file_name();
                !name.to_string_lossy().ends_with(".lock")
            })
            .count()
    };
    let loaded = bench.load().unwrap();
    assert_eq!(notes(), 1);
    let manifest = bench.store.enabled().unwrap()[0].manifest_digest();
    assert_eq!(loaded.leases()[0].manifest_digest(), manifest);
    drop(loaded);
    assert_eq!(notes(), 0);
}
