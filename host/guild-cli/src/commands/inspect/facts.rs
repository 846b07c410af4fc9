//! What a model's metadata and tensor directory come to. No tensor data is read.

use super::tokenizer::{self, TokenizerFacts};
use super::value;
use guild_model::chat_template::metadata_key;
use guild_model::{FromValue, GgufFile, Metadata, ModelSource, Shard, TensorInfo};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The summary of a model, as it stands in JSON.
#[derive(Debug, Serialize)]
pub struct Facts {
    pub format: &'static str,
    pub format_version: u32,
    pub alignment_bytes: u64,
    pub file_bytes: u64,
    pub shards: Vec<ShardFacts>,
    pub architecture: Option<String>,
    pub name: Option<String>,
    /// Elements of all tensors; saturates.
    pub parameters: u64,
    pub tensor_count: usize,
    pub metadata_count: usize,
    pub tensor_bytes: u64,
    /// Over the tensors whose size is known; `None` without one.
    pub bits_per_weight: Option<f64>,
    pub quantisation_mix: Vec<TypeFacts>,
    /// Names of the types in the model that guild has no format for.
    pub unsupported_types: Vec<String>,
    /// The architecture's own metadata, keys without their prefix.
    pub hyperparameters: Map<String, Value>,
    /// Blocks for multi-token prediction; `None` where the metadata says nothing readable.
    pub draft_layers: Option<u64>,
    pub tokenizer: Option<TokenizerFacts>,
    pub chat_template: Templates,
}

/// One of the model's files.
#[derive(Debug, Serialize)]
pub struct ShardFacts {
    pub file: PathBuf,
    pub file_bytes: u64,
    pub format_version: u32,
    pub alignment_bytes: u64,
    pub tensors: usize,
}

/// The tensors of one type.
#[derive(Debug, Serialize)]
pub struct TypeFacts {
    #[serde(rename = "type")]
    pub name: String,
    #[serde(rename = "type_number")]
    pub number: u32,
    pub tensors: u64,
    pub elements: u64,
    /// `None` where the type's size is unknown.
    pub bytes: Option<u64>,
    /// Part of all known bytes, 0 to 1.
    pub share: Option<f64>,
    /// Whether guild has a format for it.
    pub supported: bool,
}

/// The chat templates in the metadata.
#[derive(Debug, Serialize)]
pub struct Templates {
    pub present: bool,
    /// Length of the default template.
    pub bytes: Option<usize>,
    pub named: Vec<NamedTemplate>,
}

/// A template beside the default one.
#[derive(Debug, Serialize)]
pub struct NamedTemplate {
    pub name: String,
    pub bytes: usize,
}

impl Facts {
    /// Gathers everything. Metadata of an unexpected type counts as absent: it is listed with the metadata.
    pub fn of(file: &GgufFile) -> Facts {
        let metadata = file.metadata();
        let mix = mix(file.tensors());
        let architecture = read::<&str>(metadata, "general.architecture");
        let known = mix
            .iter()
            .filter_map(|row| Some((row.elements, row.bytes?)));
        let (known_elements, tensor_bytes) = known.fold((0, 0), |(elements, bytes), row| {
            (add(elements, row.0), add(bytes, row.1))
        });
        let bits = |elements: u64| tensor_bytes as f64 * 8.0 / elements as f64;
        let unsupported = mix.iter().filter(|row| !row.supported);
        Facts {
            format: "gguf",
            format_version: file.gguf().version,
            alignment_bytes: file.gguf().alignment,
            file_bytes: file.file_bytes(),
            shards: file.shards().iter().map(shard).collect(),
            architecture: architecture.map(str::to_owned),
            name: read::<&str>(metadata, "general.name").map(str::to_owned),
            parameters: mix.iter().fold(0, |sum, row| add(sum, row.elements)),
            tensor_count: file.tensors().len(),
            metadata_count: metadata.len(),
            tensor_bytes,
            bits_per_weight: (known_elements > 0).then(|| bits(known_elements)),
            unsupported_types: unsupported.map(|row| row.name.clone()).collect(),
            quantisation_mix: mix,
            hyperparameters: of_architecture(metadata, architecture)
                .map(|(key, entry)| (key.to_owned(), value::json(&entry)))
                .collect(),
            draft_layers: draft_layers(metadata, architecture),
            tokenizer: tokenizer::describe(metadata),
            chat_template: templates(metadata),
        }
    }
}

