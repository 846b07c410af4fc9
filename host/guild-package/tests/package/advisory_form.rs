//! The bytes of an advisory and its signatures. Rows 21 and 25.

use guild_package::advisory::WithdrawnAs::{Compromised, Superseded};
use guild_package::advisory::{
    AdvisoryBody, FloorLine, VerifiedAdvisory, WithdrawalLine, write_advisory,
};
use guild_package::limits::{ADVISORY_LIST_MAX, STATEMENT_MAX_BYTES};
use guild_package::rotation::{RotationBody, write_rotation};
use guild_package::seed::SecretSeed;
use guild_package::sign::{Purpose, Signature, message};
use guild_package::statement::{Base64Bytes, SignedStatement};
use guild_package::trust::RightLeft;
use guild_package::{Code, TrustStore};
use proptest::prelude::*;

use crate::desk::{Desk, body, floor, grant, publishing, withdrawal};
use crate::fixture::{NOW_S, Publisher};
use crate::versions::{CPU, OTHER, id};

/// Seed of RFC 8032, section 7.1, test 1. The bytes that are signed and the file were made with Python's `cryptography`
/// from the documented rules.
const GOLDEN_SEED: [u8; 32] = [
    0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4,
    0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60,
];
const GOLDEN_MESSAGE: &str = r#"DSSEv1 40 application/vnd.guild.revocation.v1+json 262 {"schema":1,"withdrawals":[{"key":"gk1-7192b85d6165b0426b9937394181d772405c81fc0495db133c4b9b822ec1cb54","status":"compromised","reason":"stolen in May"}],"floors":[{"id":"org.example.kernels","security_epoch":3,"reason":"a hole in 1.0"}],"issued_at":1800000000}"#;
const GOLDEN_FILE: &str = concat!(
    r#"{"type":"application/vnd.guild.revocation.v1+json","body":"#,
    r#""eyJzY2hlbWEiOjEsIndpdGhkcmF3YWxzIjpbeyJrZXkiOiJnazEtNzE5MmI4NWQ2MTY1YjA0MjZiOTkzNzM5NDE4MWQ3NzI0MDVjODFmYzA0OTVkYjEzM2M0YjliODIyZWMxY2I1NCIsInN0YXR1cyI6ImNvbXByb21pc2VkIiwicmVhc29uIjoic3RvbGVuIGluIE1heSJ9XSwiZmxvb3JzIjpbeyJpZCI6Im9yZy5leGFtcGxlLmtlcm5lbHMiLCJzZWN1cml0eV9lcG9jaCI6MywicmVhc29uIjoiYSBob2xlIGluIDEuMCJ9XSwiaXNzdWVkX2F0IjoxODAwMDAwMDAwfQ==""#,
    r#","signatures":[{"keyid":"gk1-7192b85d6165b0426b9937394181d772405c81fc0495db133c4b9b822ec1cb54","alg":"ed25519","sig":"#,
    r#""BBfPoop3Ir+JCTnwVhYDcg5aP3ixBY3HiFTds9+Pye7BhirVb6LR1LEgvfq6tcDGSEYZ+TVjflJ96+Sag6BqBQ=="}]}"#,
    "\n"
);

#[test]
fn the_file_has_the_documented_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("advisory.json");
    let seed = SecretSeed::from_bytes(GOLDEN_SEED);
    let key = seed.public_key().unwrap().id();
    let body = AdvisoryBody {
        schema: 1,
        withdrawals: vec![withdrawal(key, Compromised)],
        floors: vec![floor("org.example.kernels", 3)],
        issued_at: 1_800_000_000,
    };
    write_advisory(&path, &body, &[&seed]).unwrap();
    let written = std::fs::read_to_string(&path).unwrap();
    assert_eq!(written, GOLDEN_FILE);
    let statement: SignedStatement = serde_json::from_str(&written).unwrap();
    let signed = message(Purpose::Revocation, &statement.body.0);
    assert_eq!(String::from_utf8(signed).unwrap(), GOLDEN_MESSAGE);
    let page = include_str!("../../../../docs/package-format.md");
    assert!(page.contains(GOLDEN_MESSAGE), "docs/package-format.md");
}

