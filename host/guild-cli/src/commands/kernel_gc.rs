//! `guild kernel gc`: deletes files that no installed version needs.

use crate::failure::Outcome;
use crate::output::{Output, count};
use crate::places::{Places, own_store};
use guild_package::store::Collected;
use serde_json::json;

/// Deletes and says how much.
pub fn run(places: &Places, output: Output) -> Outcome<()> {
    let collected = match own_store(places)? {
        Some(store) => store.collect_garbage()?,
        None => Collected::default(),
    };
    let Collected {
        files,
        bytes,
        in_use,
    } = collected;
    output.data(format!(
        "{} deleted, {}",
        count(files, "file"),
        count(bytes, "byte")
    ))?;
    if in_use > 0 {
        output.say(format!(
            "{} still used by a session; the files stay",
            match in_use {
                1 => "1 removed version is".to_owned(),
                more => format!("{more} removed versions are"),
            }
        ));
    }
    output.object(json!({ "files": files, "bytes": bytes, "in_use": in_use }))
}