/// The value of a key, where it is there and of this type.
pub fn read<'a, T: FromValue<'a>>(metadata: &'a Metadata, key: &str) -> Option<T> {
    metadata.get(key).ok().flatten()
}

/// One tensor as JSON.
pub fn tensor(tensor: &TensorInfo) -> Value {
    json!({
        "name": tensor.name,
        "type": tensor.type_name,
        "type_number": tensor.ggml_type,
        "shape": tensor.shape,
        "shard": tensor.shard,
        "offset_bytes": tensor.offset,
        "size_bytes": tensor.byte_len,
    })
}

/// A type's name for people: ggml's, or its number where ggml has none.
pub fn type_name(tensor: &TensorInfo) -> String {
    match tensor.type_name {
        "unknown" => format!("type {}", tensor.ggml_type),
        known => known.to_owned(),
    }
}

fn shard(shard: &Shard) -> ShardFacts {
    ShardFacts {
        file: shard.path().to_owned(),
        file_bytes: shard.file_bytes(),
        format_version: shard.version(),
        alignment_bytes: shard.alignment(),
        tensors: shard.tensor_count(),
    }
}

/// Tensors by type, the largest share first.
fn mix(tensors: &[TensorInfo]) -> Vec<TypeFacts> {
    let mut rows: BTreeMap<u32, TypeFacts> = BTreeMap::new();
    for tensor in tensors {
        let row = rows.entry(tensor.ggml_type).or_insert_with(|| TypeFacts {
            name: type_name(tensor),
            number: tensor.ggml_type,
            tensors: 0,
            elements: 0,
            bytes: Some(0),
            share: None,
            supported: tensor.format().is_ok(),
        });
        row.tensors += 1;
        row.elements = add(row.elements, tensor.elements());
        row.bytes = row.bytes.zip(tensor.byte_len).map(|(a, b)| add(a, b));
    }
    let all = rows.values().filter_map(|row| row.bytes).fold(0, add);
    let mut rows: Vec<TypeFacts> = rows.into_values().collect();
    for row in &mut rows {
        let bytes = row.bytes.filter(|_| all > 0);
        row.share = bytes.map(|bytes| bytes as f64 / all as f64);
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.bytes));
    rows
}

/// The architecture's own metadata: keys that start with its name, without that prefix.
pub fn of_architecture<'a>(
    metadata: &'a Metadata,
    architecture: Option<&str>,
) -> impl Iterator<Item = (&'a str, guild_model::Value<'a>)> {
    let prefix = architecture.map(|name| format!("{name}."));
    metadata
        .iter()
        .filter_map(move |(key, entry)| Some((key.strip_prefix(prefix.as_deref()?)?, entry)))
}

fn draft_layers(metadata: &Metadata, architecture: Option<&str>) -> Option<u64> {
    let key = format!("{}.nextn_predict_layers", architecture?);
    metadata
        .get::<u64>(&key)
        .ok()
        .map(Option::unwrap_or_default)
}

fn templates(metadata: &Metadata) -> Templates {
    let default = read::<&str>(metadata, &metadata_key(None));
    // A variant's key without its name.
    let prefix = metadata_key(Some(""));
    let named = metadata.iter().filter_map(|(key, entry)| {
        let name = key.strip_prefix(&prefix)?;
        Some(NamedTemplate {
            name: name.to_owned(),
            bytes: <&str>::from_value(entry)?.len(),
        })
    });
    let named: Vec<NamedTemplate> = named.collect();
    Templates {
        present: default.is_some() || !named.is_empty(),
        bytes: default.map(str::len),
        named,
    }
}

/// Sizes in a file are whatever it says.
fn add(a: u64, b: u64) -> u64 {
    a.saturating_add(b)
}