#[test]
fn row_21_a_statement_for_another_purpose_is_no_advisory() {
    let desk = Desk::new();
    let said = body(&[(&desk.author, Compromised)], &[]);
    let seed = desk.author.seed();
    for purpose in [
        Purpose::Release,
        Purpose::Countersign,
        Purpose::KeyRotation,
        Purpose::TrustRoot,
        Purpose::Checkpoint,
    ] {
        let mut statement = SignedStatement::sign("a test's", purpose, &said, &[&seed]).unwrap();
        desk.refuses_statement(&statement, Code::BundleMalformed);
        statement.purpose = Purpose::Revocation;
        desk.refuses_statement(&statement, Code::SignatureInvalid);
    }
    // A whole rotation as an advisory, and a whole advisory as a rotation.
    let next = desk.key("next", &[publishing("org.guild.kernels")]);
    let rotation = RotationBody {
        schema: 1,
        from: desk.author.record.id,
        to: next.record.clone(),
        scopes: vec!["org.guild.kernels".parse().unwrap()],
        rights_left: vec![RightLeft::VerifyInstalled],
        issued_at: NOW_S,
    };
    let file = desk.bench.path().join("rotation.json");
    write_rotation(&file, &rotation, &seed, &next.seed()).unwrap();
    let bytes = std::fs::read(&file).unwrap();
    desk.bench
        .store_refuses(Code::BundleMalformed, || desk.take_bytes(&bytes));
    let mut statement: SignedStatement = serde_json::from_slice(&bytes).unwrap();
    statement.purpose = Purpose::Revocation;
    desk.refuses_statement(&statement, Code::SignatureInvalid);
    // Signed for this purpose by keys that mean it, its body is none all the same.
    let seeds = [&seed, &next.seed()];
    let rotation = SignedStatement::sign("a test's", Purpose::Revocation, &rotation, &seeds);
    desk.refuses_statement(&rotation.unwrap(), Code::BundleMalformed);
    let mut advisory =
        SignedStatement::sign("a test's", Purpose::Revocation, &said, &seeds).unwrap();
    for code in [Code::BundleMalformed, Code::SignatureInvalid] {
        std::fs::write(&file, advisory.encode("a test's").unwrap()).unwrap();
        desk.bench
            .store_refuses(code, || desk.bench.store.trust_rotate(&file, false));
        advisory.purpose = Purpose::KeyRotation;
    }
}

#[test]
fn every_signature_is_by_a_known_key_and_right() {
    let desk = Desk::new();
    let said = body(&[(&desk.author, Compromised)], &[(CPU, 2)]);
    let stranger = Publisher::new(desk.bench.path(), "stranger");
    let other = &desk.bench.publisher;
    let sign = |signers: &[&Publisher]| {
        let seeds: Vec<_> = signers.iter().map(|signer| signer.seed()).collect();
        let seeds: Vec<_> = seeds.iter().collect();
        SignedStatement::sign("a test's", Purpose::Revocation, &said, &seeds).unwrap()
    };
    desk.refuses_statement(&sign(&[&stranger]), Code::KeyUntrusted);
    let extra = sign(&[&desk.author, &stranger]);
    let refused = desk
        .bench
        .store_refuses(Code::KeyUntrusted, || desk.take_statement(&extra));
    let refused = refused.to_string();
    assert!(
        refused.contains(&stranger.record.id.to_string())
            && !refused.contains(&desk.author.record.id.to_string()),
        "{refused}"
    );
    // One wrong signature of two.
    for index in [0, 1] {
        let mut forged = sign(&[&desk.author, other]);
        let mut sig = *forged.signatures[index].sig.as_bytes();
        sig[7] ^= 1;
        forged.signatures[index].sig = Signature::from_bytes(sig);
        desk.refuses_statement(&forged, Code::SignatureInvalid);
    }
    // Another body under the same signature.
    let mut changed = sign(&[&desk.author]);
    let text = String::from_utf8(changed.body.0.clone()).unwrap();
    let text = text.replace("\"security_epoch\":2", "\"security_epoch\":9");
    changed.body = Base64Bytes(text.into_bytes());
    desk.refuses_statement(&changed, Code::SignatureInvalid);
    // The same signature twice, and none.
    let mut twice = sign(&[&desk.author]);
    twice.signatures.push(twice.signatures[0].clone());
    desk.refuses_statement(&twice, Code::BundleMalformed);
    twice.signatures.clear();
    desk.refuses_statement(&twice, Code::BundleMalformed);
    // It goes through whole, with a second signer that has no say of its own.
    let taken = desk.take_statement(&sign(&[&desk.author, other])).unwrap();
    assert_eq!(taken.signers.len(), 2);
}

