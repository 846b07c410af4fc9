//! Rows 13 and 19 to 33: the envelope and what a signature covers.

use guild_package::countersign::{Statement, countersign};
use guild_package::envelope::Envelope;
use guild_package::sign::{Purpose, Signature};
use guild_package::trust::{Policy, Right, Role};
use guild_package::{Code, Digest};

use crate::fixture::{Bench, NOW_S, Publisher, bundle, entries, grant};

/// A bench, and the parts of a good bundle.
struct Parts {
    bench: Bench,
    manifest: Vec<u8>,
    artifacts: Vec<(String, Vec<u8>)>,
    envelope: Vec<u8>,
}

impl Parts {
    fn new() -> Self {
        let bench = Bench::new();
        let bytes = bench.package("org.guild.kernels.cpu", "1.0.0");
        let mut parts = entries(&bytes);
        let manifest = parts.remove("manifest.json").unwrap();
        let envelope = parts.remove("signatures.json").unwrap();
        Self {
            bench,
            manifest,
            artifacts: parts.into_iter().collect(),
            envelope,
        }
    }

    fn with_envelope(&self, envelope: &[u8]) -> Vec<u8> {
        let artifacts: Vec<(&str, &[u8])> = self
            .artifacts
            .iter()
            .map(|(name, data)| (name.as_str(), data.as_slice()))
            .collect();
        bundle(&self.manifest, &artifacts, envelope)
    }

    fn text(&self) -> String {
        String::from_utf8(self.envelope.clone()).unwrap()
    }

    #[track_caller]
    fn refuses(&self, envelope: &str, code: Code) {
        self.bench
            .refuses(&self.with_envelope(envelope.as_bytes()), code);
    }
}

#[test]
fn rows_13_30_nothing_can_be_added_to_the_envelope() {
    let parts = Parts::new();
    let text = parts.text();
    assert!(
        parts
            .bench
            .verify(&parts.with_envelope(text.as_bytes()))
            .is_ok()
    );
    let key = parts
        .bench
        .publisher
        .record
        .public
        .as_bytes()
        .map(|byte| format!("{byte:02x}"))
        .concat();
    for envelope in [
        text.replacen('{', "{\"note\":\"x\",", 1),
        text.replacen(
            "{\"keyid\"",
            &format!("{{\"public_key\":\"{key}\",\"keyid\""),
            1,
        ),
        text.replacen("]}", &format!("],\"public_key\":\"{key}\"}}"), 1),
        text.replace(':', ": "),
        text.replace(',', ", "),
        format!("{text}\n"),
        format!(" {text}"),
        format!("{text}{text}"),
        text.replacen("\"schema\":1,", "", 1) + "",
        text.replacen("\"schema\":1", "\"schema\":2", 1),
        text.replacen("\"schema\":1", "\"schema\":1.0", 1),
        text.replacen("\"schema\":1", "\"schema\":1,\"schema\":1", 1),
        text.replacen("schema", "sch\\u0065ma", 1),
        text.replacen(",\"countersignatures\":[]", "", 1),
        text.replacen("\"countersignatures\":[]", "\"countersignatures\":null", 1),
    ] {
        parts.refuses(&envelope, Code::BundleMalformed);
    }
}

