//! Names the installed versions that a change of trust stops.

use crate::output::Output;
use guild_package::store::generation::Pin;

/// Says of each that it no longer loads, or wouldn't.
pub fn say(stopped: &[Pin], dry_run: bool, output: Output) {
    let loads = match dry_run {
        true => "would no longer load",
        false => "no longer loads",
    };
    for pin in stopped {
        output.say(format!("{pin} {loads}"));
    }
}
