//! `guild kernel trust add`: trusts a public key for a part of the name space.

use crate::args::TrustAddArgs;
use crate::data_dir::open_store;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use guild_package::KeyRecord;
use guild_package::text::Invalid;
use guild_package::trust::{Grant, Scope};
use serde_json::json;
use std::path::Path;

/// Adds the key and shows its fingerprint in both forms.
pub fn run(args: &TrustAddArgs, data_dir: Option<&Path>, output: Output) -> Outcome<()> {
    let record = KeyRecord::read(&args.public)?;
    let scopes = args
        .scope
        .iter()
        .map(|prefix| scope(prefix))
        .collect::<Outcome<Vec<_>>>()?;
    let grant = Grant {
        scopes,
        everything_understood: args.i_understand,
        not_before: None,
        not_after: None,
    };
    let added = open_store(data_dir)?.trust_add(&record, &grant)?;
    let test = if record.test_identity {
        " (test identity)"
    } else {
        ""
    };
    output.say(format!(
        "Trusted {}{test} for {}",
        record.label,
        args.scope.join(", ")
    ));
    output.say(format!("Fingerprint: {}", record.id));
    output.say(format!("In words:    {}", record.id.words()));
    output.say("Compare it with what the publisher shows, over another channel.");
    output.data(record.id.to_string())?;
    output.object(json!({
        "key_id": record.id,
        "words": record.id.words(),
        "label": record.label,
        "test_identity": record.test_identity,
        "scopes": args.scope,
        "generation": added.generation,
    }))
}

fn scope(prefix: &str) -> Outcome<Scope> {
    let wrong = |invalid: Invalid| Failure::new(Exit::Usage, format!("--scope: {invalid}"));
    Scope::publish(prefix.parse().map_err(wrong)?).map_err(wrong)
}
