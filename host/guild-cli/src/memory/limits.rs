//! The limits that a process's memory has to stay under.

use super::cgroup;
use super::process::ProcessMemory;
use super::size::ByteSize;
use rustix::process::{Resource, getrlimit};
use std::path::PathBuf;

/// Whose limit it is.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LimitOwner {
    /// `--memory-limit`, or `GUILD_MEMORY_LIMIT`.
    Chosen,
    /// The machine: what the kernel says new work can have without swapping (`MemAvailable`).
    Machine,
    /// A control group.
    ControlGroup {
        /// The group's folder.
        folder: PathBuf,
    },
    /// `ulimit -v`: addresses.
    AddressSpace,
    /// `ulimit -d`: private writable addresses.
    Data,
}

impl LimitOwner {
    /// The limit's name in sentences.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            LimitOwner::Chosen => "--memory-limit".to_owned(),
            LimitOwner::Machine => "the machine".to_owned(),
            LimitOwner::ControlGroup { folder } => format!("control group {}", folder.display()),
            LimitOwner::AddressSpace => "ulimit -v".to_owned(),
            LimitOwner::Data => "ulimit -d".to_owned(),
        }
    }
}

/// One limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Whose it is.
    pub owner: LimitOwner,
    /// What the process may have in all, with what it has now.
    pub available_bytes: u64,
}

/// Every limit that holds for this process now. Pages of files count as free where the system would
/// drop them for new work; swap isn't counted.
#[must_use]
pub fn limits(chosen: Option<ByteSize>, process: &ProcessMemory) -> Vec<Limit> {
    let resident = process.resident_bytes;
    let mut limits = Vec::new();
    if let Some(ByteSize(available_bytes)) = chosen {
        limits.push(Limit {
            owner: LimitOwner::Chosen,
            available_bytes,
        });
    }
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    if let Some(free) = machine_available_bytes(&meminfo) {
        limits.push(Limit {
            owner: LimitOwner::Machine,
            available_bytes: free.saturating_add(resident),
        });
    }
    limits.extend(cgroup::limits().into_iter().map(|group| {
        let free = group.limit_bytes.saturating_sub(group.used_bytes);
        Limit {
            owner: LimitOwner::ControlGroup {
                folder: group.folder,
            },
            // What the process has now is part of the group's use.
            available_bytes: free.saturating_add(resident).min(group.limit_bytes),
        }
    }));
    let ulimits = [
        (LimitOwner::AddressSpace, Resource::As),
        (LimitOwner::Data, Resource::Data),
    ];
    for (owner, resource) in ulimits {
        if let Some(available_bytes) = getrlimit(resource).current {
            limits.push(Limit {
                owner,
                available_bytes,
            });
        }
    }
    limits
}

fn machine_available_bytes(meminfo: &str) -> Option<u64> {
    let mut lines = meminfo.lines();
    let line = lines.find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_own_count_is_read() {
        let meminfo = "MemTotal: 9 kB\nMemAvailable:    7 kB\n";
        assert_eq!(machine_available_bytes(meminfo), Some(7168));
        assert_eq!(machine_available_bytes("MemFree: 1 kB\n"), None);
    }

    #[test]
    fn a_chosen_limit_comes_first() {
        let limits = limits(Some(ByteSize(77)), &ProcessMemory::default());
        assert_eq!(limits[0].owner, LimitOwner::Chosen);
        assert_eq!(limits[0].available_bytes, 77);
    }
}
