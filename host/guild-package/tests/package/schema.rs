//! The JSON schemas describe exactly what the code writes: each full example is valid, uses every
//! property of its schema, and loses its validity for the schema exactly when it does for the code.

use std::collections::BTreeSet;

use guild_package::manifest::{
    Artifact, Dependency, Golden, Manifest, Operation, Provenance, PtxFacts, Role,
};
use guild_package::probe::GoldenResult;
use guild_package::store::generation::Generation;
use guild_package::trust::{Lineage, Policy, RightLeft, TrustBody, TrustedKey};
use guild_package::{Digest, Receipt, TrustStore};
use serde_json::Value;

use crate::fixture::{Bench, NOW_S, entries};

/// A reader of the schema words that the three files use.
struct Schema {
    root: Value,
    seen: BTreeSet<String>,
}

impl Schema {
    fn read(name: &str) -> Self {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas");
        let bytes = std::fs::read(format!("{folder}/{name}.v1.schema.json")).unwrap();
        Self {
            root: serde_json::from_slice(&bytes).unwrap(),
            seen: BTreeSet::new(),
        }
    }

    fn accepts(&mut self, value: &Value) -> bool {
        let root = self.root.clone();
        self.check(&root, "", value)
    }

    fn check(&mut self, schema: &Value, place: &str, value: &Value) -> bool {
        if let Some(reference) = schema["$ref"].as_str() {
            let target = self
                .root
                .pointer(reference.trim_start_matches('#'))
                .unwrap()
                .clone();
            return self.check(&target, place, value);
        }
        if let Some(options) = schema["anyOf"].as_array() {
            return options
                .iter()
                .any(|option| self.check(option, place, value));
        }
        let const_holds = schema.get("const").is_none_or(|constant| constant == value);
        let enum_holds = schema["enum"]
            .as_array()
            .is_none_or(|options| options.contains(value));
        let type_holds = match schema["type"].as_str() {
            Some("object") => value.is_object() && self.check_object(schema, place, value),
            Some("array") => self.check_array(schema, place, value),
            Some("string") => value.is_string(),
            Some("integer") => value.as_u64().is_some_and(|number| {
                let at_least = schema["minimum"].as_u64().unwrap_or(0);
                (at_least..=schema["maximum"].as_u64().unwrap_or(u64::MAX)).contains(&number)
            }),
            Some("boolean") => value.is_boolean(),
            Some("null") => value.is_null(),
            Some(other) => panic!("the schema has type {other}"),
            None => true,
        };
        const_holds && enum_holds && type_holds
    }

    fn check_array(&mut self, schema: &Value, place: &str, value: &Value) -> bool {
        let Some(items) = value.as_array() else {
            return false;
        };
        let at_least = schema["minItems"].as_u64().unwrap_or(0);
        let long_enough = items.len() as u64 >= at_least;
        long_enough
            && items
                .iter()
                .all(|item| self.check(&schema["items"], place, item))
    }

    fn check_object(&mut self, schema: &Value, place: &str, value: &Value) -> bool {
        let fields = value.as_object().unwrap();
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        if !required
            .iter()
            .all(|name| fields.contains_key(name.as_str().unwrap()))
        {
            return false;
        }
        fields
            .iter()
            .all(|(name, field)| match schema["properties"].get(name) {
                Some(property) => {
                    let place = format!("{place}/{name}");
                    self.seen.insert(place.clone());
                    self.check(property, &place, field)
                }
                None if schema["additionalProperties"].is_object() => self.check(
                    &schema["additionalProperties"],
                    &format!("{place}/*"),
                    field,
                ),
                None => false,
            })
    }

    fn properties(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        collect(&self.root, "", &mut found);
        found
    }
}

fn collect(schema: &Value, place: &str, found: &mut BTreeSet<String>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{place}/{name}");
        found.insert(place.clone());
        collect(property, &place, found);
    }
    for (word, suffix) in [("items", ""), ("additionalProperties", "/*")] {
        if schema[word].is_object() {
            collect(&schema[word], &format!("{place}{suffix}"), found);
        }
    }
}

