//! The limits that a process's memory has to stay under.

use super::process::ProcessMemory;
use super::size::ByteSize;
use crate::system::{SystemFiles, cgroup, memory};
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
pub fn limits(
    files: &SystemFiles,
    chosen: Option<ByteSize>,
    process: &ProcessMemory,
) -> Vec<Limit> {
    let resident = process.resident_bytes;
    let mut limits = Vec::new();
    if let Some(ByteSize(available_bytes)) = chosen {
        limits.push(Limit {
            owner: LimitOwner::Chosen,
            available_bytes,
        });
    }
    if let Some(free) = memory::memory(files).available_bytes {
        limits.push(Limit {
            owner: LimitOwner::Machine,
            available_bytes: free.saturating_add(resident),
        });
    }
    limits.extend(cgroup::memory::limits(files).into_iter().map(|group| {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_process_has_is_part_of_what_it_may_have() {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    7 kB\n"),
            ("proc/self/cgroup", "0::/\n"),
            ("proc/self/mountinfo", "1 0 0:1 / /g rw - cgroup2 none rw\n"),
            ("g/memory.max", "5000\n"),
            ("g/memory.current", "1500\n"),
        ] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let process = ProcessMemory {
            resident_bytes: 1000,
            ..ProcessMemory::default()
        };
        let found = limits(&SystemFiles::below(folder.path()), None, &process);
        let group = LimitOwner::ControlGroup {
            folder: "/g".into(),
        };
        let found: Vec<_> = found.into_iter().take(2).collect();
        let want = [(LimitOwner::Machine, 8168), (group, 4500)];
        assert_eq!(
            found,
            want.map(|(owner, available_bytes)| Limit {
                owner,
                available_bytes
            })
        );
    }

    #[test]
    fn a_chosen_limit_comes_first() {
        let limits = limits(
            &SystemFiles::of_machine(),
            Some(ByteSize(77)),
            &ProcessMemory::default(),
        );
        assert_eq!(limits[0].owner, LimitOwner::Chosen);
        assert_eq!(limits[0].available_bytes, 77);
    }
}
