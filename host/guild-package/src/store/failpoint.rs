//! Places where a test makes a command fail, on the boundaries of `docs/package-format.md`, section 10. Only a build with
//! the feature `failpoints` has them. There `GUILD_FAILPOINT=B4:kill:2` ends the process when it comes to B4 for the
//! second time; other faults are `abort`, `panic`, `eio` (the next sync fails), `enospc` (the next reservation or write
//! fails) and `short` (the next write comes in two parts).

use std::fs::File;
use std::io;

#[cfg(all(feature = "failpoints", not(debug_assertions)))]
compile_error!("a build for use has no failpoints; they are for tests alone");

/// A moment of a change.
#[derive(Clone, Copy, Debug)]
pub(super) enum Boundary {
    /// B0: the lock is taken, nothing is written.
    Locked,
    /// B1: artifacts, manifest and envelope are durable in `staging`.
    Staged,
    /// B2: artifacts have their places.
    ObjectsPublished,
    /// B3: manifest and envelope have theirs.
    MetaPublished,
    /// B4: the generation is in place, and nothing names it.
    GenerationWritten,
    /// B5: `HEAD` is renamed.
    HeadRenamed,
    /// B6: and durable.
    HeadSynced,
    /// B7: `staging` is being cleaned up.
    Cleanup,
    /// B8: inside recovery.
    Recovery,
    /// B9: before `gc` deletes a file.
    Collection,
}

/// The command has come to a boundary.
pub(super) fn reach(boundary: Boundary) {
    #[cfg(feature = "failpoints")]
    plan::reach(boundary as usize);
    #[cfg(not(feature = "failpoints"))]
    let _ = boundary;
}

/// Before each sync.
///
/// # Errors
/// Where the plan is that it fails.
pub(super) fn before_sync() -> io::Result<()> {
    #[cfg(feature = "failpoints")]
    plan::before_sync()?;
    Ok(())
}

/// Before room is reserved.
///
/// # Errors
/// Where the plan is that it fails.
pub(super) fn before_reservation() -> io::Result<()> {
    #[cfg(feature = "failpoints")]
    plan::before_reservation()?;
    Ok(())
}

/// Before each write. How many of the bytes are written already.
///
/// # Errors
/// Where the plan is that it fails.
pub(super) fn before_write(file: &mut File, bytes: &[u8]) -> io::Result<usize> {
    #[cfg(feature = "failpoints")]
    return plan::before_write(file, bytes);
    #[cfg(not(feature = "failpoints"))]
    {
        let _ = (file, bytes);
        Ok(0)
    }
}

#[cfg(feature = "failpoints")]
mod plan {
    use std::fs::File;
    use std::io::{self, Write as _};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rustix::io::Errno;
    use rustix::process::{Signal, getpid, kill_process};

    /// What the variable says.
    struct Plan {
        boundary: usize,
        fault: String,
        times: usize,
    }

    /// How often the boundary was reached.
    static REACHED: AtomicUsize = AtomicUsize::new(0);
    /// Whether the next call of the planned kind fails.
    static ARMED: AtomicUsize = AtomicUsize::new(0);

    fn plan() -> Option<&'static Plan> {
        static PLAN: OnceLock<Option<Plan>> = OnceLock::new();
        PLAN.get_or_init(|| {
            let text = std::env::var("GUILD_FAILPOINT").ok()?;
            let mut parts = text.split(':');
            Some(Plan {
                boundary: parts.next()?.strip_prefix('B')?.parse().ok()?,
                fault: parts.next()?.to_owned(),
                times: parts.next().unwrap_or("1").parse().ok()?,
            })
        })
        .as_ref()
    }

    pub fn reach(boundary: usize) {
        let Some(plan) = plan().filter(|plan| plan.boundary == boundary) else {
            return;
        };
        if REACHED.fetch_add(1, Ordering::Relaxed) + 1 != plan.times {
            return;
        }
        eprintln!("failpoint reached");
        match plan.fault.as_str() {
            "abort" => std::process::abort(),
            "kill" => drop(kill_process(getpid(), Signal::KILL)),
            "panic" => panic!("failpoint"),
            _ => ARMED.store(1, Ordering::Relaxed),
        }
    }

    fn fires(fault: &str) -> bool {
        plan().is_some_and(|plan| plan.fault == fault) && ARMED.swap(0, Ordering::Relaxed) == 1
    }

    fn fails(fault: &str, with: Errno) -> io::Result<()> {
        match fires(fault) {
            true => Err(with.into()),
            false => Ok(()),
        }
    }

    pub fn before_sync() -> io::Result<()> {
        fails("eio", Errno::IO)
    }

    pub fn before_reservation() -> io::Result<()> {
        fails("enospc", Errno::NOSPC)
    }

    pub fn before_write(file: &mut File, bytes: &[u8]) -> io::Result<usize> {
        before_reservation()?;
        match fires("short") {
            true => file.write(&bytes[..bytes.len() / 2]),
            false => Ok(0),
        }
    }
}
