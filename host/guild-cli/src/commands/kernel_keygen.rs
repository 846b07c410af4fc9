//! `guild kernel keygen`: makes a signing key.

use crate::args::KeygenArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use guild_package::text::PlainText;
use guild_package::{KeygenOptions, keygen};
use serde_json::json;

/// Writes the private seed and the public record.
pub fn run(args: &KeygenArgs, output: Output) -> Outcome<()> {
    let label = if args.label.is_empty() {
        "unnamed"
    } else {
        args.label.as_str()
    };
    let label = plain_text("--label", label)?;
    let operator = match &args.operator {
        Some(operator) => plain_text("--operator", operator)?,
        None => label.clone(),
    };
    let options = KeygenOptions {
        label,
        operator,
        test_identity: args.test_identity,
    };
    let record = keygen(&args.seed_file, &args.public, &options)?;
    output.say(format!(
        "Private seed: {} (mode 0600)",
        args.seed_file.display()
    ));
    output.say("Keep it secret: whoever has it signs as you.");
    output.say(format!("Public key:   {}", args.public.display()));
    output.say(format!("Words:        {}", record.id.words()));
    output.data(record.id.to_string())?;
    output.object(json!({
        "key_id": record.id,
        "words": record.id.words(),
        "label": record.label,
        "operator": record.operator,
        "test_identity": record.test_identity,
        "seed_file": args.seed_file,
        "public": args.public,
    }))
}

/// Text that may stand in a signed or trusted record.
fn plain_text(option: &str, text: &str) -> Outcome<PlainText> {
    text.parse()
        .map_err(|invalid: guild_package::text::Invalid| {
            Failure::new(Exit::Usage, format!("{option}: {invalid}"))
        })
}
