//! `guild kernel gc`: deletes files that no installed version needs.

use crate::failure::Outcome;
use crate::output::Output;
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
    output.say(format!("{files} files deleted, {bytes} bytes"));
    if in_use > 0 {
        output.say(format!(
            "{in_use} removed versions are still used by a session; their files stay"
        ));
    }
    output.data(format!("{files} {bytes}"))?;
    output.object(json!({ "files": files, "bytes": bytes, "in_use": in_use }))
}
