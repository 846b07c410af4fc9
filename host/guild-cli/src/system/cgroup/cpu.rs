//! The processor time that the control groups leave this process.

use super::{Group, Version, groups};
use crate::system::SystemFiles;

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
    let mut limits = Limits::default();
    for group in groups(files, "cpu") {
        match group.version {
            Version::One => version_1(files, &group, &mut limits),
            Version::Two => version_2(files, &group, &mut limits),
        }
    }
    limits
}

fn version_2(files: &SystemFiles, group: &Group, limits: &mut Limits) {
    if files
        .read(group.folder.join("cgroup.controllers"))
        .is_some()
    {
        limits.version = limits.version.max(2);
    }
    if let Some(text) = files.read(group.folder.join("cpu.max")) {
        let mut words = text.split_whitespace();
        let quota = words.next().and_then(|word| word.parse().ok());
        let period = words.next().and_then(|word| word.parse().ok());
        limits.tighten(quota, period);
    }
}

fn version_1(files: &SystemFiles, group: &Group, limits: &mut Limits) {
    // A quota of -1 is none.
    let number = |name: &str| -> Option<u64> { files.read(group.folder.join(name))?.parse().ok() };
    let (quota, period) = (number("cpu.cfs_quota_us"), number("cpu.cfs_period_us"));
    if period.is_some() {
        limits.version = limits.version.max(1);
    }
    limits.tighten(quota.map(|n| n as f64), period.map(|n| n as f64));
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
    use super::super::tests::system;
    use super::*;

    #[test]
    fn version_2_takes_the_tightest_limit_of_the_path() {
        let (_folder, files) = system(&[
            (
                "proc/self/mountinfo",
                "1 0 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
            ),
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

    /// Where the tree is mounted is the system's choice.
    #[test]
    fn version_1_reads_its_own_tree() {
        let (_folder, files) = system(&[
            (
                "proc/self/mountinfo",
                "1 0 0:1 / /dev/groups rw - cgroup cgroup rw,cpu,cpuacct\n",
            ),
            ("proc/self/cgroup", "4:memory:/x\n3:cpu,cpuacct:/x\n"),
            ("dev/groups/x/cpu.cfs_quota_us", "200000\n"),
            ("dev/groups/x/cpu.cfs_period_us", "100000\n"),
        ]);
        let found = limits(&files);
        assert_eq!((found.version, found.cpus), (1, Some(2.0)));
    }

    #[test]
    fn without_groups_and_without_limits_there_are_none() {
        let (_folder, files) = system(&[
            (
                "proc/self/mountinfo",
                "1 0 0:1 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n",
            ),
            ("proc/self/cgroup", "0::/\n3:cpu:/\nnonsense\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ]);
        let found = limits(&files);
        assert_eq!((found.version, found.cpus), (1, None));
    }
}
