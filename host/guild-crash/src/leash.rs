//! The process that runs an operation, so that whoever ends the check can end it too: it would go on writing to a folder
//! that is being removed.

use std::io;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Holds the one process that runs, if one does. Clones hold the same one.
#[derive(Clone, Debug, Default)]
pub struct Leash(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    child: Option<Child>,
    is_cut: bool,
}

impl Leash {
    /// Ends the process, waits until it is gone, and lets none start any more.
    pub fn cut(&self) {
        let mut held = self.held();
        held.is_cut = true;
        if let Some(mut child) = held.child.take() {
            // One that has ended can't be killed any more, and is waited for all the same.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Starts the process. What it says comes out of what is returned; both must be piped.
    pub(crate) fn start(&self, command: &mut Command) -> io::Result<(ChildStdout, ChildStderr)> {
        let mut held = self.held();
        if held.is_cut {
            return Err(gone());
        }
        let mut child = command.spawn()?;
        let pipes = child.stdout.take().zip(child.stderr.take());
        held.child = Some(child);
        pipes.ok_or_else(|| io::Error::other("what a process says isn't piped"))
    }

    /// Kills the process, if it still runs.
    pub(crate) fn kill(&self) {
        if let Some(child) = &mut self.held().child {
            // One that has ended can't be killed any more, and needn't.
            let _ = child.kill();
        }
    }

    /// How the process ended, which has closed its pipes.
    pub(crate) fn wait(&self) -> io::Result<ExitStatus> {
        let child = self.held().child.take();
        child.ok_or_else(gone)?.wait()
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn gone() -> io::Error {
    io::Error::other("the check was ended")
}
