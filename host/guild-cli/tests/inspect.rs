//! `guild inspect` against gguf-py's reading of the same file, and on models that guild can't run.

mod program;

use guild_hostile::cases::named;
use guild_hostile::tiny;
use guild_hostile::writer::{text, u32};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/models")
}

fn guild(path: &Path, more: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = program::command(home.path());
    command
        .arg("inspect")
        .arg(path)
        .args(more)
        .output()
        .unwrap()
}

fn inspected(path: &Path) -> Value {
    let output = guild(path, &["--json"]);
    assert_eq!(output.status.code(), Some(0));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn listed(path: &Path, more: &[&str]) -> String {
    let output = guild(path, more);
    assert_eq!(output.status.code(), Some(0));
    String::from_utf8(output.stdout).unwrap()
}

/// A file in a folder that lives as long as the first value.
fn written(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// gguf-py's listing of the same model.
fn listing() -> Value {
    let path = models().join("qwen35moe-tiny-Q4_K_M.listing.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

#[test]
fn sizes_and_mix_are_gguf_pys() {
    let answer = inspected(&models().join("qwen35moe-tiny-Q4_K_M.gguf"));
    let listing = listing();
    let tensors = listing["tensors"].as_array().unwrap();
    let elements = |tensor: &Value| -> u64 {
        let axes = tensor["shape"].as_array().unwrap();
        axes.iter().map(number).product()
    };
    let all: u64 = tensors.iter().map(elements).sum();
    assert_eq!(number(&answer["parameters"]), all);
    assert_eq!(number(&answer["tensor_count"]), tensors.len() as u64);
    let bytes: u64 = tensors
        .iter()
        .map(|tensor| number(&tensor["byte_len"]))
        .sum();
    assert_eq!(number(&answer["tensor_bytes"]), bytes);
    let bits = bytes as f64 * 8.0 / all as f64;
    assert_eq!(answer["bits_per_weight"], bits);
    let mut counted = 0;
    for row in answer["quantisation_mix"].as_array().unwrap() {
        let of_type = || {
            tensors
                .iter()
                .filter(|tensor| tensor["type"] == row["type"])
        };
        assert_eq!(number(&row["tensors"]), of_type().count() as u64);
        let bytes: u64 = of_type().map(|tensor| number(&tensor["byte_len"])).sum();
        assert_eq!(number(&row["bytes"]), bytes);
        assert_eq!(
            number(&row["elements"]),
            of_type().map(elements).sum::<u64>()
        );
        counted += number(&row["tensors"]);
    }
    assert_eq!(counted, tensors.len() as u64);
    for (found, wanted) in answer["tensors"].as_array().unwrap().iter().zip(tensors) {
        for (ours, theirs) in [
            ("name", "name"),
            ("type", "type"),
            ("shape", "shape"),
            ("offset_bytes", "offset"),
            ("size_bytes", "byte_len"),
        ] {
            assert_eq!(found[ours], wanted[theirs]);
        }
    }
}

#[test]
fn metadata_is_gguf_pys() {
    let answer = inspected(&models().join("qwen35moe-tiny-Q4_K_M.gguf"));
    let metadata = listing()["metadata"].clone();
    let metadata = metadata.as_object().unwrap();
    assert_eq!(number(&answer["metadata_count"]), metadata.len() as u64);
    assert_eq!(answer["architecture"], metadata["general.architecture"]);
    for (key, wanted) in metadata {
        let found = &answer["metadata"][key];
        match wanted.as_f64().filter(|_| wanted.is_f64()) {
            // gguf-py widens an f32; guild writes its shortest digits.
            Some(wide) => assert_eq!(found.as_f64().unwrap() as f32, wide as f32, "{key}"),
            None if wanted.is_array() => assert!(found["length"].is_u64(), "{key}"),
            None => assert_eq!(found, wanted, "{key}"),
        }
        if let Some(key) = key.strip_prefix("qwen35moe.") {
            assert_eq!(&answer["hyperparameters"][key], found);
        }
    }
    let tokens = &metadata["tokenizer.ggml.tokens"][0];
    assert_eq!(&answer["tokenizer"]["tokens"], tokens);
    assert_eq!(answer["tokenizer"]["usable"], true);
    let kinds = answer["tokenizer"]["kinds"].as_object().unwrap();
    assert_eq!(kinds.values().map(number).sum::<u64>(), number(tokens));
}

#[test]
fn the_summary_names_what_the_model_is() {
    let (_folder, path) = written(&tiny::qwen35moe().bytes());
    let summary = listed(&path, &[]);
    for part in [
        "GGUF version 3, alignment 32 bytes",
        "qwen35moe",
        "F32",
        "100.0 %",
        "attention.head_count = 2",
        "260 tokens, 2 merges",
        "kinds: control 2, normal 258",
        "eos = 259 \"<|im_end|>\"",
        "the tokenizer can be used",
        "qwen35moe (`guild plan` says whether a runner knows it)",
        "25 bytes",
        "draft layers     none",
    ] {
        assert!(summary.contains(part), "{part:?} isn't in\n{summary}");
    }
    assert!(!summary.contains("blk.0.ssm_a"), "only where asked for");
    assert!(listed(&path, &["--tensors"]).contains("blk.0.ssm_a F32 [2] 8 bytes at "));
    let metadata = listed(&path, &["--metadata"]);
    assert!(metadata.contains("tokenizer.ggml.merges (array) = [\"h e\", \"he l\"]"));
    assert!(
        metadata.contains("… (260 in all)"),
        "a long array is shortened"
    );
    let all = listed(&path, &["--all"]);
    assert!(all.contains("blk.0.ssm_a") && all.contains("tokenizer.ggml.merges"));
}

#[test]
fn a_template_comes_out_as_it_is() {
    let template = "{%- if x %}\u{1b}[0m\r\n{%- endif %}";
    let mut model = tiny::qwen35moe();
    model
        .set("tokenizer.chat_template", text(template))
        .set("tokenizer.chat_template.tool_use", text("tools"));
    let (_folder, path) = written(&model.bytes());
    assert_eq!(listed(&path, &["--template"]), template);
    assert_eq!(listed(&path, &["--template=tool_use"]), "tools");
    let missing = guild(&path, &["--template=nonesuch"]);
    assert_eq!(missing.status.code(), Some(33));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("nonesuch"));
    let answer = inspected(&path);
    assert_eq!(
        number(&answer["chat_template"]["bytes"]),
        template.len() as u64
    );
    assert_eq!(answer["chat_template"]["named"][0]["name"], "tool_use");
    let output = guild(&path, &["--template", "--json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["template"]["text"], template);
}

#[test]
fn what_guild_cannot_run_is_shown_like_the_rest() {
    let mut model = tiny::qwen35moe();
    model
        .set("general.architecture", text("nonesuch"))
        .set("nonesuch.nextn_predict_layers", u32(3))
        .set("tokenizer.ggml.model", text("t5"))
        .set("tokenizer.ggml.eos_token_id", u32(9999));
    model.find("output.weight").ggml_type = 99;
    model.find("blk.1.attn_k.weight").ggml_type = 9;
    let (_folder, path) = written(&model.bytes());
    let answer = inspected(&path);
    assert_eq!(answer["architecture"], "nonesuch");
    assert_eq!(answer["draft_layers"], 3);
    assert_eq!(answer["tokenizer"]["usable"], false);
    let reason = answer["tokenizer"]["reason"].as_str().unwrap();
    assert!(reason.contains("t5"), "{reason}");
    assert_eq!(answer["tokenizer"]["special_tokens"][0]["id"], 9999);
    assert_eq!(
        answer["tokenizer"]["special_tokens"][0]["text"],
        Value::Null
    );
    let unsupported = answer["unsupported_types"].as_array().unwrap();
    assert!(unsupported.contains(&"type 99".into()) && unsupported.contains(&"Q8_1".into()));
    let row = |name: &str| {
        let rows = answer["quantisation_mix"].as_array().unwrap();
        rows.iter().find(|row| row["type"] == name).unwrap().clone()
    };
    assert_eq!(row("type 99")["bytes"], Value::Null);
    assert_eq!(row("Q8_1")["supported"], false);
    assert_eq!(row("F32")["supported"], true);
    let summary = listed(&path, &["--all"]);
    for part in ["nonesuch", "type 99", "can't be used", "output_norm.weight"] {
        assert!(summary.contains(part), "{part:?} isn't in\n{summary}");
    }
}

#[test]
fn shards_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in named(&tiny::qwen35moe().split(3)) {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let answer = inspected(folder.path());
    let shards = answer["shards"].as_array().unwrap();
    assert_eq!(shards.len(), 3);
    let sum = |key: &str| shards.iter().map(|shard| number(&shard[key])).sum::<u64>();
    assert_eq!(sum("file_bytes"), number(&answer["file_bytes"]));
    assert_eq!(sum("tensors"), number(&answer["tensor_count"]));
    assert_eq!(answer["tensors"][0]["shard"], 0);
    let last = answer["tensors"].as_array().unwrap().last().unwrap();
    assert_eq!(last["shard"], 2);
    assert!(listed(folder.path(), &["--tensors"]).contains("of shard 3"));
}
