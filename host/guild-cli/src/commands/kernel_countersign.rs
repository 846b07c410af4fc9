//! `guild kernel countersign`: adds a signature to a bundle.

use crate::args::{CountersignArgs, CountersignRole};
use crate::commands::{DAY_S, kernel_seed, parsed};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::places::{Places, required_to_read};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use guild_package::countersign::{Addition, countersign_bundle};
use guild_package::trust::Role;
use guild_package::verify::system_time_s;
use serde_json::json;

/// Writes the bundle with one more signature.
pub fn run(args: &CountersignArgs, places: &Places, output: Output) -> Outcome<()> {
    let found = required_to_read(places, output)?;
    let trust = found.store.trust()?;
    let addition = addition(args)?;
    let seed = kernel_seed::open(&args.seed)?;
    let key = seed.check_id(&args.seed.key_id)?;
    let manifest = countersign_bundle(&args.bundle, &trust, &seed, &addition, &args.out)?;
    let role = args.role.to_possible_value();
    let role = role.as_ref().map_or("publisher", PossibleValue::get_name);
    output.say(format!(
        "{key} signed {} {} as {role}",
        manifest.id, manifest.version
    ));
    output.say(format!("Bundle {}", args.out.display()));
    output.data(key.to_string())?;
    output.object(json!({
        "id": manifest.id,
        "version": manifest.version,
        "key_id": key,
        "role": role,
        "bundle": args.out,
        "store": found.whose,
    }))
}

fn addition(args: &CountersignArgs) -> Outcome<Addition> {
    let role = match args.role {
        CountersignRole::Publisher if args.statement.is_some() || args.valid_days.is_some() => {
            let message = "a publisher signs the manifest, which says it all";
            return Err(Failure::new(Exit::Usage, message)
                .hint("leave --statement and --valid-days out, or take another role"));
        }
        CountersignRole::Publisher => return Ok(Addition::Release),
        CountersignRole::Reviewer => Role::Reviewer,
        CountersignRole::Builder => Role::Builder,
        CountersignRole::Site => Role::Site,
        CountersignRole::Mirror => Role::Mirror,
    };
    let issued_at = system_time_s();
    Ok(Addition::Statement {
        role,
        statement: parsed("--statement", args.statement.as_deref().unwrap_or_default())?,
        issued_at,
        expires_at: args.valid_days.map(|days| issued_at + days * DAY_S),
    })
}
