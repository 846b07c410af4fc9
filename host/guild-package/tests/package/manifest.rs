//! Rows 25, 31 and 39: the signed text. Every case here carries a good signature, so the refusal is the
//! manifest's own.

use std::sync::LazyLock;

use guild_package::name::AbiVersion;
use guild_package::{Code, Manifest};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixture::{Bench, DOC, PLUGIN, entries};

struct Signed {
    bench: Bench,
    tree: Value,
    plugin: Vec<u8>,
    doc: Vec<u8>,
}

impl Signed {
    fn new() -> Self {
        let bench = Bench::new();
        let mut parts = entries(&bench.package("org.guild.kernels.cpu", "1.0.0"));
        let tree = serde_json::from_slice(&parts["manifest.json"]).unwrap();
        let (plugin, doc) = (parts.remove(PLUGIN).unwrap(), parts.remove(DOC).unwrap());
        Self {
            bench,
            tree,
            plugin,
            doc,
        }
    }

    fn bundle(&self, manifest: &[u8]) -> Vec<u8> {
        self.bench
            .craft(manifest, &[(DOC, &self.doc), (PLUGIN, &self.plugin)])
    }

    #[track_caller]
    fn refuses(&self, pointer: &str, value: Value) {
        let mut tree = self.tree.clone();
        *tree
            .pointer_mut(pointer)
            .unwrap_or_else(|| panic!("no {pointer}")) = value;
        self.refuses_text(&serde_json::to_string(&tree).unwrap());
    }

    #[track_caller]
    fn refuses_text(&self, text: &str) {
        self.bench
            .refuses(&self.bundle(text.as_bytes()), Code::BundleMalformed);
    }
}

#[test]
fn spacing_is_free_because_the_signed_bytes_are_kept() {
    let signed = Signed::new();
    let pretty = serde_json::to_vec_pretty(&signed.tree).unwrap();
    assert!(signed.bench.verify(&signed.bundle(&pretty)).is_ok());
}

#[test]
fn row_25_each_field_has_one_type() {
    let signed = Signed::new();
    for (pointer, value) in [
        ("/schema", json!(2)),
        ("/schema", json!("1")),
        ("/min_scheme", json!(0)),
        ("/min_scheme", json!(2)),
        ("/kind", json!("GKernel")),
        ("/kind", json!({"gkernel": null})),
        ("/id", json!("org")),
        ("/id", json!("Org.guild.cpu")),
        ("/id", json!("builtin.cpu")),
        ("/version", json!("1.0")),
        ("/version", json!("1.0.0+build")),
        ("/security_epoch", json!(-1)),
        ("/security_epoch", json!(1.0)),
        ("/security_epoch", json!(9_007_199_254_740_992_u64)),
        ("/security_epoch", json!(null)),
        ("/publisher", json!("a\u{202e}b")),
        ("/publisher", json!("a\u{1b}[2J")),
        ("/publisher", json!("x".repeat(1025))),
        ("/abi", json!(["1.0", "1.0"])),
        ("/abi/host_min", json!("1")),
        ("/abi/host_min", json!("1.1")),
        ("/abi/host_max", json!("0.9")),
        ("/targets", json!([])),
        ("/targets", json!({})),
        ("/targets/0/sm", json!(["61"])),
        ("/provides/0/op", json!("guild.core.moe_experts")),
        ("/provides/0/dtype", json!("f32")),
        ("/runners", json!(["guild.runner.x@1"])),
        ("/runners", json!(["guild.runner.x", "guild.runner.x"])),
        (
            "/golden",
            json!([{"op": "guild.core.moe_experts@1", "vector_sha256": "0".repeat(64), "tolerance": 0}]),
        ),
        (
            "/depends",
            json!([{"id": "org.guild.kernels.cpu", "req": "^1.0.0", "min_epoch": 0}]),
        ),
        (
            "/depends",
            json!([{"id": "org.guild.other", "req": "1", "min_epoch": 0}]),
        ),
    ] {
        signed.refuses(pointer, value);
    }
}

#[test]
fn row_25_unknown_missing_and_doubled_fields_are_refused() {
    let signed = Signed::new();
    let text = signed.tree.to_string();
    signed.refuses_text(&text.replacen('{', "{\"extra\":1,", 1));
    signed.refuses_text(&text.replacen("{\"op\"", "{\"priority\":1,\"op\"", 1));
    signed.refuses_text(&text.replacen("\"schema\":1", "\"schema\":1,\"schema\":1", 1));
    signed.refuses_text(&text.replacen("\"id\":", "\"id\":\"org.evil.cpu\",\"id\":", 1));
    signed.refuses_text(&format!("{text}{text}"));
    signed.refuses_text(&format!("\u{feff}{text}"));
    for (field, value) in signed.tree.as_object().unwrap() {
        let mut tree = signed.tree.clone();
        tree.as_object_mut().unwrap().shift_remove(field);
        signed.refuses_text(&tree.to_string());
        let mut tree = signed.tree.clone();
        tree[field] = Value::Null;
        signed.refuses_text(&tree.to_string());
        assert!(!value.is_null());
    }
}

