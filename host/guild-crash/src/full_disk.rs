//! A full disk: an operation runs with too little room at each call that takes some, and what it leaves is held to the
//! invariants.

use std::io::ErrorKind;
use std::sync::Arc;

use guild_package::Error;

use crate::error::{CrashError, Result};
use crate::invariant::{Invariant, Violation};
use crate::memory_fs::MemoryFs;
use crate::trial::Trial;

/// What an operation did on full disks.
#[derive(Clone, Debug, Default)]
pub struct FullDisks {
    /// Runs: one for each call that takes room, on a disk that lacks one byte for it.
    pub runs: usize,
    /// Runs that said that the disk is full.
    pub refused: usize,
    /// Those of them in which room could not be reserved, so that no byte of the file was written.
    pub at_reservation: usize,
    /// What doesn't hold.
    pub violations: Vec<Violation>,
}

impl Trial<'_> {
    /// Runs the operation in memory on a disk that becomes full at each call that takes room.
    ///
    /// # Errors
    /// Where the operation fails on an empty disk.
    pub fn on_full_disks(&self) -> Result<FullDisks> {
        let fs = Arc::new(MemoryFs::with_room(self.prepared.clone(), u64::MAX));
        let (operation, workshop) = (self.judge.operation, self.judge.workshop);
        operation.run(workshop, fs.clone())?;
        let mut found = FullDisks::default();
        for mark in fs.marks() {
            self.with_room(mark - 1, &mut found);
        }
        Ok(found)
    }

    fn with_room(&self, bytes: u64, found: &mut FullDisks) {
        let fs = Arc::new(MemoryFs::with_room(self.prepared.clone(), bytes));
        let ran = self.judge.operation.run(self.judge.workshop, fs.clone());
        found.runs += 1;
        let wrong = match &ran {
            Ok(()) => None,
            Err(CrashError::Package(Error::Io { action, source, .. }))
                if source.kind() == ErrorKind::StorageFull =>
            {
                found.refused += 1;
                found.at_reservation += usize::from(action.starts_with("reserve"));
                None
            }
            Err(other) => Some(Violation::new(Invariant::OldOrNew, other)),
        };
        // There is room again afterwards.
        let left = fs.disk().settled();
        let wrong = wrong.or_else(|| self.judge.image(&left, ran.is_ok()).err());
        found.violations.extend(wrong.map(|violation| Violation {
            place: format!("with room for {bytes} bytes"),
            ..violation
        }));
    }
}
