//! Memory that the machine has. What limits this process is in [`crate::memory::limits`].

use crate::system::SystemFiles;

/// What the machine has, in bytes; 0 where the system doesn't say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// All of it.
    pub total_bytes: u64,
    /// What new work can have without swapping (`MemAvailable`); `None` where the system doesn't say.
    pub available_bytes: Option<u64>,
    /// Swap space.
    pub swap_bytes: u64,
    /// Free huge pages that were set aside by hand.
    pub huge_pages_free: u64,
    /// The size of one of them.
    pub huge_page_bytes: u64,
}

/// Reads `/proc/meminfo`.
#[must_use]
pub fn memory(files: &SystemFiles) -> Memory {
    let text = files.read("proc/meminfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let mut words = line.strip_prefix(':')?.split_whitespace();
        let number: u64 = words.next()?.parse().ok()?;
        let unit = if words.next() == Some("kB") { 1024 } else { 1 };
        number.checked_mul(unit)
    };
    let available_bytes = field("MemAvailable");
    let field = |name: &str| field(name).unwrap_or(0);
    Memory {
        available_bytes,
        total_bytes: field("MemTotal"),
        swap_bytes: field("SwapTotal"),
        huge_pages_free: field("HugePages_Free"),
        huge_page_bytes: field("Hugepagesize"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("proc")).unwrap();
        let text = "MemTotal:       100 kB\nMemFree: 1 kB\nMemAvailable:    40 kB\nHugePages_Free:        3\nHugepagesize:       2048 kB\n";
        std::fs::write(folder.path().join("proc/meminfo"), text).unwrap();
        let memory = memory(&SystemFiles::below(folder.path()));
        assert_eq!(memory.total_bytes, 102_400);
        assert_eq!(memory.available_bytes, Some(40_960));
        assert_eq!(memory.swap_bytes, 0);
        assert_eq!(memory.huge_pages_free, 3);
        assert_eq!(memory.huge_page_bytes, 2 << 20);
        let nothing = super::memory(&SystemFiles::below(folder.path().join("proc")));
        assert_eq!(nothing, Memory::default());
    }
}
