//! Packages that fail.

use std::time::Duration;

use crate::fixture::Package;
use crate::trial::{in_constructor, in_init, probe, refused, refused_by};

#[test]
fn row_77_an_init_that_never_returns() {
    let package = Package {
        defines: &in_init("for (;;) {}"),
        ..Package::of("in_init")
    };
    let hurried = probe().within(Duration::from_millis(1500));
    refused_by(&hurried, &package, &["did not end within 1500 ms"]);
}

#[test]
fn row_77_an_init_that_waits_for_ever() {
    let package = Package {
        defines: &in_init("for (;;) sleep(1000);"),
        ..Package::of("in_init")
    };
    let hurried = probe().within(Duration::from_millis(1500));
    refused_by(&hurried, &package, &["did not end within 1500 ms"]);
}

#[test]
fn row_77_an_init_that_aborts() {
    let package = Package {
        defines: &in_init("fprintf(stderr, \"no \\033[2J luck\\n\"); abort();"),
        ..Package::of("in_init")
    };
    refused(&package, &["SIGABRT", "it wrote \"no \\u{1b}[2J luck\""]);
}

#[test]
fn row_77_a_constructor_that_crashes() {
    let package = Package {
        defines: &in_constructor("*(volatile int *)8 = 1;"),
        ..Package::of("in_constructor")
    };
    refused(&package, &["SIGSEGV"]);
}

#[test]
fn row_77_an_end_that_crashes() {
    let package = Package {
        defines: &in_constructor("atexit((void (*)(void))abort);"),
        ..Package::of("in_constructor")
    };
    refused(&package, &["SIGABRT"]);
}

#[test]
fn row_77_an_init_that_wants_ten_gibibytes() {
    let no_memory = "return fail(err, GUILD_STATUS_ERR_NOMEM_HOST, \"no memory\");";
    let package = Package {
        defines: &in_init(&format!("if (!malloc(10ull << 30)) {no_memory}")),
        ..Package::of("in_init")
    };
    refused(&package, &["RESOURCE", "no memory"]);
}

#[test]
fn a_plugin_that_leaves_before_it_answers() {
    let package = Package {
        defines: &in_constructor("_exit(0);"),
        ..Package::of("in_constructor")
    };
    refused(&package, &["did not answer in two lines"]);
    let package = Package {
        defines: &in_constructor("_exit(7);"),
        ..Package::of("in_constructor")
    };
    refused(&package, &["exit code 7"]);
}

#[test]
fn row_69_a_plugin_that_says_it_is_another() {
    refused(
        &Package::of("other_id"),
        &["PREFLIGHT_REFUSED", "signed manifest says"],
    );
    refused(&Package::of("other_version"), &["signed manifest says"]);
}

#[test]
fn a_plugin_that_offers_more_than_was_signed() {
    refused(&Package::of("unlisted_operation"), &["does not list"]);
}

#[test]
fn a_plugin_that_offers_less_than_was_signed() {
    let package = Package {
        operations: &["guild.core.add@1", "org.test.double@1", "org.test.absent@1"],
        ..Package::of("good")
    };
    refused(&package, &["lists org.test.absent@1", "does not offer"]);
}

/// The plugin's own words reach the user, but can't steer the terminal.
#[test]
fn an_entry_that_says_no() {
    refused(
        &Package::of("entry_fails"),
        &["INCOMPATIBLE", "needs a quantum ", "\\u{1b}"],
    );
}

/// In the host this ends the process.
#[test]
fn an_exception_that_leaves_the_plugin() {
    refused(
        &Package::of("throws"),
        &["SIGABRT", "let an exception leave"],
    );
}
