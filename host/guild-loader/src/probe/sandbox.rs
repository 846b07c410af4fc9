//! What keeps a trial run from the rest of the system: limits, no new privileges, Landlock and a filter of
//! system calls. Applied by the child to itself, before it maps a library, and never taken back.

use std::fs;
use std::io;

use guild_package::probe::Sandbox;
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd,
    RestrictSelf, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::process::{DumpableBehavior, Resource, Rlimit};

use crate::maps;
use crate::probe::filter;

/// Newest Landlock version whose rights are taken away; the kernel's own may be older.
const LANDLOCK: ABI = ABI::V9;
/// Processor time of a trial run.
const CPU_SECONDS: u64 = 10;
/// Address space of a trial run: the host, the library and small test tensors.
const ADDRESS_BYTES: u64 = 2 << 30;
/// Descriptors of a trial run; most are below it already.
const DESCRIPTORS: u64 = 32;
/// Says which answers the system's filter of system calls can give.
const SECCOMP_ACTIONS: &str = "/proc/sys/kernel/seccomp/actions_avail";

/// What this system offers, without restricting anything.
#[must_use]
pub fn available() -> Sandbox {
    let landlock = RestrictSelf::default().no_new_privs(false).apply();
    let actions = fs::read_to_string(SECCOMP_ACTIONS).unwrap_or_default();
    Sandbox {
        landlock_abi: landlock.map_or(0, |status| version(&status.landlock)),
        seccomp: actions
            .split_ascii_whitespace()
            .any(|action| action == "kill_process"),
    }
}

/// Shuts this process in for good, as far as the system can, and says how far that is. Call it on the only
/// thread.
///
/// # Errors
/// A limit that the system refuses; those need nothing but Linux.
pub(super) fn close() -> io::Result<Sandbox> {
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    limit(Resource::Cpu, CPU_SECONDS)?;
    limit(Resource::As, ADDRESS_BYTES)?;
    limit(Resource::Nofile, DESCRIPTORS)?;
    // A core that is piped to a program ignores the limit on cores.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    rustix::thread::set_no_new_privs(true)?;
    Ok(Sandbox {
        landlock_abi: restrict_files().unwrap_or(0),
        // Last, since the filter shuts out the calls above.
        seccomp: filter::apply().is_ok(),
    })
}

/// At most this, or what the host has where that is less: nobody but root can ask for more.
fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let most = capped(most, rustix::process::getrlimit(resource).maximum);
    let limit = Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    Ok(rustix::process::setrlimit(resource, limit)?)
}

fn capped(most: u64, inherited: Option<u64>) -> u64 {
    inherited.map_or(most, |inherited| most.min(inherited))
}

/// Takes away every right on files, ports and other processes but reading [`maps::PATH`], which proves which file the
/// library was mapped from. Memory files stay reachable: they lie on no file system that can be mounted, and Landlock leaves those alone.
fn restrict_files() -> Result<u64, RulesetError> {
    let file = PathFd::new(maps::PATH);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(LANDLOCK))?
        .handle_access(AccessNet::from_all(LANDLOCK))?
        .scope(Scope::from_all(LANDLOCK))?
        .create()?;
    if let Ok(file) = &file {
        ruleset = ruleset.add_rule(PathBeneath::new(file, AccessFs::ReadFile))?;
    }
    let status = ruleset.restrict_self()?;
    // The rule is on the name in memory that this descriptor keeps; it must outlive the trial run.
    if let Ok(file) = file {
        std::mem::forget(file);
    }
    Ok(version(&status.landlock))
}

fn version(status: &LandlockStatus) -> u64 {
    match status {
        LandlockStatus::Available { effective_abi, .. } => *effective_abi as u64,
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_never_asks_for_more_than_there_is() {
        assert_eq!(capped(10, None), 10);
        assert_eq!(capped(10, Some(20)), 10);
        assert_eq!(capped(10, Some(5)), 5);
    }

    /// Asking is no restriction: this process can ask again, and open files.
    #[test]
    fn what_there_is_can_be_asked_without_losing_anything() {
        let first = available();
        assert_eq!(first, available());
        assert!(fs::read(maps::PATH).is_ok() && fs::read("/proc/self/status").is_ok());
    }
}
