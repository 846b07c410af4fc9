//! `guild inspect`: shows what is in a model file.

use crate::args::InspectArgs;
use crate::failure::Outcome;
use crate::output::Output;
use guild_model::{GgufFile, ModelSource, TensorInfo, Tokenizer, Value};
use serde_json::json;
use std::collections::BTreeMap;

/// Elements of an array that are shown in text and JSON; the count is always there.
const ARRAY_ELEMENTS_SHOWN: usize = 8;

/// Prints metadata, quantisation mix, tokenizer and tensors.
pub fn run(args: &InspectArgs, output: Output) -> Outcome<()> {
    let file = GgufFile::open(&args.file)?;
    print_metadata(&file, output)?;
    print_mix(&file, output)?;
    let tokenizer = describe_tokenizer(&file);
    output.data(format!(
        "tokenizer  {}",
        tokenizer["summary"].as_str().unwrap_or_default()
    ))?;
    for tensor in file.tensors() {
        output.data(tensor_line(tensor))?;
    }
    output.object(json!({
        "file": args.file,
        "format": "gguf",
        "format_version": file.gguf().version,
        "file_bytes": file.file_bytes(),
        "alignment_bytes": file.gguf().alignment,
        "architecture": file.metadata().get::<&str>("general.architecture").ok().flatten(),
        "metadata": file
            .metadata()
            .iter()
            .map(|(key, value)| (key.to_owned(), json_value(&value)))
            .collect::<serde_json::Map<_, _>>(),
        "quantisation_mix": mix(file.tensors()),
        "tokenizer": tokenizer,
        "tensors": file.tensors().iter().map(tensor_json).collect::<Vec<_>>(),
    }))
}

fn print_metadata(file: &GgufFile, output: Output) -> Outcome<()> {
    output.data(format!(
        "GGUF v{}  {} bytes  {} metadata entries  {} tensors",
        file.gguf().version,
        file.file_bytes(),
        file.metadata().len(),
        file.tensors().len()
    ))?;
    for (key, value) in file.metadata().iter() {
        output.data(format!("{key} = {}", text_value(&value)))?;
    }
    Ok(())
}

fn print_mix(file: &GgufFile, output: Output) -> Outcome<()> {
    for (type_name, (tensors, bytes)) in mix(file.tensors()) {
        output.data(format!(
            "type {type_name}: {tensors} tensors, {bytes} bytes"
        ))?;
    }
    Ok(())
}

/// Tensors and bytes by type.
fn mix(tensors: &[TensorInfo]) -> BTreeMap<&'static str, (u64, u64)> {
    let mut mix = BTreeMap::new();
    for tensor in tensors {
        let entry: &mut (u64, u64) = mix.entry(tensor.type_name).or_default();
        entry.0 += 1;
        entry.1 += tensor.byte_len.unwrap_or(0);
    }
    mix
}

/// What the tokenizer is, or why it can't be used; never a reason to stop the listing.
fn describe_tokenizer(file: &GgufFile) -> serde_json::Value {
    match Tokenizer::from_metadata(file.metadata()) {
        Ok(tokenizer) => json!({
            "ok": true,
            "summary": format!("{} tokens", tokenizer.vocabulary_len()),
            "vocabulary": tokenizer.vocabulary_len(),
        }),
        Err(error) => json!({ "ok": false, "summary": error.to_string() }),
    }
}

fn tensor_line(tensor: &TensorInfo) -> String {
    let shape: Vec<String> = tensor.shape.iter().map(u64::to_string).collect();
    let bytes = tensor
        .byte_len
        .map_or("size unknown".to_owned(), |bytes| format!("{bytes} bytes"));
    let type_name = match tensor.type_name {
        "unknown" => format!("type {}", tensor.ggml_type),
        known => known.to_owned(),
    };
    format!(
        "tensor {} [{}] {type_name} {bytes}",
        tensor.name,
        shape.join(", ")
    )
}

fn tensor_json(tensor: &TensorInfo) -> serde_json::Value {
    json!({
        "name": tensor.name,
        "type": tensor.type_name,
        "type_number": tensor.ggml_type,
        "shape": tensor.shape,
        "offset_bytes": tensor.offset,
        "size_bytes": tensor.byte_len,
    })
}

fn text_value(value: &Value<'_>) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Array(array) => {
            let shown = array
                .iter()
                .take(ARRAY_ELEMENTS_SHOWN)
                .map(|element| text_value(&element));
            let shown = shown.collect::<Vec<_>>().join(", ");
            let more = if array.len() > ARRAY_ELEMENTS_SHOWN as u64 {
                ", …"
            } else {
                ""
            };
            format!("[{shown}{more}] ({} elements)", array.len())
        }
        other => json_value(other).to_string(),
    }
}

fn json_value(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::F32(number) => json!(number),
        Value::F64(number) => json!(number),
        Value::Bool(flag) => json!(flag),
        Value::String(text) => json!(text),
        Value::U64(number) => json!(number),
        Value::Array(array) => json!({
            "length": array.len(),
            "first": array
                .iter()
                .take(ARRAY_ELEMENTS_SHOWN)
                .map(|element| json_value(&element))
                .collect::<Vec<_>>(),
        }),
        integer => json!(integer.as_i64()),
    }
}
