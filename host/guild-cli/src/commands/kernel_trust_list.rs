//! `guild kernel trust list`: shows the trusted keys and what packages need beyond one signature.

use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, found_store};
use guild_package::key::test_mark;
use guild_package::text::Time;
use guild_package::trust::{KeyStatus, Policy, Right, Scope, TrustedKey};
use serde_json::json;

/// Prints one line a key, then one line a policy.
pub fn run(places: &Places, output: Output) -> Outcome<()> {
    let found = found_store(places)?;
    let trust = found
        .as_ref()
        .map(|found| found.store.trust())
        .transpose()?;
    if let Some(found) = &found {
        found.say_whose(output);
    }
    let keys: &[TrustedKey] = trust.as_ref().map_or(&[], |trust| trust.keys());
    for key in keys {
        let scopes: Vec<String> = key.scopes.iter().map(scope).collect();
        let test = test_mark(key.test_identity);
        let status = match key.status {
            KeyStatus::Active => "",
            KeyStatus::Retired => "\tretired",
            KeyStatus::Compromised => "\tcompromised",
        };
        let until = key
            .not_after
            .map(|until_s| format!("\tuntil {}", Time(until_s)));
        output.data(format!(
            "{}\t{}{test}\t{}{status}{}",
            key.id,
            key.label,
            scopes.join(","),
            until.unwrap_or_default()
        ))?;
    }
    let policies: &[Policy] = trust.as_ref().map_or(&[], |trust| &trust.body().policy);
    for policy in policies {
        output.data(format!("policy {policy}"))?;
    }
    if keys.is_empty() {
        output.say("No key is trusted. `guild kernel trust add` adds one.");
    }
    output.object(json!({ "keys": keys, "policy": policies }))
}

/// A prefix, with its rights where they are others than the usual one.
fn scope(scope: &Scope) -> String {
    match scope.rights.as_slice() {
        [Right::Publish] => scope.prefix.to_string(),
        rights => {
            let rights: Vec<String> = rights.iter().map(ToString::to_string).collect();
            format!("{} ({})", scope.prefix, rights.join(" "))
        }
    }
}
