//! Sealed memory files: what every library is loaded from.

use super::Check;
use crate::exit::Exit;
use crate::system::SystemFiles;
use guild_loader::check_memory_files;
use serde_json::json;

/// Makes one, and reads what the system says of executable ones.
pub fn check(files: &SystemFiles) -> Check {
    let policy = files.read("/proc/sys/vm/memfd_noexec");
    let policy = policy.map(|text| text.trim().to_owned());
    let details = json!({ "memfd_noexec": policy });
    let of = policy.map_or(String::new(), |level| format!(", vm.memfd_noexec {level}"));
    match check_memory_files() {
        Ok(()) => Check::ok("memory files", format!("can be sealed{of}"), details),
        Err(error) => Check::ok("memory files", error.to_string(), details).fail(
            Exit::LoaderUnavailable,
            "no installed package can be loaded",
            error.next_step(),
        ),
    }
}
