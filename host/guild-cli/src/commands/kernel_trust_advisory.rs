//! `guild kernel trust advisory`: withdraws keys and raises floors, as a trusted key has signed.

use crate::args::TrustAdvisoryArgs;
use crate::commands::{kernel_floor, kernel_stopped};
use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, required_store};
use guild_package::advisory::WithdrawnAs;
use guild_package::store::{AdvisoryOptions, AdvisoryTaken};
use serde_json::{Value, json};

/// Takes the advisory, and names what no longer loads.
pub fn run(args: &TrustAdvisoryArgs, places: &Places, output: Output) -> Outcome<()> {
    let options = AdvisoryOptions {
        since_gen: args.since_gen,
        dry_run: args.dry_run,
    };
    let store = required_store(places)?;
    let taken = store.trust_advisory(&args.advisory, &options)?;
    say(&taken, args.dry_run, output)?;
    if store.below().is_some() {
        output.say("Packages of the machine's store load as before: its owner takes it with `guild --machine kernel trust advisory`");
    }
    let withdrawn = taken.withdrawals.iter().map(|line| {
        let (key, status, reason) = (line.key, status(line.status), &line.reason);
        json!({ "key_id": key, "status": status, "reason": reason })
    });
    let floors = taken.floors.iter().map(|(line, raised)| {
        json!({
            "id": raised.id,
            "previous": raised.previous,
            "floor": raised.floor,
            "reason": line.reason,
            "below": raised.below,
            "enabled_below": raised.enabled_below,
        })
    });
    output.object(json!({
        "signers": taken.signers,
        "is_new": taken.is_new(),
        "withdrawn": withdrawn.collect::<Vec<Value>>(),
        "floors": floors.collect::<Vec<Value>>(),
        "unknown": taken.unknown,
        "stopped": taken.stopped,
        "dry_run": args.dry_run,
        "generation": taken.generation,
    }))
}

fn say(taken: &AdvisoryTaken, dry_run: bool, output: Output) -> Outcome<()> {
    let is = if dry_run { "would be" } else { "is" };
    for line in &taken.withdrawals {
        let (key, status) = (line.key, status(line.status));
        output.say(format!("{key} {is} {status}: {}", line.reason));
        output.data(format!("{status}\t{key}"))?;
    }
    kernel_stopped::say(&taken.stopped, dry_run, output);
    for (line, raised) in &taken.floors {
        let (id, floor, before) = (&raised.id, raised.floor, raised.previous);
        let reason = &line.reason;
        output.say(format!(
            "The floor of {id} {is} {floor}, after {before}: {reason}"
        ));
        kernel_floor::say_below(raised, dry_run, output);
        output.data(format!("floor\t{id}\t{floor}"))?;
    }
    for key in &taken.unknown {
        output.say(format!("{key} isn't known here, and nothing is noted of it: take the advisory again should you trust it later"));
    }
    if !taken.is_new() {
        output.say("Nothing new: all that it says of what is known here is in force");
    }
    Ok(())
}

/// The key's status in the trust file afterwards.
const fn status(status: WithdrawnAs) -> &'static str {
    match status {
        WithdrawnAs::Superseded => "retired",
        WithdrawnAs::Compromised => "compromised",
    }
}
