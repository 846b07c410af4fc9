//! How long each step took: a second way of walking over the steps.
//!
//! The walk is generic over a [`Watch`]. The one that watches nothing compiles to nothing, so a pass
//! that isn't timed has no branch and no clock in its loop.

use std::time::{Duration, Instant};

/// Sees each step of a pass that ran.
pub(crate) trait Watch {
    /// The first step is about to run.
    fn begin(&mut self);

    /// The step with this number has run on so many rows.
    fn ran(&mut self, step: usize, rows: u64);
}

/// Watches nothing.
pub(crate) struct Unwatched;

impl Watch for Unwatched {
    #[inline(always)]
    fn begin(&mut self) {}

    #[inline(always)]
    fn ran(&mut self, _step: usize, _rows: u64) {}
}

/// Time of each step of one phase.
pub(crate) struct StepTimes {
    pub(crate) steps: Vec<StepTime>,
    last: Instant,
}

/// What one step has taken so far.
#[derive(Clone, Copy, Default)]
pub(crate) struct StepTime {
    pub(crate) calls: u64,
    pub(crate) rows: u64,
    pub(crate) time: Duration,
}

impl StepTimes {
    /// Room for so many steps.
    pub(crate) fn new(steps: usize) -> StepTimes {
        StepTimes {
            steps: vec![StepTime::default(); steps],
            last: Instant::now(),
        }
    }
}

impl Watch for StepTimes {
    fn begin(&mut self) {
        self.last = Instant::now();
    }

    fn ran(&mut self, step: usize, rows: u64) {
        // One reading of the clock a step: the end of one is the beginning of the next.
        let now = Instant::now();
        if let Some(entry) = self.steps.get_mut(step) {
            entry.calls += 1;
            entry.rows += rows;
            entry.time += now - self.last;
        }
        self.last = now;
    }
}
