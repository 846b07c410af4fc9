//! Packages that pass.

use crate::fixture::{Bench, Package};
use crate::trial::{accepted, in_constructor, in_init, install, probe};
use crate::unprobed::Unprobed;
use guild_loader::probe::sandbox;
use guild_package::Code;
use guild_package::store::RollbackOptions;

#[test]
fn a_good_package_is_described_and_installed() {
    let installed = accepted(&Package::of("good"));
    let probed = installed.probed.unwrap();
    assert_eq!(probed.sandbox, sandbox::available());
    let descriptor = &probed.report.descriptor;
    assert_eq!(descriptor.id.as_str(), "org.test.plugin");
    let operations: Vec<_> = descriptor
        .operations
        .iter()
        .map(|operation| format!("{} {}", operation.name, operation.implementation))
        .collect();
    assert_eq!(
        operations,
        ["guild.core.add test.add", "org.test.double test.double"]
    );
    assert_eq!(descriptor.runners[0].as_str(), "test.runner.v1");
}

/// What the plugin prints reaches nobody, and can't pass for the answer.
#[test]
fn printing_is_harmless() {
    accepted(&Package {
        defines: &in_init("printf(\"{}\\n\"); fflush(stdout); fprintf(stderr, \"%5000d\", 1);"),
        ..Package::of("in_init")
    });
}

/// `quiesce` stops a plugin's own threads, so it may have some.
#[test]
fn a_plugin_may_start_threads() {
    accepted(&Package {
        defines: &in_constructor(
            "pthread_t it; if (pthread_create(&it, 0, nothing, 0)) abort(); pthread_join(it, 0);",
        ),
        ..Package::of("in_constructor")
    });
}

#[test]
fn the_c_plus_plus_runtime_is_there_when_it_is_needed() {
    accepted(&Package {
        libraries: &["libstdc++.so.6", "libm.so.6", "libgcc_s.so.1"],
        ..Package::of("good")
    });
}

/// What was installed before there were trial runs, or by a host whose trial run passed, is tried again.
#[test]
fn enable_and_rollback_try_it_too() {
    let bench = Bench::new();
    let version = |version: &'static str, statements: &str| {
        let mut defines = in_init(statements).to_vec();
        defines.push(("PLUGIN_VERSION", format!("\"{version}\"")));
        (version, defines)
    };
    for (version, defines) in [version("1.0.0", "abort();"), version("1.0.1", "")] {
        bench.install(&Package {
            version,
            defines: &defines,
            ..Package::of("in_init")
        });
    }
    let id = "org.test.plugin".parse().unwrap();
    let generation = bench.store.generation().unwrap();
    let old = "1.0.0".parse().unwrap();
    let enabled = bench.store.enable(&id, Some(&old), &probe());
    assert_eq!(enabled.unwrap_err().code(), Code::ProbeFailed);
    let back = RollbackOptions::default();
    let rolled_back = bench.store.rollback(Some(&id), back, &probe());
    assert_eq!(rolled_back.unwrap_err().code(), Code::ProbeFailed);
    assert_eq!(bench.store.generation().unwrap(), generation);

    bench.store.enable(&id, Some(&old), &Unprobed).unwrap();
    let forward = bench.store.enable(&id, None, &probe()).unwrap();
    assert!(forward.changed && forward.probed.is_some());
}

/// Where the package stays the one that is enabled, nothing is to be tried.
#[test]
fn what_changes_nothing_is_not_tried() {
    let bench = Bench::new();
    install(&bench, &Package::of("good"), &probe()).unwrap();
    let id = "org.test.plugin".parse().unwrap();
    assert_eq!(
        bench.store.enable(&id, None, &probe()).unwrap().probed,
        None
    );
}
