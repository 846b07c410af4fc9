//! `guild kernel disable`: loads no version of a package any more.

use crate::args::DisableArgs;
use crate::commands::kernel_selection::{answer, say_what};
use crate::commands::parsed;
use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, required_store};
use crate::wiring::builtins;
use guild_package::store::{InUse, LeaseNote};
use serde_json::{Value, json};
use std::time::Duration;

/// Disables, and says what was enabled and what serves its names from now on.
pub fn run(args: &DisableArgs, places: &Places, output: Output) -> Outcome<()> {
    let drain = args.drain.map(Duration::from_secs);
    let id = parsed("ID", &args.id)?;
    let store = required_store(places)?;
    let selected = store.disable(&id, drain)?;
    let below = store.below().map(|below| below.generation()).transpose()?;
    let below = below.and_then(|below| below.enabled_version(&selected.id).cloned());
    let built_in = builtins::every_builtin().builtins;
    let built_in = built_in
        .iter()
        .find(|built_in| built_in.id() == selected.id.as_str());
    let fallback = match below {
        Some(version) => Some(format!("the machine's {} {version}", selected.id)),
        None => built_in.map(|built_in| format!("builtin.{}", built_in.id())),
    };
    say_what(&selected, output);
    say_fallback(fallback.as_deref(), output);
    for in_use in &selected.in_use {
        let who: Vec<String> = in_use.sessions.iter().map(LeaseNote::to_string).collect();
        let who = match who.is_empty() {
            true => "a session that left no note".to_owned(),
            false => who.join(", "),
        };
        output.say(format!(
            "{} {} is still used by {who}",
            selected.id, in_use.version
        ));
    }
    let in_use: Vec<Value> = selected.in_use.iter().map(row).collect();
    let more = json!({ "fallback": fallback, "still_used": in_use });
    answer(&selected, more, output)
}

fn say_fallback(fallback: Option<&str>, output: Output) {
    output.say(match fallback {
        Some(fallback) => format!(
            "Sessions from now on use {fallback}, if they don't leave it out; those that run keep theirs."
        ),
        None => "Sessions from now on are without it; those that run keep it.".to_owned(),
    });
}

fn row(in_use: &InUse) -> Value {
    let sessions = in_use
        .sessions
        .iter()
        .map(|note| json!({ "pid": note.pid, "since": note.start, "session": note.session }));
    json!({ "version": in_use.version, "sessions": sessions.collect::<Vec<_>>() })
}
