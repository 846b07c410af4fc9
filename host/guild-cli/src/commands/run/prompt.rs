//! Where a prompt comes from: `-p`, `-f`, `--prompt-ids`, or standard input.

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::input;
use guild_model::{ModelError, Tokenizer};

/// The prompt's ids, at least one. `tokenizer` is only needed where the prompt is text.
pub fn ids(args: &RunArgs, tokenizer: Result<&Tokenizer, &ModelError>) -> Outcome<Vec<u32>> {
    let ids = match &args.prompt_ids {
        Some(ids) => ids.clone(),
        None => encode(&text(args)?, tokenizer)?,
    };
    match ids.is_empty() {
        false => Ok(ids),
        true => Err(Failure::new(Exit::Usage, "the prompt has no tokens").hint(
            "give text with -p, in a file with -f or on standard input, or ids with --prompt-ids",
        )),
    }
}

/// The prompt's text as the arguments name it.
pub fn text(args: &RunArgs) -> Outcome<String> {
    input::text(args.prompt.as_deref(), args.file.as_deref())
}

/// Encodes a prompt; the start token comes first where the model wants one.
fn encode(text: &str, tokenizer: Result<&Tokenizer, &ModelError>) -> Outcome<Vec<u32>> {
    let tokenizer = tokenizer.map_err(|error| {
        Failure::new(Exit::from_number(error.code().exit()), error.to_string())
            .hint("give token ids with --prompt-ids")
    })?;
    Ok(tokenizer.encode_prompt(text, true)?)
}