#[test]
fn row_13_signature_and_key_id_have_one_spelling() {
    let parts = Parts::new();
    let text = parts.text();
    let sig = text
        .split("\"sig\":\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    assert!(sig.ends_with("=="));
    let unpadded = sig.trim_end_matches('=');
    let last = unpadded.chars().last().unwrap();
    // The last digit carries four spare bits that a lax decoder drops.
    let spare = char::from(last as u8 + 1);
    for other in [
        unpadded.to_owned(),
        format!("{sig}="),
        format!("{}{spare}==", &unpadded[..unpadded.len() - 1]),
        sig.replace('+', "-").replace('/', "_") + " ",
        format!("{}\\n{}", &sig[..4], &sig[4..]),
        String::new(),
    ] {
        parts.refuses(&text.replace(&sig, &other), Code::BundleMalformed);
    }
    let id = parts.bench.publisher.record.id.to_string();
    for other in [
        id.to_uppercase(),
        id.replace("gk1-", ""),
        id.replace("gk1", "gk2"),
        format!("{id}0"),
    ] {
        parts.refuses(&text.replace(&id, &other), Code::BundleMalformed);
    }
}

#[test]
fn row_19_a_malleated_signature_is_refused() {
    let parts = Parts::new();
    let mut envelope = Envelope::decode(&parts.envelope).unwrap();
    let order = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut bytes = *envelope.signatures[0].sig.as_bytes();
    let mut carry = 0;
    for (byte, addend) in bytes[32..].iter_mut().zip(order) {
        let sum = u16::from(*byte) + addend + carry;
        *byte = sum as u8;
        carry = sum >> 8;
    }
    envelope.signatures[0].sig = Signature::from_bytes(bytes);
    let encoded = envelope.encode().unwrap();
    parts
        .bench
        .refuses(&parts.with_envelope(&encoded), Code::SignatureInvalid);
}

#[test]
fn row_20_one_key_counts_once() {
    let parts = Parts::new();
    let one = Envelope::decode(&parts.envelope).unwrap();
    let mut twice = one.clone();
    twice.signatures.push(one.signatures[0].clone());
    assert!(twice.encode().is_err());
    let bytes = serde_json::to_vec(&twice).unwrap();
    parts
        .bench
        .refuses(&parts.with_envelope(&bytes), Code::BundleMalformed);

    // Two signatures are wanted: one is not enough, two keys of one operator neither.
    let other = Publisher::new(parts.bench.path(), "other");
    let policy = |distinct_operators| Policy {
        prefix: "org.guild".parse().unwrap(),
        publish: 2,
        reviewer: 0,
        distinct_operators,
        strict_ambient: false,
        allow_ptx_jit: false,
    };
    let mut same_operator = other.record.clone();
    same_operator.operator = parts.bench.publisher.record.operator.clone();
    parts
        .bench
        .store
        .trust_add(&same_operator, &grant("org.guild"))
        .unwrap();
    parts
        .bench
        .force_trust(|body| body.policy = vec![policy(false)]);
    parts
        .bench
        .refuses(&parts.with_envelope(&parts.envelope), Code::KeyUntrusted);
    let both = vec![
        one.signatures[0].clone(),
        other.sign(Purpose::Release, &parts.manifest),
    ];
    let both = parts.with_envelope(&Envelope::new(both).encode().unwrap());
    assert!(parts.bench.verify(&both).is_ok());
    parts
        .bench
        .force_trust(|body| body.policy = vec![policy(true)]);
    parts.bench.refuses(&both, Code::KeyUntrusted);
}

#[test]
fn row_21_a_signature_for_another_purpose_is_refused() {
    let parts = Parts::new();
    for purpose in [
        Purpose::Countersign,
        Purpose::KeyRotation,
        Purpose::Revocation,
        Purpose::TrustRoot,
        Purpose::Checkpoint,
    ] {
        let signature = parts.bench.publisher.sign(purpose, &parts.manifest);
        let envelope = Envelope::new(vec![signature]).encode().unwrap();
        parts
            .bench
            .refuses(&parts.with_envelope(&envelope), Code::SignatureInvalid);
    }
}

#[test]
fn row_22_the_bundle_does_not_choose_the_algorithm() {
    let parts = Parts::new();
    for alg in ["none", "", "ed25519ph", "Ed25519", "hmac", "ml-dsa-44"] {
        let envelope = parts
            .text()
            .replace("\"alg\":\"ed25519\"", &format!("\"alg\":\"{alg}\""));
        parts.refuses(&envelope, Code::BundleMalformed);
    }
}

#[test]
fn row_23_a_key_id_is_no_authority() {
    let parts = Parts::new();
    let stranger = Publisher::new(parts.bench.path(), "stranger");
    // The stranger signs, and claims the trusted key's id.
    let mut forged = stranger.sign(Purpose::Release, &parts.manifest);
    forged.keyid = parts.bench.publisher.record.id;
    let forged = Envelope::new(vec![forged]).encode().unwrap();
    parts
        .bench
        .refuses(&parts.with_envelope(&forged), Code::SignatureInvalid);
    // The trusted key signed, and the envelope names the stranger.
    let mut renamed = parts
        .bench
        .publisher
        .sign(Purpose::Release, &parts.manifest);
    renamed.keyid = stranger.record.id;
    let renamed = Envelope::new(vec![renamed]).encode().unwrap();
    parts
        .bench
        .refuses(&parts.with_envelope(&renamed), Code::KeyUntrusted);
}

#[test]
fn row_26_missing_signatures_are_unsigned() {
    let parts = Parts::new();
    parts.refuses(
        r#"{"schema":1,"signatures":[],"countersignatures":[]}"#,
        Code::Unsigned,
    );
    for envelope in [
        "",
        "null",
        "[]",
        "{}",
        r#"{"schema":1,"signatures":null,"countersignatures":[]}"#,
    ] {
        parts.refuses(envelope, Code::BundleMalformed);
    }
}

#[test]
fn row_27_an_envelope_cut_at_any_byte_is_refused() {
    let parts = Parts::new();
    for length in 0..parts.envelope.len() {
        assert!(
            Envelope::decode(&parts.envelope[..length]).is_err(),
            "{length} bytes"
        );
    }
    let huge = format!("{}{}", " ".repeat(64 << 10), parts.text());
    parts.refuses(&huge, Code::BundleMalformed);
}

#[test]
fn row_28_a_bad_signature_by_a_trusted_key_is_not_passed_over() {
    let parts = Parts::new();
    let other = Publisher::new(parts.bench.path(), "other");
    parts
        .bench
        .store
        .trust_add(&other.record, &grant("org.guild"))
        .unwrap();
    let good = parts
        .bench
        .publisher
        .sign(Purpose::Release, &parts.manifest);
    let bad = other.sign(Purpose::Release, b"something else");
    let envelope = Envelope::new(vec![good, bad]).encode().unwrap();
    parts
        .bench
        .refuses(&parts.with_envelope(&envelope), Code::SignatureInvalid);
}

/// The reviewer's statement about one release, as the envelope would carry it.
fn reviewed(parts: &Parts, reviewer: &Publisher, change: impl FnOnce(&mut Statement)) -> Vec<u8> {
    let mut envelope = Envelope::decode(&parts.envelope).unwrap();
    let mut statement = Statement {
        manifest_sha256: Digest::of(&parts.manifest),
        over: vec![envelope.signatures[0].sig.digest()],
        role: Role::Reviewer,
        statement: "read and built".parse().unwrap(),
        issued_at: NOW_S - 10,
        expires_at: Some(NOW_S + 10),
    };
    change(&mut statement);
    envelope
        .countersignatures
        .push(countersign(&reviewer.seed(), &statement).unwrap());
    parts.with_envelope(&envelope.encode().unwrap())
}

#[test]
fn row_29_a_countersignature_is_about_one_release() {
    let parts = Parts::new();
    let reviewer = Publisher::new(parts.bench.path(), "reviewer");
    let mut rights = grant("org.guild");
    rights.scopes[0].rights = vec![Right::Countersign(Role::Reviewer)];
    parts
        .bench
        .store
        .trust_add(&reviewer.record, &rights)
        .unwrap();
    parts.bench.force_trust(|body| {
        body.policy = vec![Policy {
            prefix: "org.guild".parse().unwrap(),
            publish: 1,
            reviewer: 1,
            distinct_operators: false,
            strict_ambient: false,
            allow_ptx_jit: false,
        }];
    });
    parts
        .bench
        .refuses(&parts.with_envelope(&parts.envelope), Code::KeyUntrusted);
    assert!(
        parts
            .bench
            .verify(&reviewed(&parts, &reviewer, |_| {}))
            .is_ok()
    );
    let refuses = |change: fn(&mut Statement), code| {
        parts
            .bench
            .refuses(&reviewed(&parts, &reviewer, change), code);
    };
    refuses(
        |statement| statement.manifest_sha256 = Digest::of(b"other"),
        Code::BundleMalformed,
    );
    refuses(
        |statement| statement.over = vec![Digest::of(b"other")],
        Code::BundleMalformed,
    );
    refuses(|statement| statement.over.clear(), Code::BundleMalformed);
    refuses(
        |statement| statement.role = Role::Builder,
        Code::KeyUntrusted,
    );
    refuses(
        |statement| statement.expires_at = Some(NOW_S),
        Code::KeyUntrusted,
    );
    // The publisher has no right to review.
    let own = reviewed(&parts, &parts.bench.publisher, |_| {});
    parts.bench.refuses(&own, Code::KeyUntrusted);
    // Neither has a stranger.
    let stranger = Publisher::new(parts.bench.path(), "stranger");
    parts
        .bench
        .refuses(&reviewed(&parts, &stranger, |_| {}), Code::KeyUntrusted);
}

#[test]
fn row_33_the_signed_bytes_are_the_manifests_exactly() {
    let parts = Parts::new();
    type Change = fn(&[u8]) -> Vec<u8>;
    let changes: [Change; 4] = [
        |manifest| [manifest, b"\n"].concat(),
        |manifest| [b" ", manifest].concat(),
        |manifest| manifest[..manifest.len() - 1].to_vec(),
        |manifest| {
            String::from_utf8_lossy(manifest)
                .replace(",\"", ", \"")
                .into_bytes()
        },
    ];
    for change in changes {
        let manifest = change(&parts.manifest);
        let artifacts: Vec<(&str, &[u8])> = parts
            .artifacts
            .iter()
            .map(|(name, data)| (name.as_str(), data.as_slice()))
            .collect();
        let bytes = bundle(&manifest, &artifacts, &parts.envelope);
        parts.bench.refuses(&bytes, Code::SignatureInvalid);
    }
}
