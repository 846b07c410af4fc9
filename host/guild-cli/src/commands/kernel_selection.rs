//! What the commands that select a version have in common: the package's name and the answer.

use crate::commands::parsed;
use crate::failure::Outcome;
use crate::output::Output;
use crate::wiring::probe::say_what_is_missing;
use guild_package::store::Selected;
use guild_package::store::generation::Pin;
use guild_package::{PackageId, PackageVersion};
use serde_json::{Value, json};

/// `ID` or `ID@VERSION`.
pub fn package(text: &str) -> Outcome<(PackageId, Option<PackageVersion>)> {
    if text.contains('@') {
        let Pin { id, version } = parsed("PACKAGE", text)?;
        return Ok((id, Some(version)));
    }
    Ok((parsed("PACKAGE", text)?, None))
}

/// Says which version is loaded now, and which was before; `more` fields stand in the answer too.
pub fn say(selected: &Selected, more: Value, output: Output) -> Outcome<()> {
    say_what(selected, output);
    answer(selected, more, output)
}

/// Says it to people alone.
pub fn say_what(selected: &Selected, output: Output) {
    let Selected {
        id,
        previous,
        enabled,
        held,
        changed,
        probed,
        ..
    } = selected;
    output.say(match (previous, enabled, changed) {
        (_, Some(version), false) => format!("{id} {version} is enabled already"),
        (_, None, false) => format!("{id} is disabled already"),
        (Some(previous), Some(version), true) if previous == version => {
            format!("{id} {version} stays enabled; what is held back changed")
        }
        (Some(previous), Some(version), true) => format!("{id} goes from {previous} to {version}"),
        (None, Some(version), true) => format!("{id} {version} is enabled"),
        (Some(previous), None, true) => format!("{id} {previous} is disabled"),
        (None, None, true) => format!("{id} is disabled"),
    });
    match held {
        Some(held) => output.say(format!("No install enables a version of it up to {held}.")),
        None if previous == enabled && *changed => {
            output.say("From now on an install enables any newer version again.");
        }
        None => {}
    }
    say_what_is_missing(probed.as_ref(), output);
}

/// Prints it for scripts; `more` fields stand in the object too.
pub fn answer(selected: &Selected, more: Value, output: Output) -> Outcome<()> {
    let Selected {
        id,
        previous,
        enabled,
        held,
        generation,
        changed,
        probed,
        receipt,
        in_use: _,
    } = selected;
    output.data(match enabled {
        Some(version) => format!("{id} {version}"),
        None => format!("{id} -"),
    })?;
    let mut answer = json!({
        "id": id,
        "previous": previous,
        "enabled": enabled,
        "held": held,
        "generation": generation,
        "changed": changed,
        "receipt_sha256": receipt,
        "sandbox": probed.as_ref().map(|probed| probed.sandbox),
    });
    if let (Value::Object(answer), Value::Object(more)) = (&mut answer, more) {
        answer.extend(more);
    }
    output.object(answer)
}