/// So many withdrawals, in order.
fn keys(count: usize) -> Vec<WithdrawalLine> {
    let key = |n: usize| SecretSeed::from_bytes([n as u8; 32]).public_key();
    let lines = (0..count).map(|n| withdrawal(key(n).unwrap().id(), Superseded));
    let mut lines: Vec<_> = lines.collect();
    lines.sort_by_key(|line| line.key);
    lines
}

/// So many floors, in order.
fn floors(count: usize) -> Vec<FloorLine> {
    let lines = (0..count).map(|n| floor(&format!("org.guild.kernels.x{n:03}"), 1));
    lines.collect()
}

#[test]
fn as_many_lines_as_there_may_be() {
    let desk = Desk::new();
    let mut most = body(&[(&desk.author, Superseded)], &[]);
    most.withdrawals.extend(keys(ADVISORY_LIST_MAX - 1));
    most.withdrawals.sort_by_key(|line| line.key);
    most.floors = floors(ADVISORY_LIST_MAX);
    let taken = desk.take(&most, &[&desk.author]).unwrap();
    assert_eq!((taken.floors.len(), taken.unknown.len()), (128, 127));
}

#[test]
fn a_body_has_one_form_and_its_limits() {
    let desk = Desk::new();
    let seed = desk.author.seed();
    let path = desk.bench.path().join("unwritten.json");
    let good = body(&[(&desk.author, Superseded)], &[(CPU, 1), (OTHER, 1)]);
    let with = |change: &dyn Fn(&mut AdvisoryBody)| {
        let mut body = good.clone();
        change(&mut body);
        body
    };
    let bad = [
        ("schema", with(&|it| it.schema = 2)),
        (
            "says nothing",
            with(&|it| (it.withdrawals, it.floors) = (Vec::new(), Vec::new())),
        ),
        (
            "by key",
            with(&|it| {
                it.withdrawals
                    .push(withdrawal(desk.author.record.id, Compromised))
            }),
        ),
        (
            "by key",
            with(&|it| it.withdrawals = keys(2).into_iter().rev().collect()),
        ),
        ("by package", with(&|it| it.floors.swap(0, 1))),
        ("by package", with(&|it| it.floors.insert(0, floor(CPU, 2)))),
        ("floor is 0", with(&|it| it.floors[0].security_epoch = 0)),
        (
            "no reason",
            with(&|it| it.floors[1].reason = "".parse().unwrap()),
        ),
        (
            "no reason",
            with(&|it| it.withdrawals[0].reason = "".parse().unwrap()),
        ),
        (
            "longer than 128",
            with(&|it| it.withdrawals = keys(ADVISORY_LIST_MAX + 1)),
        ),
        (
            "longer than 128",
            with(&|it| it.floors = floors(ADVISORY_LIST_MAX + 1)),
        ),
    ];
    for (rule, body) in &bad {
        let written = write_advisory(&path, body, &[&seed]).unwrap_err();
        assert!(written.to_string().contains(rule), "{rule}: {written}");
        assert!(!path.exists(), "{rule}");
        let statement = SignedStatement::sign("a test's", Purpose::Revocation, body, &[&seed]);
        let refused = desk.bench.store_refuses(Code::BundleMalformed, || {
            desk.take_statement(&statement.unwrap())
        });
        assert!(refused.to_string().contains(rule), "{rule}: {refused}");
    }
}

