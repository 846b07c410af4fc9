//! Row 84: a package that computes something else than it was signed for.

use std::time::Duration;

use crate::fixture::{Bench, GoldenFile, Package};
use crate::trial::{accepted, install, probe, refused, refused_by};
use guild_abi::formats::GUILD_FORMAT_F32;
use guild_conformance::golden::{Tensor, Vector, Vectors};
use guild_package::probe::{GoldenResult, Probe, Probed, Subject};
use guild_package::{Code, Digest, InstallOptions, Result};

const DOUBLE: &str = "org.test.double@1";

/// Two rows of three numbers, and their doubles.
fn vectors() -> Vec<u8> {
    let tensor = |factor: f32| Tensor {
        format: GUILD_FORMAT_F32,
        dynamic: true,
        shape: vec![2, 3],
        bytes: [1.0f32, -2.5, 0.1, 3e30, 7.0, -0.0]
            .iter()
            .flat_map(|x| (x * factor).to_le_bytes())
            .collect(),
    };
    Vectors {
        op: "org.test.double".to_owned(),
        version: 1,
        vectors: vec![Vector {
            name: "two rows".to_owned(),
            rows: 2,
            params: Vec::new(),
            inputs: vec![tensor(1.0)],
            outputs: vec![tensor(2.0)],
        }],
    }
    .encode()
    .unwrap()
}

fn file(op: &'static str, bytes: Vec<u8>, tolerance: u64) -> [GoldenFile; 1] {
    [GoldenFile {
        op,
        bytes,
        tolerance,
    }]
}

fn with<'a>(defines: &'a [(&'a str, String)], golden: &'a [GoldenFile]) -> Package<'a> {
    Package {
        defines,
        golden,
        ..Package::of("doubles")
    }
}

#[test]
fn what_is_reproduced_stands_in_report_and_receipt() {
    let bench = Bench::new();
    let golden = file(DOUBLE, vectors(), 200);
    let installed = install(&bench, &with(&[], &golden), &probe()).unwrap();
    let results = installed.probed.unwrap().report.golden;
    assert_eq!(results.len(), 1);
    assert_eq!(results[0].op.as_str(), DOUBLE);
    assert_eq!(results[0].tolerance, 200);
    assert_eq!(results[0].reproduced_by[0].as_str(), "test.double");
    let receipt = bench.store.enabled().unwrap()[0].receipt().unwrap();
    assert_eq!(receipt.golden, results);
}

/// A child that says something else about the vectors than what was signed.
struct Bent(fn(&mut GoldenResult));

impl Probe for Bent {
    fn probe(&self, subject: &Subject<'_>) -> Result<Probed> {
        let mut probed = probe().probe(subject)?;
        probed.report.golden.iter_mut().for_each(self.0);
        Ok(probed)
    }
}

/// Other vectors, or the same with more tolerance, are not those that were signed.
#[test]
fn row_84_results_of_other_vectors() {
    let bench = Bench::new();
    let golden = file(DOUBLE, vectors(), 0);
    let (bundle, _) = bench.sign(&with(&[], &golden));
    let bends: [fn(&mut GoldenResult); 3] = [
        |result| result.tolerance = 1,
        |result| result.vector_sha256 = Digest::NONE,
        |result| result.op = "guild.core.add@1".parse().unwrap(),
    ];
    for bend in bends {
        let options = InstallOptions::default();
        let refused = bench.store.install(&bundle, &options, &Bent(bend));
        let refused = refused.unwrap_err();
        assert_eq!(refused.code(), Code::ProbeFailed, "{refused}");
        let text = refused.to_string();
        assert!(text.contains("not those of the signed vectors"), "{text}");
    }
}

/// One unit in the last place of one weight.
#[test]
fn row_84_one_perturbed_weight() {
    let golden = file(DOUBLE, vectors(), 0);
    let bent = [("FACTOR", "2.0000002f".to_owned())];
    refused(
        &with(&bent, &golden),
        &[
            "`test.double` does not compute org.test.double@1",
            "two rows",
        ],
    );
}

#[test]
fn row_84_one_wrong_number_in_the_second_of_two_threads_worth_of_calls() {
    let golden = file(DOUBLE, vectors(), 0);
    let late = "static int calls; if (++calls == 4) { ((float *)to->data)[0] = 9; return GUILD_STATUS_OK; }";
    let bent = [("IN_EXECUTE", late.to_owned())];
    refused(&with(&bent, &golden), &["does not compute"]);
}

#[test]
fn a_signed_tolerance_allows_as_much_and_no_more() {
    let bent = [("FACTOR", "2.0000002f".to_owned())];
    accepted(&with(&bent, &file(DOUBLE, vectors(), 200)));
    let more = [("FACTOR", "2.000001f".to_owned())];
    refused(
        &with(&more, &file(DOUBLE, vectors(), 200)),
        &["does not compute", "allowed"],
    );
}

#[test]
fn a_call_that_writes_outside_or_fails_or_never_ends() {
    let golden = file(DOUBLE, vectors(), 0);
    let does = |statements: &str| [("IN_EXECUTE", statements.to_owned())];
    let outside = does("((float *)to->data)[-1] = 1;");
    refused(&with(&outside, &golden), &["wrote outside"]);
    let crashes = does("*(volatile int *)8 = 1;");
    refused(&with(&crashes, &golden), &["SIGSEGV"]);
    let fails = does("return GUILD_STATUS_ERR_INTERNAL;");
    refused(&with(&fails, &golden), &["does not compute", "status"]);
    let hurried = probe().within(Duration::from_millis(1500));
    let never = does("for (;;) {}");
    refused_by(&hurried, &with(&never, &golden), &["did not end"]);
}

#[test]
fn vectors_that_nobody_takes_prove_nothing() {
    let golden = file(DOUBLE, vectors(), 0);
    let package = Package {
        golden: &golden,
        ..Package::of("good")
    };
    refused(&package, &["no implementation of org.test.double@1 took"]);
}

#[test]
fn files_that_are_no_vectors_or_those_of_another_operation() {
    let broken = file(DOUBLE, b"GUILDGV1 and then nothing".to_vec(), 0);
    refused(&with(&[], &broken), &["can't be read", "golden0.bin"]);
    let other = file("guild.core.add@1", vectors(), 0);
    refused(
        &with(&[], &other),
        &["can't be read", "it is for org.test.double@1"],
    );
}
