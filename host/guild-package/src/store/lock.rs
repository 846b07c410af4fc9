//! Advisory locks on an open file description: the kernel drops them with the last descriptor, so a
//! killed process leaves none behind. The host never forks without exec, which would share one.
//!
//! They are the kind of `F_OFD_SETLK`, where an exclusive lock asks for a descriptor that may write. In a store that
//! everybody reads, a user who may only read can hold a lease and nothing more.

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

use crate::error::{Error, Result};
use crate::store::path::StorePath;
use crate::store::state::Root;

/// How often a busy lock is tried again.
const RETRY_MS: u64 = 10;

/// The store's writer lock. Held from before the state is read until after it is committed.
#[derive(Debug)]
pub(crate) struct WriterLock(
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
            match try_exclusive(&file).map_err(root.io("lock", &path))? {
                true => return Ok(Self(file)),
                false if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(RETRY_MS));
                }
                false => {
                    return Err(Error::StoreLocked {
                        path: root.path.clone(),
                        waited_ms: wait_ms,
                    });
                }
            }
        }
    }
}

/// Takes a shared lock, waiting for a writer that holds it for the moment of its commit.
pub(super) fn share(file: &File) -> io::Result<()> {
    let lock = whole_file(libc::F_RDLCK);
    loop {
        match fcntl(file, FcntlArg::F_OFD_SETLKW(&lock)) {
            Err(Errno::EINTR) => {}
            other => return Ok(other.map(|_| ())?),
        }
    }
}

/// Whether nobody else has the lock. It is held exclusively until `file`, which may write, is closed.
pub(super) fn try_exclusive(file: &File) -> io::Result<bool> {
    let lock = whole_file(libc::F_WRLCK);
    match fcntl(file, FcntlArg::F_OFD_SETLK(&lock)) {
        Ok(_) => Ok(true),
        Err(Errno::EAGAIN | Errno::EACCES | Errno::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether nobody has the lock; it isn't taken.
pub(super) fn is_free(file: &File) -> io::Result<bool> {
    let mut lock = whole_file(libc::F_WRLCK);
    fcntl(file, FcntlArg::F_OFD_GETLK(&mut lock))?;
    Ok(i32::from(lock.l_type) == libc::F_UNLCK)
}

fn whole_file(kind: libc::c_int) -> libc::flock {
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}
