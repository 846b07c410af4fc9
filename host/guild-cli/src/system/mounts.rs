//! File systems: which one a folder is on.

use crate::system::SystemFiles;
use std::path::Path;

/// The kind of file system that holds `folder`, such as `ext4`; `None` where the system doesn't say.
/// `folder` must be absolute and without links.
#[must_use]
pub fn file_system(files: &SystemFiles, folder: &Path) -> Option<String> {
    let mounts = files.read("proc/self/mountinfo")?;
    let mut best: Option<(usize, String)> = None;
    for line in mounts.lines() {
        let (before, after) = line.split_once(" - ")?;
        let point = unescape(before.split(' ').nth(4)?);
        let kind = after.split(' ').next()?;
        let longer = best
            .as_ref()
            .is_none_or(|(length, _)| point.len() >= *length);
        // A later mount on the same point hides the earlier one.
        if longer && folder.starts_with(&point) {
            best = Some((point.len(), kind.to_owned()));
        }
    }
    best.map(|(_, kind)| kind)
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

/// A mount point's name: blanks, tabs, line breaks and backslashes are octal in the table.
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
