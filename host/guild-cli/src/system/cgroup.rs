//! The processor time that the control groups leave this process, versions 1 and 2. Their memory is in
//! [`crate::memory::limits`].

use crate::system::SystemFiles;

/// Where the groups are mounted, relative to the root.
const MOUNT: &str = "sys/fs/cgroup";

/// The tightest limits along the path from the root group to the process's own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// The version of the groups that limit the processor: 1 or 2; 0 where there are none.
    pub version: u32,
    /// Processor time for each unit of time, such as 1.5 processors.
    pub cpus: Option<f64>,
}

/// Reads the limits.
#[must_use]
pub fn limits(files: &SystemFiles) -> Limits {
    let groups = files.read("proc/self/cgroup").unwrap_or_default();
    let mut limits = Limits::default();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        if controllers.is_empty() {
            version_2(files, path, &mut limits);
        }
        if controllers.split(',').any(|controller| controller == "cpu") {
            version_1(files, path, &mut limits);
        }
    }
    limits
}

/// The group's folder and those above it. In a container the path may name a group that isn't mounted;
/// its files are missing then, and the mount's own root still counts.
fn folders(mount: &str, path: &str) -> Vec<String> {
    let mut folders = vec![mount.to_owned()];
    for part in path
        .split('/')
        .filter(|part| !part.is_empty() && *part != "..")
    {
        let last = folders.last().map_or("", String::as_str);
        folders.push(format!("{last}/{part}"));
    }
    folders
}

fn version_2(files: &SystemFiles, path: &str, limits: &mut Limits) {
    for folder in folders(MOUNT, path) {
        if files.read(format!("{folder}/cgroup.controllers")).is_some() {
            limits.version = limits.version.max(2);
        }
        if let Some(text) = files.read(format!("{folder}/cpu.max")) {
            let mut words = text.split_whitespace();
            let quota = words.next().and_then(|word| word.parse().ok());
            let period = words.next().and_then(|word| word.parse().ok());
            limits.tighten(quota, period);
        }
    }
}

fn version_1(files: &SystemFiles, path: &str, limits: &mut Limits) {
    for folder in folders(&format!("{MOUNT}/cpu"), path) {
        let quota = number(files, &format!("{folder}/cpu.cfs_quota_us"));
        let period = number(files, &format!("{folder}/cpu.cfs_period_us"));
        if period.is_some() {
            limits.version = limits.version.max(1);
        }
        limits.tighten(quota.map(|n| n as f64), period.map(|n| n as f64));
    }
}

/// A file with one number; `max` and -1 are none.
fn number(files: &SystemFiles, path: &str) -> Option<u64> {
    files.read(path)?.parse().ok()
}

impl Limits {
    fn tighten(&mut self, quota: Option<f64>, period: Option<f64>) {
        let (Some(quota), Some(period)) = (quota, period) else {
            return;
        };
        if quota > 0.0 && period > 0.0 {
            let cpus = quota / period;
            self.cpus = Some(self.cpus.map_or(cpus, |before| before.min(cpus)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(contents: &[(&str, &str)]) -> (tempfile::TempDir, SystemFiles) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in contents {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let files = SystemFiles::below(folder.path());
        (folder, files)
    }

    #[test]
    fn version_2_takes_the_tightest_limit_of_the_path() {
        let (_folder, files) = files(&[
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/cgroup.controllers", "cpu memory\n"),
            ("sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
        ]);
        let expected = Limits {
            version: 2,
            cpus: Some(1.5),
        };
        assert_eq!(limits(&files), expected);
    }

    #[test]
    fn version_1_reads_its_own_tree() {
        let (_folder, files) = files(&[
            ("proc/self/cgroup", "4:memory:/x\n3:cpu,cpuacct:/x\n"),
            ("sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "200000\n"),
            ("sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n"),
        ]);
        let found = limits(&files);
        assert_eq!((found.version, found.cpus), (1, Some(2.0)));
    }

    #[test]
    fn without_groups_and_without_limits_there_are_none() {
        let (_folder, files) = files(&[
            ("proc/self/cgroup", "0::/\n3:cpu:/\nnonsense\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ]);
        let found = limits(&files);
        assert_eq!(found.cpus, None);
    }
}
