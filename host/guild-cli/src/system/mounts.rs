//! What is mounted where, and which file system a folder is on.

use crate::system::SystemFiles;
use std::path::{Path, PathBuf};

/// One line of the table of mounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// What of its file system the mount shows: `/` is all of it.
    pub root: String,
    /// Where it lies.
    pub point: PathBuf,
    /// The kind of file system, such as `ext4`.
    pub kind: String,
    /// The file system's own options, separated by commas.
    pub options: String,
}

/// The mounts that this process sees, in the order of `/proc/self/mountinfo`; a later one on the same
/// point hides the earlier one. Lines that make no sense are left out.
#[must_use]
pub fn mounts(files: &SystemFiles) -> Vec<Mount> {
    let table = files.read("proc/self/mountinfo").unwrap_or_default();
    table.lines().filter_map(mount).collect()
}

/// `NUMBER PARENT DEVICE ROOT POINT OPTIONS [TAG…] - KIND SOURCE OPTIONS`, as proc_pid_mountinfo(5) has
/// it.
fn mount(line: &str) -> Option<Mount> {
    let (place, kind) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let mut kind = kind.split(' ');
    Some(Mount {
        root: unescape(place.next()?),
        point: PathBuf::from(unescape(place.next()?)),
        kind: kind.next()?.to_owned(),
        options: kind.nth(1).unwrap_or_default().to_owned(),
    })
}

/// The kind of file system that holds `folder`, such as `ext4`; `None` where the system doesn't say.
/// `folder` must be absolute and without links.
#[must_use]
pub fn file_system(files: &SystemFiles, folder: &Path) -> Option<String> {
    let above = mounts(files).into_iter();
    let above = above.filter(|mount| folder.starts_with(&mount.point));
    // Of several longest points the last one is taken, which hides the others.
    let nearest = above.max_by_key(|mount| mount.point.components().count());
    nearest.map(|mount| mount.kind)
}

/// File systems over a network: locks and memory maps on them are less certain.
#[must_use]
pub fn is_remote(kind: &str) -> bool {
    const REMOTE: [&str; 8] = [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "9p",
        "ceph",
        "fuse.sshfs",
        "lustre",
    ];
    REMOTE.contains(&kind)
}

/// A name of the table: blanks, tabs, line breaks and backslashes are octal in the table.
fn unescape(text: &str) -> String {
    const ESCAPES: [(&str, &str); 4] = [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ];
    ESCAPES
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_mount_point_counts_and_the_latest_of_two() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("proc/self")).unwrap();
        let table = "1 0 8:1 / / rw - ext4 /dev/a rw\n\
                     2 1 0:2 / /home rw,x shared:1 - nfs4 h:/ rw\n\
                     3 1 0:3 / /a\\040b rw - xfs /dev/b rw\n\
                     4 1 0:4 / /a\\040b rw - tmpfs none rw\n";
        std::fs::write(folder.path().join("proc/self/mountinfo"), table).unwrap();
        let files = SystemFiles::below(folder.path());
        let kind = |path: &str| file_system(&files, Path::new(path)).unwrap();
        assert_eq!(kind("/home/me"), "nfs4");
        assert_eq!(kind("/homes"), "ext4");
        assert_eq!(kind("/a b/c"), "tmpfs");
    }
}
