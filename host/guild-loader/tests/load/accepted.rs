//! Plugins that are loaded, and what the host then knows about them.

use crate::fixture::{Bench, Package};
use guild_loader::{Count, Origin, counters};

#[test]
fn a_good_package_is_registered_whole() {
    let bench = Bench::with(&Package::of("good"));
    let loaded = bench.load().unwrap();
    let registry = loaded.registry();

    let [package] = &registry.packages().collect::<Vec<_>>()[..] else {
        panic!("one package was installed");
    };
    let installed = bench.store.enabled().unwrap();
    assert_eq!(package.identity.id, "org.test.plugin");
    assert_eq!(package.identity.version, "1.0.0");
    assert_eq!(
        package.identity.digest,
        Some(installed[0].manifest_digest())
    );
    assert_eq!(package.identity.origin, Origin::Installed);

    let add: Vec<_> = registry.operations("guild.core.add", 1).collect();
    assert_eq!(add.len(), 1);
    assert_eq!(add[0].implementation, "test.add");
    assert_eq!((add[0].index, add[0].rank, add[0].exactness), (0, 7, 1));
    assert_eq!(add[0].phases, 3);
    assert_eq!(add[0].formats, [1]);
    assert!(registry.operations("guild.core.add", 2).next().is_none());
    assert_eq!(registry.operations("org.test.double", 1).count(), 1);

    let runners: Vec<_> = registry.runners().collect();
    assert_eq!(runners.len(), 1);
    assert_eq!(runners[0].id, "test.runner.v1");
    assert_eq!(runners[0].architectures, ["alpha", "beta"]);
    assert_eq!(loaded.leases().len(), 1);
    assert!(loaded.left_out().is_empty());
}

#[test]
fn counters_are_read_from_the_plugin() {
    let bench = Bench::with(&Package::of("good"));
    let loaded = bench.load().unwrap();
    let package = loaded.registry().packages().next().unwrap();
    let count = |name: &str, implementation: &str, calls, rows| Count {
        name: name.to_owned(),
        implementation: implementation.to_owned(),
        calls,
        rows,
    };
    assert_eq!(
        counters(package),
        [
            count("guild.core.add@1", "test.add", 10, 100),
            count("org.test.double@1", "test.double", 11, 101),
            count("guild.runner/1", "test.runner.v1", 20, 0),
        ]
    );
}

/// Promise 1: the code that runs lies in a sealed memory file, and nothing of the store is mapped.
#[test]
fn the_code_lies_in_a_memory_file_that_carries_the_package_name() {
    let bench = Bench::with(&Package {
        version: "1.0.7",
        defines: &[("PLUGIN_VERSION", "\"1.0.7\"".to_owned())],
        ..Package::of("good")
    });
    let loaded = bench.load().unwrap();
    let package = loaded.registry().packages().next().unwrap();
    let address = package.table.describe.unwrap() as usize;
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| holds(line, address)).unwrap();
    assert!(line.contains(" r-xp "), "{line}");
    assert!(
        line.contains("/memfd:guild:org.test.plugin@1.0.7"),
        "{line}"
    );
    let store = bench.path().to_str().unwrap();
    assert!(!maps.contains(store), "the store is mapped");
}

fn holds(line: &str, address: usize) -> bool {
    let number = |text| usize::from_str_radix(text, 16).unwrap();
    let (start, end) = line.split(' ').next().unwrap().split_once('-').unwrap();
    (number(start)..number(end)).contains(&address)
}

/// Row 73: one version after the other in one process; each answers with its own code.
#[test]
fn row_73_each_version_gets_its_own_code() {
    for number in 0..6 {
        let implementation = format!("test.add.number{number}");
        let bench = Bench::with(&Package {
            defines: &[("FIRST_IMPLEMENTATION", format!("\"{implementation}\""))],
            ..Package::of("good")
        });
        let loaded = bench.load().unwrap();
        let mut add = loaded.registry().operations("guild.core.add", 1);
        assert_eq!(add.next().unwrap().implementation, implementation);
    }
}

#[test]
fn equal_bytes_share_one_mapping() {
    let bench = Bench::with(&Package::of("good"));
    let address = || {
        let loaded = bench.load().unwrap();
        let package = loaded.registry().packages().next().unwrap();
        package.table.describe.unwrap() as usize
    };
    assert_eq!(address(), address());
}

#[test]
fn a_newer_header_is_fine_if_the_plugin_can_live_with_this_host() {
    let bench = Bench::with(&Package::of("newer_minor_built"));
    assert_eq!(bench.load().unwrap().registry().all_operations().count(), 2);
}

#[test]
fn garbage_after_the_size_is_not_read() {
    let bench = Bench::with(&Package::of("garbage_after_size"));
    let loaded = bench.load().unwrap();
    let package = loaded.registry().packages().next().unwrap();
    assert!(package.table.get_extension.is_none());
    assert!(package.table.shutdown.is_none());
    assert_eq!(package.table.reserved, [0; 8]);
    assert_eq!(loaded.registry().runners().count(), 0);
}
