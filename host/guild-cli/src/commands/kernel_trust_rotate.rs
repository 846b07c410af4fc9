//! `guild kernel trust rotate`: puts a new key in an old one's place.

use crate::args::TrustRotateArgs;
use crate::commands::kernel_stopped;
use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, required_store};
use guild_package::key::test_mark;
use serde_json::json;

/// Checks both signatures, and names what no longer loads.
pub fn run(args: &TrustRotateArgs, places: &Places, output: Output) -> Outcome<()> {
    let rotated = required_store(places)?.trust_rotate(&args.rotation)?;
    let (from, to) = (rotated.body.from, &rotated.body.to);
    let test = test_mark(to.test_identity);
    output.say(format!("{} ({}){test} follows {from}", to.id, to.label));
    output.say(format!(
        "{from} is retired: it signs nothing new from now on"
    ));
    output.say(format!("Held by:     {}", to.operator));
    output.say(format!("In words:    {}", to.id.words()));
    kernel_stopped::say(&rotated.stopped, false, output);
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
        "stopped": rotated.stopped,
        "generation": rotated.generation,
    }))
}
