//! `guild kernel trust list`: shows the trusted keys, what stands on each, and what packages need beyond one signature.

use crate::commands::kernel_trust_show::{Standing, names, standing_on};
use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, read_store};
use guild_package::key::test_mark;
use guild_package::store::KeyAdded;
use guild_package::text::Time;
use guild_package::trust::{KeyStatus, Policy, Scope, TrustedKey};
use serde_json::{Value, json};

/// A key with what the store knows of it.
struct Row<'a> {
    key: &'a TrustedKey,
    added: KeyAdded,
    /// The installed versions with its signature.
    packages: Vec<Standing>,
}

/// Prints one line a key, then one line a policy.
pub fn run(places: &Places, output: Output) -> Outcome<()> {
    let Some(found) = read_store(places, output)? else {
        output.say("No key is trusted. `guild kernel trust add` adds one.");
        return output.object(json!({ "keys": [], "policy": [], "store": null }));
    };
    let store = &found.store;
    let (trust, added, mut listed) = (store.trust()?, store.keys_added()?, store.list()?);
    // Those of the store below stand on the keys that are trusted there.
    listed.retain(|package| !package.below);
    let keys = trust.keys().iter();
    let rows = keys.filter_map(|key| {
        Some(Row {
            key,
            added: *added.get(&key.id)?,
            packages: standing_on(&key.id, &listed),
        })
    });
    let rows: Vec<Row<'_>> = rows.collect();
    for row in &rows {
        output.data(row.line())?;
    }
    let policies: &[Policy] = &trust.body().policy;
    for policy in policies {
        output.data(format!("policy {policy}"))?;
    }
    if rows.is_empty() {
        output.say("No key is trusted. `guild kernel trust add` adds one.");
    }
    let keys: Vec<Value> = rows.iter().map(Row::object).collect();
    output.object(json!({ "keys": keys, "policy": policies, "store": found.whose }))
}

impl Row<'_> {
    fn line(&self) -> String {
        let key = self.key;
        let scopes: Vec<String> = key.scopes.iter().map(Scope::to_string).collect();
        let mut fields = vec![
            key.id.to_string(),
            format!("{}{}", key.label, test_mark(key.test_identity)),
            scopes.join(","),
            format!("held by {}", key.operator),
        ];
        if key.status != KeyStatus::Active {
            fields.push(key.status.with_reason(key.since_gen, key.reason.as_ref()));
        }
        if let Some(until_s) = key.not_after {
            fields.push(format!("until {}", Time(until_s)));
        }
        fields.push(format!("added {}", Time(self.added.time_seen)));
        fields.push(match self.packages.as_slice() {
            [] => "no package".to_owned(),
            packages => joined(packages),
        });
        fields.join("\t")
    }

    fn object(&self) -> Value {
        let mut object = json!(self.key);
        object["added_generation"] = json!(self.added.generation);
        object["added_at"] = json!(self.added.time_seen);
        object["packages"] = names(&self.packages, |_| true);
        object["broken"] = names(&self.packages, |standing| standing.is_broken);
        object
    }
}

fn joined(packages: &[Standing]) -> String {
    let packages: Vec<String> = packages.iter().map(Standing::to_string).collect();
    packages.join(" ")
}
