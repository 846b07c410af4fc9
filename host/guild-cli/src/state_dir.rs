//! Where guild keeps what it may forget, such as a history.

use std::ffi::OsString;
use std::path::PathBuf;

/// `XDG_STATE_HOME/guild`, else `~/.local/state/guild`; `None` where no home folder is set.
pub fn path() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value: &OsString| !value.is_empty());
    let state = variable("XDG_STATE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(variable("HOME")?).join(".local/state"));
    Some(state.or_else(home)?.join("guild"))
}
