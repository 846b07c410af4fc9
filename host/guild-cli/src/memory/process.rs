//! What this process has of memory, as `/proc/self/status` says.

use std::sync::OnceLock;

/// Memory of a process, in bytes; 0 where the system doesn't say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ProcessMemory {
    /// Resident now: its own pages and those of files and libraries (`VmRSS`).
    pub resident_bytes: u64,
    /// The most that was resident at once so far (`VmHWM`).
    pub peak_bytes: u64,
    /// Addresses in use (`VmSize`), which `ulimit -v` limits.
    pub address_space_bytes: u64,
    /// Private writable addresses (`VmData`), which `ulimit -d` limits.
    pub data_bytes: u64,
}

impl ProcessMemory {
    /// This process, now.
    #[must_use]
    pub fn now() -> ProcessMemory {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        ProcessMemory::from_status(&status)
    }

    fn from_status(status: &str) -> ProcessMemory {
        let bytes = |name: &str| {
            let mut lines = status.lines();
            let line = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
            kib.map_or(0, |kib: u64| kib.saturating_mul(1024))
        };
        ProcessMemory {
            resident_bytes: bytes("VmRSS"),
            peak_bytes: bytes("VmHWM"),
            address_space_bytes: bytes("VmSize"),
            data_bytes: bytes("VmData"),
        }
    }
}

static AT_START: OnceLock<u64> = OnceLock::new();

/// Bytes that were resident at the first call: [`crate::run`] makes it before a command begins.
pub fn resident_at_start_bytes() -> u64 {
    *AT_START.get_or_init(|| ProcessMemory::now().resident_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_table_is_read() {
        let status = "Name:\tguild\nVmPeak:\t  900 kB\nVmSize:\t  800 kB\nVmHWM:\t   70 kB\nVmRSS:\t   60 kB\nVmData:\t    5 kB\n";
        let expected = ProcessMemory {
            resident_bytes: 60 * 1024,
            peak_bytes: 70 * 1024,
            address_space_bytes: 800 * 1024,
            data_bytes: 5 * 1024,
        };
        assert_eq!(ProcessMemory::from_status(status), expected);
        assert_eq!(ProcessMemory::from_status(""), ProcessMemory::default());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_memory() {
        let now = ProcessMemory::now();
        assert!(now.resident_bytes > 0 && now.peak_bytes >= now.resident_bytes);
        assert!(now.address_space_bytes > now.data_bytes);
    }
}
