//! The control groups that this process is in, versions 1 and 2, and what they leave it.
//!
//! A group's limit holds for everything below it, so every group from the process's own up to the top
//! of the mounted tree is asked.

pub mod cpu;
pub mod memory;

use crate::system::SystemFiles;
use crate::system::mounts::{Mount, mounts};
use std::path::{Component, Path, PathBuf};

/// The interface of a tree of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// A tree for some controllers.
    One,
    /// One tree for all.
    Two,
}

/// A group that the process is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its folder, as the process sees it.
    pub folder: PathBuf,
    /// Which files it has.
    pub version: Version,
}

/// The groups in which `controller`, such as `memory`, may limit this process: version 1's of that
/// controller, and version 2's. In each tree the process's own comes first, then those above it.
#[must_use]
pub fn groups(files: &SystemFiles, controller: &str) -> Vec<Group> {
    let table = files.read("proc/self/cgroup").unwrap_or_default();
    let mounts = mounts(files);
    let mut found = Vec::new();
    for line in table.lines() {
        // NUMBER:CONTROLLERS:PATH, as cgroups(7) has it; version 2 names no controllers.
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        let version = match controllers {
            "" => Version::Two,
            list if names(list, controller) => Version::One,
            _ => continue,
        };
        for mount in mounts.iter().filter(|it| shows(it, version, controller)) {
            let own = folder(files, mount, path);
            let inside = own
                .ancestors()
                .take_while(|it| it.starts_with(&mount.point));
            found.extend(inside.map(|folder| Group {
                folder: folder.to_owned(),
                version,
            }));
        }
    }
    found
}

/// Whether a list such as `cpu,cpuacct` names `controller`.
fn names(list: &str, controller: &str) -> bool {
    list.split(',').any(|name| name == controller)
}

/// Whether a mount shows version 2's tree, or version 1's of `controller`.
fn shows(mount: &Mount, version: Version, controller: &str) -> bool {
    match version {
        Version::One => mount.kind == "cgroup" && names(&mount.options, controller),
        Version::Two => mount.kind == "cgroup2",
    }
}

/// The folder of group `path` in a mounted tree. In a container the path may be the outer system's;
/// then the mount point is the group itself.
fn folder(files: &SystemFiles, mount: &Mount, path: &str) -> PathBuf {
    let below = Path::new(path).strip_prefix(&mount.root);
    let inside = below.ok().filter(|below| {
        let mut parts = below.components();
        parts.all(|part| matches!(part, Component::Normal(_)))
    });
    // By components, so that the mount point itself gets no `/` at its end.
    let folder = inside.map(|below| mount.point.components().chain(below.components()).collect());
    let folder = folder.filter(|folder: &PathBuf| files.has_folder(folder));
    folder.unwrap_or_else(|| mount.point.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A made-up system with these files.
    pub(super) fn system(contents: &[(&str, &str)]) -> (tempfile::TempDir, SystemFiles) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in contents {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let files = SystemFiles::below(folder.path());
        (folder, files)
    }

    fn folders(files: &SystemFiles, controller: &str) -> Vec<String> {
        let groups = groups(files, controller).into_iter();
        groups
            .map(|group| group.folder.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn each_controller_has_its_own_tree_of_version_1_and_both_have_version_2s() {
        let (_folder, files) = system(&[
            (
                "proc/self/mountinfo",
                "1 0 0:1 / /groups/cpu rw - cgroup cgroup rw,cpuacct,cpu\n\
                 2 0 0:2 / /groups/memory rw - cgroup cgroup rw,memory\n\
                 3 0 0:3 / /groups/unified rw - cgroup2 cgroup2 rw\n",
            ),
            (
                "proc/self/cgroup",
                "3:cpu,cpuacct:/a\n2:memory:/a/b\n1:cpuset:/c\n0::/\n",
            ),
            ("groups/cpu/a/x", ""),
            ("groups/memory/a/b/x", ""),
        ]);
        assert_eq!(
            folders(&files, "cpu"),
            ["/groups/cpu/a", "/groups/cpu", "/groups/unified"]
        );
        assert_eq!(
            folders(&files, "memory"),
            [
                "/groups/memory/a/b",
                "/groups/memory/a",
                "/groups/memory",
                "/groups/unified"
            ]
        );
        assert_eq!(groups(&files, "cpu")[0].version, Version::One);
        assert_eq!(groups(&files, "cpu")[2].version, Version::Two);
    }

    #[test]
    fn a_mount_point_with_a_blank_is_found() {
        let (_folder, files) = system(&[
            (
                "proc/self/mountinfo",
                "1 0 0:1 /c\\040d /my\\040groups rw - cgroup2 none rw\n",
            ),
            ("proc/self/cgroup", "0::/c d/e\n"),
            ("my groups/e/x", ""),
        ]);
        assert_eq!(folders(&files, "memory"), ["/my groups/e", "/my groups"]);
    }

    #[test]
    fn a_container_sees_its_group_at_the_mount_point() {
        for root in ["/docker/abc", "/docker/ab", "/../.."] {
            let table = format!("1 0 0:1 {root} /groups rw - cgroup2 cgroup rw\n");
            let (_folder, files) = system(&[
                ("proc/self/mountinfo", &table),
                ("proc/self/cgroup", "0::/docker/abc\n"),
                ("groups/c/x", ""),
            ]);
            assert_eq!(folders(&files, "memory"), ["/groups"], "{root}");
        }
    }

    #[test]
    fn text_that_makes_no_sense_is_no_group() {
        for groups in ["", "0", "0:", "x:memory", "0::/../../..\n"] {
            let (_folder, files) = system(&[
                ("proc/self/mountinfo", "1 2 3\n - \n4 5 6 / - cgroup2\n"),
                ("proc/self/cgroup", groups),
            ]);
            assert!(folders(&files, "memory").is_empty(), "{groups}");
        }
    }
}
