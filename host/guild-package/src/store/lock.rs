//! Advisory locks on an open file description: the kernel drops them with the last descriptor, so a
//! killed process leaves none behind. The host never forks without exec, which would share one.

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::error::{Error, Result};
use crate::store::path::StorePath;
use crate::store::state::Root;

/// How often a busy lock is tried again.
const RETRY_MS: u64 = 10;

/// The store's writer lock. Held from before the state is read until after it is committed.
#[derive(Debug)]
pub(super) struct WriterLock(
    #[expect(dead_code, reason = "closing the file releases the lock")] File,
);

impl WriterLock {
    /// Takes the lock, waiting up to `wait_ms`.
    ///
    /// # Errors
    /// [`Error::StoreLocked`] when the time is over.
    pub fn take(root: &Root, wait_ms: u64) -> Result<Self> {
        let path = StorePath::fixed("LOCK");
        let file = root.fs.open_lock(&path).map_err(root.io("open", &path))?;
        let deadline = Instant::now() + Duration::from_millis(wait_ms);
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self(file)),
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(RETRY_MS));
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) => {
                    return Err(Error::StoreLocked {
                        path: root.path.clone(),
                        waited_ms: wait_ms,
                    });
                }
                Err(error) => return Err(root.io("lock", &path)(error.into())),
            }
        }
    }
}

/// Takes a shared lock, waiting for a writer that holds it for the moment of its commit.
pub(super) fn share(file: &File) -> io::Result<()> {
    loop {
        match flock(file, FlockOperation::LockShared) {
            Err(Errno::INTR) => {}
            other => return Ok(other?),
        }
    }
}

/// Whether nobody shares the lock. It is held exclusively until `file` is closed.
pub(super) fn try_exclusive(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
