//! `guild template`: renders a conversation to text without running the model.

use crate::args::TemplateArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::input::{read_file, read_json, read_text};
use crate::output::Output;
use crate::wiring::template::Template;
use guild_model::GgufFile;
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::path::Path;

/// What is said where there are no messages.
const EXPECTED: &str =
    "give [{\"role\": \"user\", \"content\": \"Hello\"}], or an object with \"messages\"";

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
        None if std::io::stdin().is_terminal() => {
            return Err(Failure::new(Exit::Usage, "no messages were given")
                .hint("name a JSON file with --messages, or pipe the messages in"));
        }
        None => {
            let name = Path::new("standard input");
            (name, read_text(std::io::stdin().lock(), name)?)
        }
    };
    let mut given = read_json(path, &text, EXPECTED)?;
    if template.tools.is_none() {
        template.tools = given.get("tools").filter(|tools| !tools.is_null()).cloned();
    }
    if let Some(inside) = given.get_mut("messages") {
        given = inside.take();
    }
    let Value::Array(mut messages) = given else {
        let message = format!("{}: no list of messages", path.display());
        return Err(Failure::new(Exit::Usage, message).hint(EXPECTED));
    };
    if let Some(system) = &args.options.system {
        messages.insert(0, json!({ "role": "system", "content": system }));
    }
    Ok(messages)
}
