//! `guild inspect`: shows what is in a model, whether or not guild can run it.

mod facts;
mod text;
mod tokenizer;
mod value;

use crate::args::InspectArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use facts::Facts;
use guild_model::chat_template::metadata_key;
use guild_model::{GgufFile, ModelSource};
use serde_json::{Value, json};

/// Prints what the model's files say. Nothing is loaded, and what guild can't run is shown like the rest.
pub fn run(args: &InspectArgs, output: Output) -> Outcome<()> {
    let file = GgufFile::open(&args.file)?;
    if let Some(name) = &args.template {
        return print_template(args, &file, name, output);
    }
    let facts = Facts::of(&file);
    text::print(&args.file, &file, &facts, output)?;
    if args.metadata || args.all {
        text::metadata(&file, output)?;
    }
    if args.tensors || args.all {
        text::tensors(&file, output)?;
    }
    let mut object = json!({ "file": args.file });
    if let (Value::Object(fields), Ok(Value::Object(facts))) =
        (&mut object, serde_json::to_value(&facts))
    {
        fields.extend(facts);
        let entries = file.metadata().iter();
        let metadata = entries.map(|(key, entry)| (key.to_owned(), value::json(&entry)));
        fields.insert("metadata".into(), Value::Object(metadata.collect()));
        let tensors = file.tensors().iter().map(facts::tensor).collect();
        fields.insert("tensors".into(), Value::Array(tensors));
    }
    output.object(object)
}

/// A chat template as it is, so that it can be written to a file. On a terminal it is escaped like everything else.
fn print_template(args: &InspectArgs, file: &GgufFile, name: &str, output: Output) -> Outcome<()> {
    let key = metadata_key(Some(name).filter(|name| !name.is_empty()));
    let template = file.metadata().get::<&str>(&key)?.ok_or_else(|| {
        Failure::new(Exit::NotFound, format!("the model has no {key}"))
            .hint("`guild inspect` without --template lists what the model has")
    })?;
    output.stream_text(template)?;
    output.object(json!({ "file": args.file, "template": { "key": key, "text": template } }))
}
