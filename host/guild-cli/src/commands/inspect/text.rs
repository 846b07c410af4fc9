//! The listing for people: a summary in sections, then metadata and tensors where they are asked for.

use super::facts::{Facts, TypeFacts, of_architecture, type_name};
use super::tokenizer::TokenizerFacts;
use super::value;
use crate::failure::Outcome;
use crate::output::Output;
use guild_model::{GgufFile, ModelSource};
use std::path::Path;

/// Prints the summary.
pub fn print(path: &Path, file: &GgufFile, facts: &Facts, output: Output) -> Outcome<()> {
    model(path, facts, output)?;
    output.data("\nquantisation")?;
    for row in &facts.quantisation_mix {
        output.data(mix_row(row))?;
    }
    if !facts.unsupported_types.is_empty() {
        let types = facts.unsupported_types.join(", ");
        output.data(format!("  guild can't compute with: {types}"))?;
    }
    if !facts.hyperparameters.is_empty() {
        output.data("\nhyper-parameters")?;
    }
    for (key, entry) in of_architecture(file.metadata(), facts.architecture.as_deref()) {
        output.data(format!("  {} = {}", value::name(key), value::text(&entry)))?;
    }
    output.data("\ntokenizer")?;
    match &facts.tokenizer {
        Some(facts) => tokenizer(facts, output)?,
        None => output.data("  none")?,
    }
    templates(facts, output)
}

fn model(path: &Path, facts: &Facts, output: Output) -> Outcome<()> {
    let row = |name: &str, value: String| output.data(format!("  {name:<16} {value}"));
    let or_none = |text: &Option<String>| match text {
        Some(text) => value::name(text),
        None => "not stated".to_owned(),
    };
    output.data(value::name(&path.to_string_lossy()))?;
    let (version, alignment) = (facts.format_version, facts.alignment_bytes);
    row(
        "format",
        format!("GGUF version {version}, alignment {alignment} bytes"),
    )?;
    row("size", format!("{} bytes", facts.file_bytes))?;
    if facts.shards.len() > 1 {
        row("shards", facts.shards.len().to_string())?;
        for shard in &facts.shards {
            let file = shard.file.file_name().unwrap_or_default().to_string_lossy();
            let (bytes, tensors) = (shard.file_bytes, shard.tensors);
            let file = value::name(&file);
            output.data(format!("    {file}  {bytes} bytes  {tensors} tensors"))?;
        }
    }
    let architecture = or_none(&facts.architecture);
    row(
        "architecture",
        format!("{architecture} (`guild plan` says whether a runner knows it)"),
    )?;
    if let Some(name) = &facts.name {
        row("name", value::quoted(name))?;
    }
    row("parameters", facts.parameters.to_string())?;
    if let Some(bits) = facts.bits_per_weight {
        row("bits per weight", format!("{bits:.2}"))?;
    }
    row("tensors", facts.tensor_count.to_string())?;
    row("metadata", format!("{} entries", facts.metadata_count))?;
    match facts.draft_layers {
        Some(0) | None => row("draft layers", "none".to_owned()),
        Some(layers) => row("draft layers", layers.to_string()),
    }
}

fn mix_row(row: &TypeFacts) -> String {
    let bytes = row.bytes.map_or("unknown".to_owned(), |b| b.to_string());
    let share = row
        .share
        .map_or(String::new(), |share| format!("  {:>5.1} %", share * 100.0));
    format!(
        "  {:<8} {:>6} tensors  {bytes:>14} bytes{share}",
        row.name, row.tensors
    )
}

fn tokenizer(facts: &TokenizerFacts, output: Output) -> Outcome<()> {
    let name = |text: &Option<String>| text.as_deref().map_or("not stated".into(), value::name);
    let count = |count: Option<u64>| count.map_or("no".to_owned(), |count| count.to_string());
    output.data(format!(
        "  model {}, pre-tokenizer {}, {} tokens, {} merges",
        name(&facts.model),
        name(&facts.pre_tokenizer),
        count(facts.tokens),
        count(facts.merges),
    ))?;
    let kinds = facts
        .kinds
        .iter()
        .map(|(kind, count)| format!("{kind} {count}"));
    let kinds: Vec<String> = kinds.collect();
    if !kinds.is_empty() {
        output.data(format!("  kinds: {}", kinds.join(", ")))?;
    }
    for token in &facts.special_tokens {
        let text = match &token.text {
            Some(text) => value::quoted(text),
            None => "not in the vocabulary".to_owned(),
        };
        let role = value::name(&token.role);
        output.data(format!("  {role} = {} {text}", token.id))?;
    }
    match &facts.reason {
        None => output.data("  the tokenizer can be used"),
        Some(reason) => output.data(format!(
            "  the tokenizer can't be used: {}",
            value::line(reason)
        )),
    }
}

fn templates(facts: &Facts, output: Output) -> Outcome<()> {
    let templates = &facts.chat_template;
    output.data("\nchat template")?;
    match templates.bytes {
        Some(bytes) => output.data(format!("  {bytes} bytes; `--template` prints it"))?,
        None => output.data("  none")?,
    }
    for named in &templates.named {
        let (name, bytes) = (value::name(&named.name), named.bytes);
        output.data(format!(
            "  {name}: {bytes} bytes; `--template={name}` prints it"
        ))?;
    }
    Ok(())
}

/// Prints every metadata entry.
pub fn metadata(file: &GgufFile, output: Output) -> Outcome<()> {
    output.data("\nmetadata")?;
    for (key, entry) in file.metadata().iter() {
        let kind = entry.value_type().name();
        output.data(format!(
            "  {} ({kind}) = {}",
            value::name(key),
            value::text(&entry)
        ))?;
    }
    Ok(())
}

/// Prints every tensor.
pub fn tensors(file: &GgufFile, output: Output) -> Outcome<()> {
    output.data("\ntensors")?;
    for tensor in file.tensors() {
        let shape: Vec<String> = tensor.shape.iter().map(u64::to_string).collect();
        let bytes = tensor
            .byte_len
            .map_or("unknown".to_owned(), |b| b.to_string());
        let shard = match file.shards().len() {
            1 => String::new(),
            _ => format!(" of shard {}", tensor.shard + 1),
        };
        output.data(format!(
            "  {} {} [{}] {bytes} bytes at {}{shard}",
            value::name(&tensor.name),
            type_name(tensor),
            shape.join(", "),
            tensor.offset,
        ))?;
    }
    Ok(())
}