#[test]
fn row_31_each_artifact_carries_size_and_digest() {
    let signed = Signed::new();
    for index in 0..2 {
        for field in ["sha256", "size", "path", "role"] {
            let mut tree = signed.tree.clone();
            tree["artifacts"][index]
                .as_object_mut()
                .unwrap()
                .shift_remove(field);
            signed.refuses_text(&tree.to_string());
        }
    }
    let digest = signed.tree["artifacts"][0]["sha256"]
        .as_str()
        .unwrap()
        .to_owned();
    for other in [
        digest.to_uppercase(),
        digest[1..].to_owned(),
        format!("sha256:{digest}"),
        String::new(),
    ] {
        signed.refuses("/artifacts/0/sha256", json!(other));
    }
    let mut tree = signed.tree.clone();
    tree["artifacts"][0]["sha256"] = json!("0".repeat(64));
    signed.bench.refuses(
        &signed.bundle(tree.to_string().as_bytes()),
        Code::DigestMismatch,
    );
    let mut tree = signed.tree.clone();
    tree["artifacts"][0]["size"] = json!(1);
    signed.bench.refuses(
        &signed.bundle(tree.to_string().as_bytes()),
        Code::DigestMismatch,
    );
}

#[test]
fn artifacts_follow_the_rules_of_their_role() {
    let signed = Signed::new();
    signed.refuses("/artifacts/1/target", json!(1));
    signed.refuses("/artifacts/1/role", json!("doc"));
    signed.refuses("/artifacts/0/role", json!("plugin"));
    signed.refuses("/artifacts/0/role", json!("ptx"));
    signed.refuses("/artifacts/0/path", json!("manifest.json"));
    signed.refuses("/artifacts/0/path", json!("../readme.txt"));
    let mut tree = signed.tree.clone();
    tree["artifacts"].as_array_mut().unwrap().reverse();
    signed.refuses_text(&tree.to_string());
    let mut tree = signed.tree.clone();
    let target = tree["targets"][0].clone();
    tree["targets"].as_array_mut().unwrap().push(target);
    signed.refuses_text(&tree.to_string());
}

#[test]
fn row_16_a_deep_manifest_is_refused() {
    let signed = Signed::new();
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    signed.refuses_text(&deep);
    signed.refuses(
        "/targets",
        serde_json::from_str(&format!("{}{}", "[".repeat(20), "]".repeat(20))).unwrap(),
    );
}

#[test]
fn other_machines_packages_are_incompatible() {
    let signed = Signed::new();
    let mut tree = signed.tree.clone();
    tree["targets"][0]["arch"] = json!("riscv64");
    let bytes = signed.bundle(tree.to_string().as_bytes());
    assert!(signed.bench.verify(&bytes).is_ok());
    signed
        .bench
        .install_refuses(&bytes, &crate::fixture::options(), Code::Incompatible);
}

static BASE: LazyLock<Manifest> = LazyLock::new(|| {
    let bench = Bench::new();
    Manifest::decode(&entries(&bench.package("org.guild.kernels.cpu", "1.0.0"))["manifest.json"])
        .unwrap()
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_encoded_is_decoded(
        labels in prop::collection::vec("[a-z0-9][a-z0-9_-]{0,8}", 2..6),
        version in (0_u64..1000, 0_u64..1000, 0_u64..1000, prop::option::of("[a-z]{1,5}\\.[1-9]")),
        epoch in 0_u64..(1 << 53),
        text in prop::option::of("\\PC{0,40}"),
        abi in (0_u16..9, 0_u16..9, 0_u16..9),
        expires in prop::option::of(1_u64..1_000_000),
        runners in prop::collection::btree_set("[a-z][a-z0-9_]{0,6}\\.[a-z0-9][a-z0-9_]{0,5}", 0..4),
    ) {
        let mut manifest = BASE.clone();
        manifest.id = labels.join(".").parse().unwrap_or(manifest.id);
        let (major, minor, patch, pre) = version;
        let pre = pre.map(|pre| format!("-{pre}")).unwrap_or_default();
        manifest.version = format!("{major}.{minor}.{patch}{pre}").parse().unwrap();
        manifest.security_epoch = epoch;
        manifest.summary = text.and_then(|text| text.parse().ok());
        manifest.abi.host_min = AbiVersion { major: abi.0, minor: abi.1 };
        manifest.abi.host_max = AbiVersion { major: abi.0, minor: abi.1 + abi.2 };
        manifest.expires_at = expires.map(|expires| manifest.issued_at + expires);
        manifest.runners = runners.iter().map(|runner| runner.parse().unwrap()).collect();
        let bytes = manifest.encode().unwrap();
        prop_assert_eq!(Manifest::decode(&bytes).unwrap(), manifest);
    }
}
