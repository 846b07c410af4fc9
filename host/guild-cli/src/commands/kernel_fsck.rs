//! `guild kernel fsck`: reads the whole package store and compares it with its own records.

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::{Output, count, plain};
use crate::places::{Places, Whose, required_to_read};
use guild_package::store::{Examined, Fault};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Names every fault, and ends with the first one's code.
pub fn run(places: &Places, output: Output) -> Outcome<()> {
    let found = required_to_read(places, output)?;
    let examined = found.store.examine()?;
    for fault in &examined.faults {
        output.data(line(fault))?;
    }
    for path in &examined.strangers {
        output.say(format!("{} is no part of the store", plain(path.as_str())));
    }
    let answer = answer(&examined, found.whose);
    match examined.faults.first() {
        None => {
            output.say(format!(
                "The store is whole: {}, {}, {}",
                count(examined.versions, "version"),
                count(examined.files, "file"),
                count(examined.bytes, "byte")
            ));
            output.object(answer)
        }
        Some(fault) => {
            let exit = Exit::from_number(fault.error.code().exit_code());
            let faults = count(examined.faults.len(), "fault");
            // One step mends many faults of one kind, as of all files of a bundle.
            let steps: BTreeSet<String> = examined.faults.iter().map(next_step).collect();
            let steps: Vec<String> = steps.into_iter().collect();
            Err(
                Failure::new(exit, format!("the package store has {faults}"))
                    .hint(found.whose.addressed(&steps.join("; ")))
                    .with_fields(answer),
            )
        }
    }
}

/// What mends a fault, with the version that it is of.
fn next_step(fault: &Fault) -> String {
    match &fault.version {
        Some(version) => format!("{version}: {}", fault.error.next_step()),
        None => fault.error.next_step(),
    }
}

fn line(fault: &Fault) -> String {
    let what = fault.version.as_ref().map_or_else(
        || "the store's records".to_owned(),
        |version| version.to_string(),
    );
    let (code, message) = (fault.error.code(), fault.error.in_full());
    format!("{what}\t{}\t{message}", code.name())
}

fn answer(examined: &Examined, whose: Whose) -> Value {
    let faults: Vec<Value> = examined
        .faults
        .iter()
        .map(|fault| {
            json!({
                "version": fault.version,
                "code": fault.error.code().name(),
                "message": fault.error.to_string(),
                "hint": fault.error.next_step(),
            })
        })
        .collect();
    let chain = examined
        .chain
        .map(|chain| json!({ "generations": chain.generations, "trust_files": chain.trust_files }));
    let strangers: Vec<&str> = examined
        .strangers
        .iter()
        .map(|path| path.as_str())
        .collect();
    json!({
        "chain": chain,
        "versions": examined.versions,
        "files": examined.files,
        "bytes": examined.bytes,
        "faults": faults,
        "strangers": strangers,
        "store": whose,
    })
}
