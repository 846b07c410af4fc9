//! The memory limits of the control groups that this process is in, version 1 and 2.
//!
//! A group's limit holds for everything below it, so every group from the process's own up to the top
//! of the mounted tree is asked.

use std::fs;
use std::path::{Path, PathBuf};

/// One group with a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CgroupLimit {
    /// The group's folder.
    pub(super) folder: PathBuf,
    /// The most that the group may use.
    pub(super) limit_bytes: u64,
    /// What it uses, without the pages of files that the system would drop first.
    pub(super) used_bytes: u64,
}

/// Names of one version's files.
struct Version {
    /// Files with a limit; the lowest counts.
    limits: &'static [&'static str],
    usage: &'static str,
    /// Lines of `memory.stat` that count pages of files.
    file_pages: [&'static str; 2],
}

const VERSION_1: Version = Version {
    limits: &["memory.limit_in_bytes"],
    usage: "memory.usage_in_bytes",
    file_pages: ["total_inactive_file", "total_active_file"],
};

/// Beyond `memory.high` the system slows a group down until it gives memory back.
const VERSION_2: Version = Version {
    limits: &["memory.max", "memory.high"],
    usage: "memory.current",
    file_pages: ["inactive_file", "active_file"],
};

/// Version 1 writes "no limit" as the largest number of whole pages.
const UNLIMITED_FROM: u64 = 1 << 62;

/// The limits of this process.
pub(super) fn limits() -> Vec<CgroupLimit> {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    limits_in(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup"))
}

fn limits_in(mountinfo: &str, groups: &str) -> Vec<CgroupLimit> {
    let mut found = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let version = match controllers {
            "" => VERSION_2,
            list if list.split(',').any(|name| name == "memory") => VERSION_1,
            _ => continue,
        };
        let wants_memory = !controllers.is_empty();
        let mounts = mountinfo
            .lines()
            .filter_map(|line| mount(line, wants_memory));
        for (root, point) in mounts {
            found.extend(walk(&point, &folder(&root, &point, path), &version));
        }
    }
    found
}

/// Root and mount point of a control group tree; of version 1's tree of memory where `memory` says so.
fn mount(line: &str, memory: bool) -> Option<(String, PathBuf)> {
    let (place, kind) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (root, point) = (place.next()?, place.next()?);
    let mut kind = kind.split(' ');
    let (file_system, _, options) = (kind.next()?, kind.next()?, kind.next()?);
    let fits = match memory {
        false => file_system == "cgroup2",
        true => file_system == "cgroup" && options.split(',').any(|option| option == "memory"),
    };
    fits.then(|| (root.to_owned(), PathBuf::from(point)))
}

/// The folder of group `path` in a tree that shows `root` at `point`. In a container the path may be
/// the outer system's; then the mount point is the group itself.
fn folder(root: &str, point: &Path, path: &str) -> PathBuf {
    let below = path.strip_prefix(root.trim_end_matches('/')).unwrap_or("");
    let folder = point.join(below.trim_start_matches('/'));
    if folder.is_dir() && !below.contains("..") {
        folder
    } else {
        point.to_owned()
    }
}

fn walk(point: &Path, folder: &Path, version: &Version) -> Vec<CgroupLimit> {
    let inside = folder
        .ancestors()
        .take_while(|folder| folder.starts_with(point));
    inside.filter_map(|folder| limit(folder, version)).collect()
}

fn limit(folder: &Path, version: &Version) -> Option<CgroupLimit> {
    let number = |name: &str| -> Option<u64> {
        fs::read_to_string(folder.join(name))
            .ok()?
            .trim()
            .parse()
            .ok()
    };
    let limits = version.limits.iter().filter_map(|name| number(name));
    let limit_bytes = limits.filter(|bytes| *bytes < UNLIMITED_FROM).min()?;
    let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let file_pages = stat.lines().filter_map(|line| {
        let (name, bytes) = line.split_once(' ')?;
        let counts = version.file_pages.contains(&name);
        counts.then(|| bytes.trim().parse::<u64>().ok()).flatten()
    });
    Some(CgroupLimit {
        folder: folder.to_owned(),
        limit_bytes,
        used_bytes: number(version.usage)?.saturating_sub(file_pages.sum()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, files: &[(&str, &str)]) {
        fs::create_dir_all(folder).unwrap();
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
    }

    #[test]
    fn every_group_above_the_process_counts_in_version_2() {
        let top = tempfile::tempdir().unwrap();
        let (outer, inner) = (top.path().join("outer"), top.path().join("outer/inner"));
        write(
            &outer,
            &[
                ("memory.max", "5000\n"),
                ("memory.high", "max\n"),
                ("memory.current", "1500\n"),
                (
                    "memory.stat",
                    "anon 900\ninactive_file 300\nactive_file 200\n",
                ),
            ],
        );
        write(
            &inner,
            &[
                ("memory.max", "max\n"),
                ("memory.high", "4000\n"),
                ("memory.current", "700\n"),
                ("memory.stat", "inactive_file 800\n"),
            ],
        );
        let mountinfo = format!(
            "30 1 0:26 / {} rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n31 1 8:1 / /x rw - ext4 /dev/a rw\n",
            top.path().display()
        );
        let found = limits_in(&mountinfo, "0::/outer/inner\n");
        let numbers: Vec<_> = found
            .iter()
            .map(|group| (group.folder.as_path(), group.limit_bytes, group.used_bytes))
            .collect();
        assert_eq!(
            numbers,
            [(inner.as_path(), 4000, 0), (outer.as_path(), 5000, 1000)]
        );
    }

    #[test]
    fn version_1_is_read_from_its_own_tree_and_no_limit_is_none() {
        let top = tempfile::tempdir().unwrap();
        let group = top.path().join("a");
        write(
            &group,
            &[
                ("memory.limit_in_bytes", "8000\n"),
                ("memory.usage_in_bytes", "3000\n"),
                (
                    "memory.stat",
                    "cache 5\ntotal_inactive_file 400\ntotal_active_file 100\n",
                ),
            ],
        );
        write(
            top.path(),
            &[
                ("memory.limit_in_bytes", "9223372036854771712\n"),
                ("memory.usage_in_bytes", "3000\n"),
            ],
        );
        let mountinfo = format!(
            "1 0 0:1 / /cpu rw - cgroup cgroup rw,cpu\n2 0 0:2 / {} rw - cgroup cgroup rw,memory\n",
            top.path().display()
        );
        let found = limits_in(&mountinfo, "2:cpu:/a\n4:memory:/a\n0::/\n");
        assert_eq!(
            found,
            [CgroupLimit {
                folder: group,
                limit_bytes: 8000,
                used_bytes: 2500,
            }]
        );
    }

    #[test]
    fn a_container_sees_its_group_at_the_mount_point() {
        let top = tempfile::tempdir().unwrap();
        write(
            top.path(),
            &[("memory.max", "600"), ("memory.current", "100")],
        );
        for root in ["/docker/abc", "/../.."] {
            let mountinfo = format!(
                "1 0 0:1 {root} {} rw - cgroup2 cgroup rw\n",
                top.path().display()
            );
            let found = limits_in(&mountinfo, "0::/docker/abc\n");
            assert_eq!(found.len(), 1, "{root}");
            assert_eq!((found[0].limit_bytes, found[0].used_bytes), (600, 100));
        }
    }

    #[test]
    fn text_that_makes_no_sense_is_no_limit() {
        for groups in ["", "0", "0:", "x:memory", "0::/../../..\n"] {
            assert_eq!(limits_in("1 2 3\n - \n4 5 6 / / - cgroup2\n", groups), []);
        }
    }
}
