//! Plugins that are refused: each with its code, and a message that says whose fault it is.

use crate::fixture::{Bench, Package, child_of};
use guild_package::Code;

#[track_caller]
fn refused(source: &str, code: &str, exit: u8, words: &[&str]) {
    let bench = Bench::with(&Package::of(source));
    let words: Vec<_> = words
        .iter()
        .chain(&["cannot load org.test.plugin@1.0.0: "])
        .copied()
        .collect();
    bench.refuses(code, exit, &words);
}

#[test]
fn minor_versions_without_overlap() {
    let numbers = [
        "speaks minor 0 to 0",
        "with minor 9",
        "at least 8",
        "Upgrade guild",
    ];
    refused("newer_minor_needed", "INCOMPATIBLE", 20, &numbers);
}

#[test]
fn a_host_that_the_manifest_rules_out() {
    let good = Package {
        id: "org.test.ruled-out",
        defines: &[("PLUGIN_ID", "\"org.test.ruled-out\"".to_owned())],
        ..Package::of("good")
    };
    let ruled_out = Package {
        host_min: "1.9",
        ..good
    };
    let words = ["asks for a host with ABI 1.9", "this one has 1.0"];
    let bench = Bench::new();
    bench.refuses_install(&ruled_out, Code::Incompatible, &words);
    bench.install(&good);
    bench.install_unasked(&ruled_out);
    bench.refuses("INCOMPATIBLE", 20, &words);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(!maps.contains("org.test.ruled-out"), "it was mapped");
}

/// Row 71: what the library would pull in is verified by nobody.
#[test]
fn row_71_a_library_that_needs_others() {
    let needy = Package {
        libraries: &["libresolv.so.2"],
        ..Package::of("good")
    };
    let words = ["needs `libresolv.so.2`", "without being verified"];
    refused_twice(&needy, &words);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(!maps.contains("libresolv"), "it was mapped");
}

/// What `install` refuses, the loader refuses as well, should another guild have installed it.
#[track_caller]
fn refused_twice(package: &Package<'_>, words: &[&str]) {
    let bench = Bench::new();
    bench.refuses_install(package, Code::PreflightRefused, words);
    bench.install(&Package::of("good"));
    bench.install_unasked(package);
    bench.refuses("PREFLIGHT_REFUSED", 22, words);
}

#[test]
fn row_76_the_loader_asks_again() {
    let good = Package::of("good");
    let linked = |link, words: &[&str]| refused_twice(&Package { link, ..good }, words);
    linked(
        &["-Wl,-z,execstack"],
        &["executable stack", "-z noexecstack"],
    );
    linked(&["-Wl,-z,nodelete"], &["DT_FLAGS_1", "0x8"]);
    linked(
        &["-Wl,-rpath,/tmp"],
        &["DT_RUNPATH", "where libraries are found"],
    );
}

#[test]
fn row_69_the_loader_reads_the_note_first() {
    let other = Package {
        defines: &[("NOTE_ID", "\"org.test.impostor\"".to_owned())],
        ..Package::of("good")
    };
    refused_twice(&other, &["GUILD note says id `org.test.impostor`"]);
}

/// Row 70: a resolver would run while the library is mapped.
#[test]
fn row_70_code_before_any_check() {
    let bench = Bench::new();
    let file = bench.path().join("resolver-ran");
    let indirect = Package {
        defines: &[("RESOLVER_FILE", format!("\"{}\"", file.display()))],
        ..Package::of("indirect_function")
    };
    refused_twice(&indirect, &["IRELATIVE"]);
    assert!(!file.exists(), "the resolver ran");
}

#[test]
fn a_missing_entry_symbol() {
    let words = ["does not export", "`guild_plugin_entry_v1`", "export macro"];
    let package = Package::of("entry_missing");
    Bench::new().refuses_install(&package, Code::PreflightRefused, &words);
}

/// The plugin's own words reach the user, but can't steer the terminal.
#[test]
fn an_entry_that_says_no() {
    let words = ["status -2", "needs a quantum ", "coprocessor", "\\u{1b}"];
    refused("entry_fails", "INCOMPATIBLE", 20, &words);
}

#[test]
fn an_init_that_says_no() {
    let words = ["init of the plugin failed with status -6: no luck today"];
    refused("init_fails", "PREFLIGHT_REFUSED", 22, &words);
}

#[test]
fn another_identity_than_the_signed_one() {
    let words = ["its id is `org.test.impostor`", "says `org.test.plugin`"];
    refused("other_id", "PREFLIGHT_REFUSED", 22, &words);
    let words = ["its version is `1.0.1`", "says `1.0.0`"];
    refused("other_version", "PREFLIGHT_REFUSED", 22, &words);
}

/// The first operation was fine; it isn't kept, and the plugin is told to end.
#[test]
fn a_second_operation_that_fails_takes_the_first_with_it() {
    let bench = Bench::new();
    let file = bench.path().join("was-shut-down");
    bench.install(&Package {
        defines: &[("SHUTDOWN_FILE", format!("\"{}\"", file.display()))],
        ..Package::of("second_describe_fails")
    });
    bench.refuses("PREFLIGHT_REFUSED", 22, &["the second one is shy"]);
    assert!(file.exists(), "shutdown was not called");
}

