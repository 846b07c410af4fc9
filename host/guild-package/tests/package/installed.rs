//! What an installed package says of itself, and what is asked before it is loaded.

use std::fs;
use std::os::unix::fs::symlink;

use guild_package::store::generation::Generation;
use guild_package::trust::Policy;
use guild_package::{Code, InstalledPackage};

use crate::fixture::Bench;
use crate::versions::{CPU, OTHER, id, version};

/// Every version of the bench's packages, ascending.
fn all(bench: &Bench) -> Vec<InstalledPackage> {
    let listed = bench.store.list().unwrap();
    listed.into_iter().map(|row| row.package.unwrap()).collect()
}

/// The digests fit, and the manifest is signed, but of another id, or of another version.
#[test]
fn a_manifest_under_another_name_is_not_read() {
    let changes: [fn(&mut Generation); 2] = [
        |state| {
            let mut package = state.packages.remove(&id(CPU)).unwrap();
            let kept = package.versions.remove(&version("1.0.0")).unwrap();
            state
                .pins
                .insert(format!("{CPU}@1.0.1").parse().unwrap(), kept.manifest);
            package.versions.insert(version("1.0.1"), kept);
            package.enabled = Some(version("1.0.1"));
            state.packages.insert(id(CPU), package);
        },
        |state| {
            let package = state.packages.remove(&id(CPU)).unwrap();
            let manifest = package.versions[&version("1.0.0")].manifest;
            state
                .pins
                .insert(format!("{OTHER}@1.0.0").parse().unwrap(), manifest);
            state.packages.insert(id(OTHER), package);
        },
    ];
    for change in changes {
        let bench = Bench::new();
        bench.install(&bench.package(CPU, "1.0.0")).unwrap();
        bench.force_generation(|state| {
            state.active.clear();
            change(state);
        });
        let error = bench.store.enabled().unwrap_err();
        assert_eq!(error.code(), Code::StoreCorrupt);
        assert!(
            error.to_string().contains("it is not the manifest of"),
            "{error}"
        );
    }
}

#[test]
fn one_version_is_the_enabled_one() {
    let bench = Bench::with_two_versions();
    let enabled: Vec<_> = all(&bench)
        .iter()
        .map(InstalledPackage::is_enabled)
        .collect();
    assert_eq!(enabled, [false, true]);
    bench.store.disable(&id(CPU), None).unwrap();
    assert!(!all(&bench).iter().any(InstalledPackage::is_enabled));
}

#[test]
fn only_a_policy_makes_a_package_strict_about_its_surroundings() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    assert!(!all(&bench)[0].is_strict_about_ambient());
    let policy = |strict_ambient| Policy {
        prefix: "org.guild".parse().unwrap(),
        publish: 1,
        reviewer: 0,
        distinct_operators: false,
        strict_ambient,
        allow_ptx_jit: false,
    };
    bench.store.trust_policy(policy(true)).unwrap();
    assert!(all(&bench)[0].is_strict_about_ambient());
    bench.store.trust_policy(policy(false)).unwrap();
    assert!(!all(&bench)[0].is_strict_about_ambient());
}

#[test]
fn a_plugin_that_is_missing_or_of_other_bytes_is_not_loaded() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let package = all(&bench).remove(0);
    let plugin = package.plugin_artifact().unwrap();
    let path = bench.object(plugin.sha256());
    let good = fs::read(&path).unwrap();
    package.check_loadable().unwrap();
    package.check_library(&plugin, &good).unwrap();
    let refused = package.check_library(&plugin, b"no library").unwrap_err();
    assert_eq!(refused.code(), Code::PreflightRefused);
    fs::remove_file(&path).unwrap();
    let refused = package.check_loadable().unwrap_err();
    assert_eq!(refused.code(), Code::StoreCorrupt);
}

/// Whether a session has the version can't be known, so nothing of it is deleted.
#[test]
fn a_lease_s_lock_that_can_t_be_opened_is_no_free_one() {
    let bench = Bench::with_two_versions();
    let manifest = all(&bench)[1].manifest_digest();
    let lock = bench.store_path().join(format!("leases/{manifest}.lock"));
    bench.force_generation(|state| {
        state.packages.clear();
        state.active.clear();
    });
    symlink("elsewhere", lock).unwrap();
    bench.store_refuses(Code::Io, || bench.store.collect_garbage());
}

#[test]
fn a_session_is_named_for_the_packages_that_it_has() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    bench.install(&bench.package(OTHER, "1.0.0")).unwrap();
    let packages = all(&bench);
    let _leases = [
        bench.store.lease(&packages[0], "one").unwrap(),
        bench.store.lease(&packages[1], "another").unwrap(),
    ];
    let busy = bench.store.disable(&id(CPU), None).unwrap_err().to_string();
    assert!(
        busy.contains("(one)") && !busy.contains("another"),
        "{busy}"
    );
}
