//! `guild kernel trust add`: trusts a public key for a part of the name space.

use crate::args::TrustAddArgs;
use crate::commands::{DAY_S, parsed};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::places::{Places, open_store};
use guild_package::KeyRecord;
use guild_package::key::test_mark;
use guild_package::text::Invalid;
use guild_package::trust::{Grant, Right, Scope};
use guild_package::verify::system_time_s;
use serde_json::json;

/// Adds the key and shows its fingerprint in both forms.
pub fn run(args: &TrustAddArgs, places: &Places, output: Output) -> Outcome<()> {
    let record = KeyRecord::read(&args.public)?;
    let rights = args.right.iter().map(|right| parsed("--right", right));
    let mut rights: Vec<Right> = rights.collect::<Outcome<_>>()?;
    rights.sort();
    rights.dedup();
    let scopes = args.scope.iter().map(|prefix| scope(prefix, &rights));
    let grant = Grant {
        scopes: scopes.collect::<Outcome<_>>()?,
        everything_understood: args.i_understand,
        not_before: None,
        not_after: args.valid_days.map(|days| system_time_s() + days * DAY_S),
    };
    let added = open_store(places)?.trust_add(&record, &grant)?;
    let test = test_mark(record.test_identity);
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
        "rights": rights,
        "generation": added.generation,
    }))
}

fn scope(prefix: &str, rights: &[Right]) -> Outcome<Scope> {
    let wrong = |invalid: Invalid| Failure::new(Exit::Usage, format!("--scope: {invalid}"));
    let mut scope = Scope::publish(prefix.parse().map_err(wrong)?).map_err(wrong)?;
    scope.rights = rights.to_vec();
    Ok(scope)
}