#[test]
fn a_good_plugin_is_not_shut_down() {
    let bench = Bench::new();
    let file = bench.path().join("was-shut-down");
    bench.install(&Package {
        defines: &[("SHUTDOWN_FILE", format!("\"{}\"", file.display()))],
        ..Package::of("good")
    });
    drop(bench.load().unwrap());
    assert!(!file.exists(), "shutdown was called");
}

#[test]
fn a_flag_that_must_be_understood() {
    refused(
        "unknown_flag",
        "INCOMPATIBLE",
        20,
        &["guild_plugin_v1 has flags 0x4000"],
    );
}

#[test]
fn writing_past_the_table() {
    refused(
        "writes_past_end",
        "PREFLIGHT_REFUSED",
        22,
        &["written past its end, 272 bytes"],
    );
}

#[test]
fn functions_outside_the_plugin_or_absent() {
    let words = ["`destroy` points to 0x", "outside the plugin's own code"];
    refused("foreign_function", "PREFLIGHT_REFUSED", 22, &words);
    refused(
        "function_missing",
        "PREFLIGHT_REFUSED",
        22,
        &["`create` is missing"],
    );
}

#[test]
fn operations_that_are_not_what_they_should_be() {
    let words = ["`test.add` was built against another contract of `guild.core.add@1`"];
    refused("wrong_contract", "INCOMPATIBLE", 20, &words);
    let words = ["offers `guild.core.teleport@1`", "does not know"];
    refused("unknown_core_operation", "INCOMPATIBLE", 20, &words);
    let words = ["`org.test.Double@1` is not a valid operation name"];
    refused("bad_name", "PREFLIGHT_REFUSED", 22, &words);
    let words = ["offers `org.test.triple@1`", "manifest does not list"];
    refused("unlisted_operation", "PREFLIGHT_REFUSED", 22, &words);
    let words = ["implementation `test.double` is registered twice"];
    refused("same_implementation", "PREFLIGHT_REFUSED", 22, &words);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_changed_floating_point_register_is_refused_and_restored() {
    let words = ["its constructors changed", "to 0x9fc0", "-ffast-math"];
    refused("flushes_denormals", "PREFLIGHT_REFUSED", 22, &words);
    refused(
        "init_flushes_denormals",
        "PREFLIGHT_REFUSED",
        22,
        &["init changed"],
    );
    let smallest = std::hint::black_box(f32::from_bits(1));
    assert_eq!((smallest * std::hint::black_box(1.0)).to_bits(), 1);
}

#[test]
fn row_79_one_flipped_bit_in_the_store() {
    let bench = Bench::new();
    let digest = bench.install(&Package::of("good"));
    bench.load().unwrap();
    bench.damage_object(digest);
    let words = ["cannot load org.test.plugin@1.0.0", &digest.to_string()];
    bench.refuses("DIGEST_MISMATCH", 16, &words);
}

/// Row 79: a good package beside a bad one isn't loaded either.
#[test]
fn row_79_one_bad_package_fails_the_whole_load() {
    let bench = Bench::new();
    let good = bench.path().join("good-was-shut-down");
    bench.install(&Package {
        id: "org.test.a-good-one",
        defines: &[
            ("PLUGIN_ID", "\"org.test.a-good-one\"".to_owned()),
            ("SHUTDOWN_FILE", format!("\"{}\"", good.display())),
        ],
        ..Package::of("good")
    });
    bench.install(&Package::of("entry_fails"));
    bench.refuses("INCOMPATIBLE", 20, &["cannot load org.test.plugin@1.0.0"]);
    assert!(good.exists(), "the good plugin still runs");
}

/// A process that may have no descriptor from 1000 on has no number for the library.
#[test]
fn a_system_that_leaves_no_way_to_load() {
    let child = child_of(
        "refused::a_system_that_leaves_no_way_to_load",
        "ulimit -n 512",
        || {
            let bench = Bench::with(&Package::of("good"));
            bench.refuses("LOADER_UNAVAILABLE", 25, &["ulimit -n 4096"]);
        },
    );
    if let Some(child) = child {
        let text = String::from_utf8_lossy(&child.stdout);
        assert!(
            child.status.success() && text.contains("1 passed"),
            "{text}"
        );
    }
}

/// Rust can't go on after a foreign exception, so the process ends, and says whose fault it is.
#[test]
fn an_exception_ends_the_process_with_the_package_name() {
    let name = "refused::an_exception_ends_the_process_with_the_package_name";
    let child = child_of(name, "true", || {
        let _ = Bench::with(&Package::of("throws")).load();
    });
    if let Some(child) = child {
        let text = String::from_utf8_lossy(&child.stderr);
        assert!(!child.status.success(), "{text}");
        let expected = "org.test.plugin@1.0.0 let an exception leave init";
        assert!(text.contains(expected), "{text}");
    }
}
