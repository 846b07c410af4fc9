//! `guild kernel trust list`: shows the trusted keys and what packages need beyond one signature.

use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, existing_store};
use guild_package::trust::{Policy, TrustedKey};
use serde_json::json;

/// Prints one line a key, then one line a policy.
pub fn run(places: &Places, output: Output) -> Outcome<()> {
    let trust = existing_store(places)?
        .map(|store| store.trust())
        .transpose()?;
    let keys: &[TrustedKey] = trust.as_ref().map_or(&[], |trust| trust.keys());
    for key in keys {
        let scopes: Vec<String> = key.scopes.iter().map(|s| s.prefix.to_string()).collect();
        let test = if key.test_identity {
            "\ttest identity"
        } else {
            ""
        };
        output.data(format!(
            "{}\t{}\t{}{test}",
            key.id,
            key.label,
            scopes.join(",")
        ))?;
    }
    let policies: &[Policy] = trust.as_ref().map_or(&[], |trust| &trust.body().policy);
    for policy in policies {
        output.data(format!(
            "policy {}: {} publishers, {} reviewers",
            policy.prefix, policy.publish, policy.reviewer
        ))?;
    }
    if keys.is_empty() {
        output.say("No key is trusted. `guild kernel trust add` adds one.");
    }
    output.object(json!({ "keys": keys, "policy": policies }))
}
