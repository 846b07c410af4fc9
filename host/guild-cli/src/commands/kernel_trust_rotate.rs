//! `guild kernel trust rotate`: puts a new key in an old one's place.

use crate::args::TrustRotateArgs;
use crate::commands::kernel_stopped;
use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, required_store};
use guild_package::key::test_mark;
use guild_package::store::Rotated;
use guild_package::trust::KeyStatus;
use serde_json::json;

/// Checks both signatures, and names what no longer loads, or wouldn't.
pub fn run(args: &TrustRotateArgs, places: &Places, output: Output) -> Outcome<()> {
    let rotated = required_store(places)?.trust_rotate(&args.rotation, args.dry_run)?;
    say(&rotated, args.dry_run, output);
    let (from, to) = (rotated.body.from, &rotated.body.to);
    output.data(to.id.to_string())?;
    output.object(json!({
        "from": from,
        "to": to.id,
        "words": to.id.words(),
        "label": to.label,
        "operator": to.operator,
        "test_identity": to.test_identity,
        "scopes": rotated.body.scopes,
        "rights_left": rotated.body.rights_left,
        "old_status": rotated.old_status,
        "is_new": rotated.is_new,
        "stopped": rotated.stopped,
        "dry_run": args.dry_run,
        "generation": rotated.generation,
    }))
}

fn say(rotated: &Rotated, dry_run: bool, output: Output) {
    let (from, to) = (rotated.body.from, &rotated.body.to);
    let test = test_mark(to.test_identity);
    let name = format!("{} ({}){test}", to.id, to.label);
    if !rotated.is_new {
        output.say(format!(
            "Nothing new: {name} follows {from} already, by this very rotation"
        ));
        return;
    }
    let (follows, is) = match dry_run {
        true => ("would follow", "would be"),
        false => ("follows", "is"),
    };
    output.say(format!("{name} {follows} {from}"));
    output.say(match rotated.old_status {
        KeyStatus::Compromised => {
            format!("{from} {is} compromised: nothing that it signed loads from now on")
        }
        KeyStatus::Active | KeyStatus::Retired => {
            format!("{from} {is} retired: it signs nothing new from now on")
        }
    });
    output.say(format!("Held by:     {}", to.operator));
    output.say(format!("In words:    {}", to.id.words()));
    kernel_stopped::say(&rotated.stopped, dry_run, output);
}
