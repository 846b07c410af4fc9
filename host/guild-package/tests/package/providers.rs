//! Who serves a name, and whose needs are asked about, where packages differ in both.

use std::fs;

use guild_package::store::generation::ActiveMode;
use guild_package::{Code, Error};

use crate::fixture::{Bench, stage};
use crate::unprobed::Unprobed;
use crate::versions::{CPU, OTHER, id, version};

/// What fixture packages provide, and another operation.
const EXPERTS: &str = "guild.core.moe_experts@1";
const ADD: &str = "guild.core.add@1";

/// A bundle of a package that provides `operation` alone.
fn providing(bench: &Bench, id: &str, version: &str, operation: &str) -> Vec<u8> {
    let staging = stage(bench.path(), id, version, "");
    let description = staging.path().join("package.toml");
    let text = fs::read_to_string(&description).unwrap();
    assert!(text.contains(EXPERTS));
    fs::write(description, text.replace(EXPERTS, operation)).unwrap();
    bench.sign(&bench.publisher, staging.path())
}

/// `operation by package version`, ascending.
fn served(bench: &Bench) -> Vec<String> {
    let active = bench.store.active().unwrap();
    let lines = active
        .iter()
        .map(|(name, active)| format!("{name} by {} {}", active.id, active.version));
    lines.collect()
}

#[test]
fn a_name_that_a_version_no_longer_provides_is_nobody_s() {
    let bench = Bench::new();
    bench
        .install(&providing(&bench, CPU, "1.0.0", ADD))
        .unwrap();
    bench
        .install(&providing(&bench, OTHER, "1.0.0", EXPERTS))
        .unwrap();
    let both = [
        format!("{ADD} by {CPU} 1.0.0"),
        format!("{EXPERTS} by {OTHER} 1.0.0"),
    ];
    assert_eq!(served(&bench), both);
    bench
        .install(&providing(&bench, OTHER, "1.0.1", ADD))
        .unwrap();
    assert_eq!(served(&bench), [format!("{ADD} by {OTHER} 1.0.1")]);
}

/// What a person chose for one name stays while a package with another name comes.
#[test]
fn a_package_with_other_names_leaves_a_chosen_one_alone() {
    let bench = Bench::new();
    bench
        .install(&providing(&bench, CPU, "1.0.0", ADD))
        .unwrap();
    bench.force_generation(|state| {
        for active in state.active.values_mut() {
            active.mode = ActiveMode::Manual;
        }
    });
    bench
        .install(&providing(&bench, OTHER, "1.0.0", EXPERTS))
        .unwrap();
    let active = bench.store.active().unwrap();
    let (_, add) = active
        .iter()
        .find(|(name, _)| name.to_string() == ADD)
        .unwrap();
    assert_eq!((&add.id, add.mode), (&id(CPU), ActiveMode::Manual));
}

/// A package is asked about what it depends on, and about nothing else that changes.
#[test]
fn a_need_of_one_package_holds_no_other_one() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    bench
        .install(&bench.package("org.guild.kernels.third", "1.0.0"))
        .unwrap();
    let lines = format!("depends = [{{ id = \"{CPU}\", req = \"^1\", min_epoch = 1 }}]");
    let user = bench.package_by(&bench.publisher, OTHER, "1.0.0", &lines);
    bench.install(&user).unwrap();
    bench
        .store
        .disable(&id("org.guild.kernels.third"), None)
        .unwrap();
    let needed = bench.store.disable(&id(CPU), None).unwrap_err();
    assert!(matches!(needed, Error::StillNeeded { by, .. } if by.len() == 1));
}

#[test]
fn a_version_that_isn_t_installed_is_neither_removed_nor_enabled() {
    let bench = Bench::with_two_versions();
    let absent = version("1.0.2");
    bench.store_refuses(Code::NotFound, || {
        bench.store.remove(&id(CPU), Some(&absent))
    });
    bench.store_refuses(Code::NotFound, || {
        bench.store.enable(&id(CPU), Some(&absent), &Unprobed)
    });
}
