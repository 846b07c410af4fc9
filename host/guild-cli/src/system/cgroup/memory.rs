//! The memory that the control groups leave this process.

use super::{Group, Version, groups};
use crate::system::SystemFiles;
use std::path::PathBuf;

/// One group with a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupLimit {
    /// The group's folder.
    pub folder: PathBuf,
    /// The most that the group may use.
    pub limit_bytes: u64,
    /// What it uses, without the pages of files that the system would drop first.
    pub used_bytes: u64,
}

/// Names of one version's files.
struct Names {
    /// Files with a limit; the lowest counts.
    limits: &'static [&'static str],
    usage: &'static str,
    /// Lines of `memory.stat` that count pages of files.
    file_pages: [&'static str; 2],
}

const VERSION_1: Names = Names {
    limits: &["memory.limit_in_bytes"],
    usage: "memory.usage_in_bytes",
    file_pages: ["total_inactive_file", "total_active_file"],
};

/// Beyond `memory.high` the system slows a group down until it gives memory back.
const VERSION_2: Names = Names {
    limits: &["memory.max", "memory.high"],
    usage: "memory.current",
    file_pages: ["inactive_file", "active_file"],
};

/// Version 1 writes "no limit" as the largest number of whole pages.
const UNLIMITED_FROM: u64 = 1 << 62;

/// The groups with a limit, in the order of [`groups`].
#[must_use]
pub fn limits(files: &SystemFiles) -> Vec<GroupLimit> {
    let groups = groups(files, "memory").into_iter();
    groups.filter_map(|group| limit(files, group)).collect()
}

fn limit(files: &SystemFiles, group: Group) -> Option<GroupLimit> {
    let names = match group.version {
        Version::One => VERSION_1,
        Version::Two => VERSION_2,
    };
    let read = |name: &str| files.read(group.folder.join(name));
    let number = |name: &str| -> Option<u64> { read(name)?.trim().parse().ok() };
    let limits = names.limits.iter().filter_map(|name| number(name));
    let limit_bytes = limits.filter(|bytes| *bytes < UNLIMITED_FROM).min()?;
    let stat = read("memory.stat").unwrap_or_default();
    let file_pages = stat.lines().filter_map(|line| {
        let (name, bytes) = line.split_once(' ')?;
        let counts = names.file_pages.contains(&name);
        counts.then(|| bytes.trim().parse::<u64>().ok()).flatten()
    });
    let file_pages = file_pages.fold(0, u64::saturating_add);
    let used_bytes = number(names.usage)?.saturating_sub(file_pages);
    Some(GroupLimit {
        folder: group.folder,
        limit_bytes,
        used_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::system;
    use super::*;

    fn group(folder: &str, limit_bytes: u64, used_bytes: u64) -> GroupLimit {
        GroupLimit {
            folder: folder.into(),
            limit_bytes,
            used_bytes,
        }
    }

    #[test]
    fn every_group_above_the_process_counts_in_version_2() {
        let (_folder, files) = system(&[
            (
                "proc/self/mountinfo",
                "30 1 0:26 / /groups rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n\
                 31 1 8:1 / /x rw - ext4 /dev/a rw\n",
            ),
            ("proc/self/cgroup", "0::/outer/inner\n"),
            ("groups/outer/memory.max", "5000\n"),
            ("groups/outer/memory.high", "max\n"),
            ("groups/outer/memory.current", "1500\n"),
            (
                "groups/outer/memory.stat",
                "anon 900\ninactive_file 300\nactive_file 200\n",
            ),
            ("groups/outer/inner/memory.max", "max\n"),
            ("groups/outer/inner/memory.high", "4000\n"),
            ("groups/outer/inner/memory.current", "700\n"),
            ("groups/outer/inner/memory.stat", "inactive_file 800\n"),
        ]);
        assert_eq!(
            limits(&files),
            [
                group("/groups/outer/inner", 4000, 0),
                group("/groups/outer", 5000, 1000)
            ]
        );
    }

    #[test]
    fn version_1_is_read_from_its_own_tree_and_no_limit_is_none() {
        let (_folder, files) = system(&[
            (
                "proc/self/mountinfo",
                "1 0 0:1 / /cpu rw - cgroup cgroup rw,cpu\n\
                 2 0 0:2 / /groups rw - cgroup cgroup rw,memory\n",
            ),
            ("proc/self/cgroup", "2:cpu:/a\n4:memory:/a\n0::/\n"),
            ("groups/a/memory.limit_in_bytes", "8000\n"),
            ("groups/a/memory.usage_in_bytes", "3000\n"),
            (
                "groups/a/memory.stat",
                "cache 5\ntotal_inactive_file 400\ntotal_active_file 100\n",
            ),
            ("groups/memory.limit_in_bytes", "9223372036854771712\n"),
            ("groups/memory.usage_in_bytes", "3000\n"),
        ]);
        assert_eq!(limits(&files), [group("/groups/a", 8000, 2500)]);
    }
}
