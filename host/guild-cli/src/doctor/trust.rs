//! Whose packages may run.

use super::{Check, command};
use crate::output::count;
use crate::places::Whose;
use guild_package::Store;
use guild_package::trust::{KeyStatus, TrustedKey};
use serde_json::{Value, json};

/// The trusted keys; test identities and keys for every name are named.
pub fn check(store: &Store, whose: Whose) -> Check {
    let trust = match store.trust() {
        Ok(trust) => trust,
        Err(error) => {
            let exit = crate::exit::Exit::from_number(error.code().exit_code());
            let check = Check::ok("trust", error.to_string(), Value::Null);
            return check.fail(exit, "no package verifies", error.next_step());
        }
    };
    judge(trust.keys(), whose)
}

fn judge(keys: &[TrustedKey], whose: Whose) -> Check {
    let everything = |key: &TrustedKey| key.scopes.iter().any(|s| s.prefix.to_string() == "*");
    let rows: Vec<Value> = keys
        .iter()
        .map(|key| {
            let scopes: Vec<String> = key.scopes.iter().map(|s| s.prefix.to_string()).collect();
            json!({
                "id": key.id,
                "label": key.label,
                "status": key.status,
                "test_identity": key.test_identity,
                "scopes": scopes,
            })
        })
        .collect();
    let active: Vec<&TrustedKey> = keys
        .iter()
        .filter(|key| key.status == KeyStatus::Active)
        .collect();
    let finding = format!("{} trusted", count(active.len(), "key"));
    let check = Check::ok("trust", finding, json!({ "keys": rows }));
    if let Some(key) = active.iter().find(|key| key.test_identity) {
        return check.warn(
            format!(
                "{} ({}) is a test identity: its seed may be anybody's",
                key.label, key.id
            ),
            withdraw(key, whose),
        );
    }
    match active.iter().find(|key| everything(key)) {
        Some(key) => check.warn(
            format!(
                "{} ({}) may sign packages of every name, and a scope is never narrowed",
                key.label, key.id
            ),
            withdraw(key, whose),
        ),
        None => check,
    }
}

/// What is installed stays usable.
fn withdraw(key: &TrustedKey, whose: Whose) -> String {
    let (guild, key) = (command(whose), key.id.short());
    format!("{guild} trust revoke {key} --superseded")
}
