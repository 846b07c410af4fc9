//! Who vouches for a release beside its publishers, as commands show it.

use guild_package::verify::{Countersigner, Signer};
use serde_json::{Value, json};

/// One line each: role, key, name, who holds it and what it says.
pub fn lines(countersigners: &[Countersigner]) -> impl Iterator<Item = String> {
    countersigners.iter().map(|countersigner| {
        let Countersigner { role, signer, .. } = countersigner;
        let (role, key, operator) = (role.to_string(), signer.key, &signer.operator);
        let texts = countersigner.statements.iter();
        let texts: String = texts
            .map(|text| format!(" \u{201c}{text}\u{201d}"))
            .collect();
        format!("{role:<9} {key} {signer}, held by {operator}{texts}")
    })
}

/// The same for scripts.
pub fn rows(countersigners: &[Countersigner]) -> Vec<Value> {
    let rows = countersigners.iter().map(|countersigner| {
        let mut row = signer(&countersigner.signer);
        row["role"] = json!(countersigner.role);
        row["statements"] = json!(countersigner.statements);
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
