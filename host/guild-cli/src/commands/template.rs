//! `guild template`: renders a conversation to text without running the model.

use crate::args::TemplateArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::input::{read_file, read_json, read_text};
use crate::output::Output;
use crate::wiring::template::Template;
use guild_model::GgufFile;
use serde_json::{Value, json};
use std::path::Path;

/// Prints the text.
pub fn run(args: &TemplateArgs, output: Output) -> Outcome<()> {
    let file = GgufFile::open(&args.model)?;
    let mut template = Template::open(&args.options, &file)?;
    let messages = messages(args, &mut template)?;
    let text = template.render(&messages, !args.no_generation_prompt)?;
    output.stream_text(&text)?;
    output.object(json!({
        "text": text,
        "messages": messages.len(),
    }))
}

/// The messages of the file or of standard input. Tools in the same file count where `--tools` gives none.
fn messages(args: &TemplateArgs, template: &mut Template) -> Outcome<Vec<Value>> {
    let (path, text) = match &args.messages {
        Some(path) => (path.as_path(), read_file(path)?),
        None => {
            let name = Path::new("standard input");
            (name, read_text(std::io::stdin().lock(), name)?)
        }
    };
    let mut given = read_json(path, &text)?;
    if template.tools.is_none() {
        template.tools = given.get("tools").filter(|tools| !tools.is_null()).cloned();
    }
    if let Some(inside) = given.get_mut("messages") {
        given = inside.take();
    }
    let Value::Array(mut messages) = given else {
        let message = format!("{}: no list of messages", path.display());
        return Err(Failure::new(Exit::Usage, message).hint(
            "give [{\"role\": \"user\", \"content\": \"Hello\"}], or an object with \"messages\"",
        ));
    };
    if let Some(system) = &args.options.system {
        messages.insert(0, json!({ "role": "system", "content": system }));
    }
    Ok(messages)
}