/// Every change of one place: taken out, set to null, to an object, to a text, and with a key added.
fn variants(tree: &Value) -> Vec<Value> {
    let mut places = vec![String::new()];
    let mut variants = Vec::new();
    while let Some(place) = places.pop() {
        match tree.pointer(&place).unwrap() {
            Value::Object(fields) => {
                let mut grown = tree.clone();
                grown.pointer_mut(&place).unwrap()["unknown"] = Value::Null;
                variants.push(grown);
                for name in fields.keys() {
                    let mut shrunk = tree.clone();
                    let object = shrunk.pointer_mut(&place).unwrap().as_object_mut().unwrap();
                    object.shift_remove(name);
                    variants.push(shrunk);
                    places.push(format!(
                        "{place}/{}",
                        name.replace('~', "~0").replace('/', "~1")
                    ));
                }
            }
            Value::Array(items) => {
                places.extend((0..items.len()).map(|index| format!("{place}/{index}")))
            }
            _ => {}
        }
        for other in [
            Value::Null,
            Value::Bool(true),
            serde_json::json!({"a": 1}),
            serde_json::json!(1.5),
        ] {
            let mut changed = tree.clone();
            *changed.pointer_mut(&place).unwrap() = other;
            variants.push(changed);
        }
    }
    variants
}

/// `decode` is the code's reader.
#[track_caller]
fn check(name: &str, example: &Value, decode: impl Fn(&[u8]) -> bool) {
    let mut schema = Schema::read(name);
    assert!(
        decode(example.to_string().as_bytes()),
        "{name}: the example is not valid for the code"
    );
    assert!(
        schema.accepts(example),
        "{name}: the example is not valid for the schema"
    );
    let unused: Vec<_> = schema
        .properties()
        .difference(&schema.seen)
        .cloned()
        .collect();
    assert!(
        unused.is_empty(),
        "{name}: the code never writes {unused:?}"
    );
    let mut refused = 0;
    for variant in variants(example) {
        let by_schema = !schema.accepts(&variant);
        refused += usize::from(by_schema);
        let by_code = !decode(variant.to_string().as_bytes());
        // The code has rules between fields that a schema has no words for, never the other way round.
        assert!(
            by_code || !by_schema,
            "{name}: only the schema refuses {variant}"
        );
    }
    assert!(
        refused > 100,
        "{name}: only {refused} variants were refused"
    );
}

fn full_manifest(bench: &Bench) -> Manifest {
    let parts = entries(&bench.package("org.guild.kernels.cpu", "1.0.0"));
    let mut manifest = Manifest::decode(&parts["manifest.json"]).unwrap();
    let text = |text: &str| Some(text.parse().unwrap());
    let vectors = Artifact {
        path: "a/vectors.bin".parse().unwrap(),
        sha256: Digest::of(b"vectors"),
        size: 7,
        role: Role::Golden,
        target: None,
        elf: None,
        ptx: None,
    };
    let ptx = PtxFacts {
        target: "sm_61".parse().unwrap(),
        entries: vec!["k".parse().unwrap()],
    };
    let code = Artifact {
        path: "b/k.ptx".parse().unwrap(),
        role: Role::Ptx,
        ptx: Some(ptx),
        ..vectors.clone()
    };
    manifest.artifacts.splice(0..0, [vectors, code]);
    manifest.expires_at = Some(NOW_S * 2);
    (manifest.summary, manifest.license) = (text("a summary"), text("MIT"));
    manifest.abi.table_hash = Some(Digest::of(b"tables"));
    manifest.targets[0].cuda_min = Some(122);
    manifest.targets[0].sm = vec![61];
    let op = manifest.provides[0].op.clone();
    manifest.provides[0] = Operation {
        contract_hash: Some(Digest::of(b"contract")),
        ..manifest.provides[0].clone()
    };
    manifest.golden = vec![Golden {
        op,
        vector_sha256: Digest::of(b"vectors"),
        tolerance: 0,
    }];
    manifest.runners = vec!["guild.runner.x.v1".parse().unwrap()];
    manifest.devices = vec!["cuda".parse().unwrap()];
    manifest.depends = vec![Dependency {
        id: "org.guild.other".parse().unwrap(),
        req: "^1.2.0".parse().unwrap(),
        min_epoch: 0,
    }];
    manifest.replaces = Some("org.guild.old".parse().unwrap());
    manifest.provenance = Some(Provenance {
        source_commit: "0123456789".parse().unwrap(),
        builder: "a machine".parse().unwrap(),
        materials: vec![Digest::of(b"source")],
    });
    manifest
}

