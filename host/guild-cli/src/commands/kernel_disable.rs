//! `guild kernel disable`: loads no version of a package any more.

use crate::args::DisableArgs;
use crate::commands::kernel_selection::say;
use crate::commands::parsed;
use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, required_store};
use crate::wiring::builtins;
use serde_json::json;
use std::time::Duration;

/// Disables, and says what was enabled and what serves its names from now on.
pub fn run(args: &DisableArgs, places: &Places, output: Output) -> Outcome<()> {
    let drain = args.drain.map(Duration::from_secs);
    let selected = required_store(places)?.disable(&parsed("ID", &args.id)?, drain)?;
    let built_in = builtins::every_builtin().builtins;
    let built_in = built_in
        .iter()
        .find(|built_in| built_in.id() == selected.id.as_str());
    let fallback = built_in.map(|built_in| format!("builtin.{}", built_in.id()));
    output.say(match &fallback {
        Some(fallback) => format!(
            "Sessions from now on use {fallback} where built-in packages are on; those that run keep theirs."
        ),
        None => "Sessions from now on are without it; those that run keep it.".to_owned(),
    });
    say(&selected, json!({ "fallback": fallback }), output)
}
