//! How the system hands out pages.

use super::Check;
use crate::memory::size::ByteSize;
use crate::system::SystemFiles;
use crate::system::memory;
use serde_json::json;

/// Huge pages, by themselves and set aside.
pub fn huge(files: &SystemFiles) -> Check {
    let text = files
        .read("sys/kernel/mm/transparent_hugepage/enabled")
        .unwrap_or_default();
    let mode = chosen(&text).unwrap_or("unknown").to_owned();
    let memory = memory::memory(files);
    let reserved = memory.huge_pages_free * memory.huge_page_bytes;
    let details = json!({
        "transparent": mode,
        "reserved_free_bytes": reserved,
        "page_bytes": memory.huge_page_bytes,
    });
    let finding = format!("transparent: {mode}; set aside: {}", ByteSize(reserved));
    let check = Check::ok("huge pages", finding, details);
    match mode.as_str() {
        "never" => check.warn(
            "address translation costs more during decode",
            "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
        ),
        _ => check,
    }
}

/// The word in brackets of a line such as `always [madvise] never`.
fn chosen(text: &str) -> Option<&str> {
    Some(text.split_once('[')?.1.split_once(']')?.0)
}

/// Whether the system promises memory that it may not have.
pub fn overcommit(files: &SystemFiles) -> Check {
    let mode = files.read("proc/sys/vm/overcommit_memory");
    let word = match mode.as_deref() {
        Some("0") => "heuristic",
        Some("1") => "always",
        Some("2") => "never",
        _ => "unknown",
    };
    let check = Check::ok("overcommit", word, json!({ "mode": word }));
    match word {
        "never" => check.warn(
            "private memory counts in full when it is asked for, not when it is used",
            "sudo sysctl vm.overcommit_memory=0",
        ),
        _ => check,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Status;

    #[test]
    fn modes_are_read_from_the_systems_files() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let files = SystemFiles::below(folder.path());
        assert_eq!(huge(&files).details["transparent"], "unknown");
        write(
            "sys/kernel/mm/transparent_hugepage/enabled",
            "always madvise [never]\n",
        );
        write("proc/sys/vm/overcommit_memory", "2\n");
        assert_eq!(huge(&files).status, Status::Warning);
        assert_eq!(overcommit(&files).status, Status::Warning);
    }
}