#[test]
fn manifest_schema_is_what_the_code_reads_and_writes() {
    let manifest = full_manifest(&Bench::new());
    let tree = serde_json::from_slice(&manifest.encode().unwrap()).unwrap();
    check("manifest", &tree, |bytes| Manifest::decode(bytes).is_ok());
}

#[test]
fn trust_schema_is_what_the_code_reads_and_writes() {
    let bench = Bench::new();
    let mut body: TrustBody = bench.store.trust().unwrap().body().clone();
    let key = &mut body.keys[0];
    (key.not_before, key.not_after) = (Some(1), Some(2));
    key.reason = Some("none".parse().unwrap());
    key.status = guild_package::trust::KeyStatus::Retired;
    let successor = crate::fixture::Publisher::new(bench.path(), "successor").record;
    body.lineage = vec![Lineage {
        from: key.id,
        to: successor.id,
        body_sha256: Digest::of(b"body"),
        rights_left: vec![RightLeft::VerifyInstalled],
    }];
    body.keys.push(TrustedKey {
        id: successor.id,
        public: successor.public,
        status: guild_package::trust::KeyStatus::Active,
        ..body.keys[0].clone()
    });
    body.keys.sort_by_key(|key| key.id);
    body.policy = vec![Policy {
        prefix: "org.guild".parse().unwrap(),
        publish: 1,
        reviewer: 0,
        distinct_operators: true,
        strict_ambient: true,
        allow_ptx_jit: false,
    }];
    let tree = serde_json::to_value(&body).unwrap();
    check("trust", &tree, |bytes| TrustStore::decode(bytes).is_ok());
}

#[test]
fn receipt_schema_is_what_the_code_reads_and_writes() {
    let bench = Bench::new();
    bench
        .install(&bench.package("org.guild.kernels.cpu", "1.0.0"))
        .unwrap();
    let mut receipt = bench.store.enabled().unwrap()[0].receipt().unwrap();
    receipt.golden = vec![GoldenResult {
        op: "org.guild.x@1".parse().unwrap(),
        vector_sha256: Digest::of(b"vectors"),
        tolerance: 1_000,
        reproduced_by: vec!["cpu.x.portable".parse().unwrap()],
        declined_by: vec!["cpu.x.avx2".parse().unwrap()],
    }];
    receipt.ambient = vec!["LD_PRELOAD".parse().unwrap()];
    let elf = receipt.preflight.elf.as_mut().unwrap();
    elf.soname = Some("libcpu.so".parse().unwrap());
    elf.note_hash = Some(Digest::of(b"note"));
    let tree = serde_json::from_slice(&receipt.encode().unwrap()).unwrap();
    check("receipt", &tree, |bytes| Receipt::decode(bytes).is_ok());
}

#[test]
fn generation_schema_is_what_the_code_reads_and_writes() {
    let bench = Bench::new();
    bench
        .install(&bench.package("org.guild.kernels.cpu", "1.0.0"))
        .unwrap();
    let mut generation = bench.store.generation().unwrap();
    generation
        .floors
        .insert("org.guild.kernels.cpu".parse().unwrap(), 1);
    generation.held.insert(
        "org.guild.kernels.cpu".parse().unwrap(),
        "1.0.1".parse().unwrap(),
    );
    let tree = serde_json::to_value(&generation).unwrap();
    check("generation", &tree, |bytes| {
        Generation::decode(bytes).is_ok()
    });
}
