//! `guild kernel rollback`: goes back to the version that was enabled before.

use crate::args::RollbackArgs;
use crate::commands::kernel_log;
use crate::commands::kernel_selection::{id, say};
use crate::data_dir::open_store;
use crate::failure::Outcome;
use crate::output::Output;
use guild_package::store::RollbackOptions;
use std::path::Path;

/// Goes back, or lists where to.
pub fn run(args: &RollbackArgs, data_dir: Option<&Path>, output: Output) -> Outcome<()> {
    let id = args.id.as_deref().map(id).transpose()?;
    let store = open_store(data_dir)?;
    if args.list {
        let mut entries = store.log(usize::MAX)?;
        entries.retain(|entry| {
            let mut selected = entry.selected.iter();
            selected.any(|selection| id.as_ref().is_none_or(|id| *id == selection.id))
        });
        return kernel_log::print(&entries, None, output);
    }
    let options = RollbackOptions {
        to_generation: args.to,
        pin: args.pin,
    };
    say(&store.rollback(id.as_ref(), options)?, output)
}
