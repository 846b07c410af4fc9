//! Who vouches for a release beside its publishers, as commands show it.

use guild_package::verify::{Countersigner, Signer};
use serde_json::{Value, json};

/// One line each: role, key, name and who holds it.
pub fn lines(countersigners: &[Countersigner]) -> impl Iterator<Item = String> {
    countersigners.iter().map(|Countersigner { role, signer }| {
        format!(
            "{:<9} {} {signer}, held by {}",
            role.to_string(),
            signer.key,
            signer.operator
        )
    })
}

/// The same for scripts.
pub fn rows(countersigners: &[Countersigner]) -> Vec<Value> {
    let rows = countersigners.iter().map(|countersigner| {
        let mut row = signer(&countersigner.signer);
        row["role"] = json!(countersigner.role);
        row
    });
    rows.collect()
}

/// A key whose word counted.
pub fn signer(signer: &Signer) -> Value {
    json!({
        "key_id": signer.key,
        "label": signer.label,
        "operator": signer.operator,
        "test_identity": signer.test_identity,
    })
}
