//! Where a prompt comes from: `-p`, `-f`, `--prompt-ids`, or standard input.

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use guild_model::{ModelError, Tokenizer};
use std::io::{IsTerminal, Read};
use std::path::Path;

/// The longest prompt text that is read from a file or from standard input.
const PROMPT_BYTES_MAX: u64 = 256 << 20;

/// The prompt's ids, at least one. `tokenizer` is only needed where the prompt is text.
pub fn ids(args: &RunArgs, tokenizer: Result<&Tokenizer, &ModelError>) -> Outcome<Vec<u32>> {
    let ids = match &args.prompt_ids {
        Some(ids) => ids.clone(),
        None => encode(&text(args)?, tokenizer)?,
    };
    match ids.is_empty() {
        false => Ok(ids),
        true => Err(Failure::new(Exit::Usage, "the prompt has no tokens")
            .hint("give at least one character or one id")),
    }
}

/// The prompt's text as the arguments name it.
fn text(args: &RunArgs) -> Outcome<String> {
    match (&args.prompt, &args.file) {
        (Some(text), _) => Ok(text.clone()),
        (None, Some(path)) => {
            let file = std::fs::File::open(path).map_err(|error| Failure::io(path, &error))?;
            read_text(file, path)
        }
        (None, None) if std::io::stdin().is_terminal() => {
            Err(Failure::new(Exit::Usage, "no prompt was given").hint(
                "give text with -p, a file with -f, token ids with --prompt-ids, or pipe it in",
            ))
        }
        (None, None) => read_text(std::io::stdin().lock(), Path::new("standard input")),
    }
}

/// Reads all of a source of text that `name` names in errors.
pub fn read_text(source: impl Read, name: &Path) -> Outcome<String> {
    let mut bytes = Vec::new();
    let read = source.take(PROMPT_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::io(name, &error))?;
    if bytes.len() as u64 > PROMPT_BYTES_MAX {
        let message = format!(
            "{} has more than {PROMPT_BYTES_MAX} bytes of text",
            name.display()
        );
        return Err(Failure::new(Exit::Usage, message).hint("give a shorter text"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message = format!("{} is not UTF-8 at byte {at}", name.display());
        Failure::new(Exit::Usage, message).hint("convert the text to UTF-8")
    })
}

/// Encodes a prompt; the start token comes first where the model wants one.
fn encode(text: &str, tokenizer: Result<&Tokenizer, &ModelError>) -> Outcome<Vec<u32>> {
    let tokenizer = tokenizer.map_err(|error| {
        Failure::new(Exit::from_number(error.code().exit()), error.to_string())
            .hint("give token ids with --prompt-ids")
    })?;
    let special = tokenizer.special_tokens();
    let mut ids: Vec<u32> = special
        .bos
        .filter(|_| special.adds_bos)
        .into_iter()
        .collect();
    ids.extend(tokenizer.encode(text, true)?);
    Ok(ids)
}
