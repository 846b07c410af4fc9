//! `guild kernel trust revoke`: withdraws a trusted key.

use crate::args::TrustRevokeArgs;
use crate::commands::{kernel_stopped, parsed};
use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, required_store};
use guild_package::store::RevokeOptions;
use guild_package::trust::{TrustedKey, Withdrawal};
use serde_json::json;

/// Withdraws the key and names what no longer loads.
pub fn run(args: &TrustRevokeArgs, places: &Places, output: Output) -> Outcome<()> {
    let store = required_store(places)?;
    let key = store.trust()?.find(&args.key)?;
    let reason = args.reason.as_deref();
    let reason = reason.map(|text| parsed("--reason", text)).transpose()?;
    let withdrawal = match args.compromised {
        true => Withdrawal::Compromised {
            since_gen: args.since_gen.unwrap_or(0),
        },
        false => Withdrawal::Superseded,
    };
    let options = RevokeOptions {
        withdrawal,
        reason,
        dry_run: args.dry_run,
    };
    let revoked = store.trust_revoke(&key, &options)?;
    let TrustedKey {
        status,
        since_gen,
        reason,
        ..
    } = &revoked.key;
    let done = if args.dry_run { "would be" } else { "is" };
    let words = status.with_reason(*since_gen, reason.as_ref());
    output.say(format!("{key} {done} withdrawn as {words}"));
    if revoked.stopped.is_empty() {
        output.say("No installed version stops loading.");
    }
    kernel_stopped::say(&revoked.stopped, args.dry_run, output);
    output.data(key.to_string())?;
    output.object(json!({
        "key_id": key,
        "status": status,
        "since_gen": since_gen,
        "reason": reason,
        "stopped": revoked.stopped,
        "dry_run": args.dry_run,
        "generation": revoked.generation,
    }))
}
