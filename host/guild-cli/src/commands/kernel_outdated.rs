//! `guild kernel outdated`: which bundles of a folder are newer than what is installed.

use crate::args::OutdatedArgs;
use crate::failure::Outcome;
use crate::output::{Output, plain};
use crate::places::{Places, Whose, required_to_read};
use guild_package::VerifyOptions;
use guild_package::store::Offer;
use serde_json::{Value, json};

/// Prints one line a bundle: `>` marks an update, `!` one that install would refuse.
pub fn run(args: &OutdatedArgs, places: &Places, output: Output) -> Outcome<()> {
    let found = required_to_read(places, output)?;
    let offers = found
        .store
        .offers(&args.folder, &VerifyOptions::default())?;
    for offer in &offers {
        output.data(line(offer))?;
    }
    let updates: Vec<&Offer> = offers.iter().filter(|offer| is_update(offer)).collect();
    if updates.is_empty() {
        output.say("Nothing in this folder is newer than what is installed.");
    }
    for offer in &updates {
        output.say(next_step(offer, found.whose));
    }
    let rows: Vec<Value> = offers.iter().map(row).collect();
    output.object(json!({ "bundles": rows, "updates": updates.len(), "store": found.whose }))
}

fn next_step(offer: &Offer, whose: Whose) -> String {
    let file = offer.file.to_string_lossy();
    format!(
        "`{} install {}` installs it.",
        whose.command(),
        plain(&file)
    )
}

fn is_update(offer: &Offer) -> bool {
    offer
        .package
        .as_ref()
        .is_ok_and(|offered| offered.is_update())
}

fn line(offer: &Offer) -> String {
    let file = offer.file.to_string_lossy();
    let file = plain(&file);
    match &offer.package {
        Ok(offered) => {
            let mark = if is_update(offer) { '>' } else { ' ' };
            let enabled = offered.enabled.as_ref();
            let enabled = enabled.map_or_else(|| "none".to_owned(), ToString::to_string);
            let held = if offered.held_back { "\theld back" } else { "" };
            format!(
                "{mark} {} {}\tenabled: {enabled}\t{file}{held}",
                offered.id, offered.version
            )
        }
        Err(error) => format!("! {file}\t{}\t{}", error.code().name(), error.in_full()),
    }
}

fn row(offer: &Offer) -> Value {
    let (offered, error) = (offer.package.as_ref().ok(), offer.package.as_ref().err());
    json!({
        "file": offer.file.to_string_lossy(),
        "id": offered.map(|offered| &offered.id),
        "version": offered.map(|offered| &offered.version),
        "enabled": offered.and_then(|offered| offered.enabled.as_ref()),
        "newest": offered.and_then(|offered| offered.newest.as_ref()),
        "is_update": is_update(offer),
        "held_back": offered.is_some_and(|offered| offered.held_back),
        "code": error.map(|error| error.code().name()),
        "message": error.map(ToString::to_string),
        "hint": error.map(guild_package::Error::next_step),
    })
}