#[test]
fn row_25_an_advisory_has_one_encoding() {
    let desk = Desk::new();
    let seed = desk.author.seed();
    let good = body(&[(&desk.author, Superseded)], &[(CPU, 1)]);
    let statement =
        SignedStatement::sign("a test's", Purpose::Revocation, &good, &[&seed]).unwrap();
    let text = String::from_utf8(statement.body.0.clone()).unwrap();
    for (from, to) in [
        ("\"schema\":1", "\"schema\": 1"),
        ("\"schema\":1,", "\"schema\":1,\"schema\":1,"),
        (
            "\"issued_at\":1800000000",
            "\"issued_at\":1800000000,\"more\":0",
        ),
        ("\"issued_at\":1800000000", "\"issued_at\":1.8e9"),
        ("\"superseded\"", "\"retired\""),
        ("\"superseded\"", "\"Superseded\""),
        ("stolen", "st\\u006flen"),
        ("stolen", "st\u{202e}olen"),
        (",\"reason\":\"a hole in 1.0\"", ""),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let entry = desk.author.sign(Purpose::Revocation, changed.as_bytes());
        let changed = SignedStatement {
            body: Base64Bytes(changed.into_bytes()),
            signatures: vec![entry],
            ..statement.clone()
        };
        desk.refuses_statement(&changed, Code::BundleMalformed);
    }
    // Around the body too.
    let bytes = statement.encode("a test's").unwrap();
    let file = String::from_utf8(bytes.clone()).unwrap();
    for changed in [
        format!(" {file}"),
        format!("{file}\n"),
        file.replace(":[{", ": [{"),
    ] {
        desk.bench.store_refuses(Code::BundleMalformed, || {
            desk.take_bytes(changed.as_bytes())
        });
    }
    for length in 0..bytes.len() - 1 {
        let trust = desk.bench.store.trust().unwrap();
        let cut = VerifiedAdvisory::decode(&bytes[..length], &trust);
        assert_eq!(cut.unwrap_err().code(), Code::BundleMalformed, "{length}");
    }
    // Larger than any: refused before it is looked into.
    let large = vec![b' '; STATEMENT_MAX_BYTES as usize + 1];
    desk.bench
        .store_refuses(Code::Usage, || desk.take_bytes(&large));
    let trust = TrustStore::empty().unwrap();
    let refused = VerifiedAdvisory::decode(&large, &trust).unwrap_err();
    assert!(refused.to_string().contains("64 KiB"), "{refused}");
    // And never written.
    let long: guild_package::text::PlainText = "x".repeat(1000).parse().unwrap();
    let mut much = good;
    much.floors = (0..100)
        .map(|n| FloorLine {
            reason: long.clone(),
            ..floor(&format!("org.guild.kernels.x{n:03}"), 1)
        })
        .collect();
    let path = desk.bench.path().join("unwritten.json");
    let refused = write_advisory(&path, &much, &[&seed]).unwrap_err();
    assert!(
        refused.to_string().contains("64 KiB") && !path.exists(),
        "{refused}"
    );
}

prop_compose! {
    fn any_body()(
        keys in prop::collection::btree_map(0_u8..200, (any::<bool>(), "[ -~]{1,40}"), 0..6),
        floors in prop::collection::btree_map("[a-z]{1,8}(\\.[a-z0-9]{1,8}){1,4}", (1_u64..1 << 53, "[ -~]{1,40}"), 1..6),
        issued_at in 0_u64..1 << 53,
    ) -> AdvisoryBody {
        let mut withdrawals: Vec<WithdrawalLine> = keys.into_iter().map(|(seed, (is_stolen, reason))| {
            let public = SecretSeed::from_bytes([seed; 32]).public_key().unwrap();
            WithdrawalLine {
                key: public.id(),
                status: if is_stolen { Compromised } else { Superseded },
                reason: reason.parse().unwrap(),
            }
        }).collect();
        withdrawals.sort_by_key(|line| line.key);
        let floors = floors.into_iter().filter(|(id, _)| !id.starts_with("builtin."));
        let floors = floors.map(|(package, (security_epoch, reason))| FloorLine {
            id: id(&package),
            security_epoch,
            reason: reason.parse().unwrap(),
        });
        AdvisoryBody { schema: 1, withdrawals, floors: floors.collect(), issued_at }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What is written is read, and no byte of it can be another one.
    #[test]
    fn what_is_written_is_read_and_every_byte_counts(
        body in any_body().prop_filter("it says something", |body| !body.floors.is_empty()),
        at in any::<prop::sample::Index>(),
        flip in 1_u8..=255,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let publisher = Publisher::new(folder.path(), "publisher");
        let trust = TrustStore::empty().unwrap();
        let trust = trust.with_key(&publisher.record, &grant(&[publishing("org")]), 1).unwrap();
        let path = folder.path().join("advisory.json");
        write_advisory(&path, &body, &[&publisher.seed()]).unwrap();
        let read = VerifiedAdvisory::read(&path, &trust).unwrap();
        prop_assert_eq!(read.body(), &body);
        prop_assert_eq!(read.signers(), &[publisher.record.id]);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        prop_assert!(VerifiedAdvisory::decode(&bytes, &trust).is_err(), "byte {}", at);
    }
}
