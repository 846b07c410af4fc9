//! `guild kernel keygen`: makes a signing key.

use crate::args::KeygenArgs;
use crate::commands::{kernel_seed, parsed};
use crate::failure::Outcome;
use crate::output::Output;
use guild_package::seed::Passphrase;
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
    let label: PlainText = parsed("--label", label)?;
    let operator = match &args.operator {
        Some(operator) => parsed("--operator", operator)?,
        None => label.clone(),
    };
    let options = KeygenOptions {
        label,
        operator,
        test_identity: args.test_identity,
        passphrase: passphrase(args)?,
    };
    let record = keygen(&args.seed_file, &args.public, &options)?;
    let protection = match options.passphrase {
        Some(_) => "encrypted, mode 0600",
        None => "plain, mode 0600",
    };
    output.say(format!(
        "Private seed: {} ({protection})",
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
        "encrypted": options.passphrase.is_some(),
        "seed_file": args.seed_file,
        "public": args.public,
    }))
}

/// A seed is encrypted unless somebody says otherwise; a test identity protects nothing.
fn passphrase(args: &KeygenArgs) -> Outcome<Option<Passphrase>> {
    match &args.passphrase_file {
        Some(path) => Ok(Some(Passphrase::read(path)?)),
        None if args.no_passphrase || args.test_identity => Ok(None),
        None => kernel_seed::ask_for_new().map(Some),
    }
}
