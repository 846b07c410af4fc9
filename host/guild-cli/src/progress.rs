//! Progress of long work: a bar on a terminal, a line now and then elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The least time between two lines where there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(5);
/// The least part of the work between two lines, as `1 / LINE_PARTS`.
const LINE_PARTS: u64 = 10;

/// Shows how far a piece of work is. Any thread may report. A bar vanishes when this is dropped, so work that fails
/// leaves none.
#[derive(Debug)]
pub struct Progress(Shown);

#[derive(Debug)]
enum Shown {
    Nothing,
    Bar(ProgressBar),
    Lines(Mutex<Lines>),
}

impl Progress {
    /// Shows nothing.
    #[must_use]
    pub fn hidden() -> Progress {
        Progress(Shown::Nothing)
    }

    /// Shows `what` over `total` steps on stderr: a bar on a terminal, else plain lines.
    #[must_use]
    pub fn new(total: u64, what: &'static str) -> Progress {
        if !std::io::stderr().is_terminal() {
            return Progress(Shown::Lines(Mutex::new(Lines::new(total, what))));
        }
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
        let plain_bar = "{msg} [{bar:32}] {pos}/{len} {elapsed}";
        if let Ok(style) = ProgressStyle::with_template(plain_bar) {
            bar.set_style(style);
        }
        bar.set_message(what);
        Progress(Shown::Bar(bar))
    }

    /// `steps` more are done.
    pub fn inc(&self, steps: u64) {
        match &self.0 {
            Shown::Nothing => {}
            Shown::Bar(bar) => bar.inc(steps),
            Shown::Lines(lines) => report(lines, |lines| lines.done + steps),
        }
    }

    /// `done` steps are done in all.
    pub fn set_position(&self, done: u64) {
        match &self.0 {
            Shown::Nothing => {}
            Shown::Bar(bar) => bar.set_position(done),
            Shown::Lines(lines) => report(lines, |_| done),
        }
    }

    /// Prints a line above the bar; nothing where there is no bar.
    pub fn println(&self, line: impl AsRef<str>) {
        if let Shown::Bar(bar) = &self.0 {
            bar.println(line);
        }
    }

    /// Does something with the bar out of the way.
    pub fn suspend<T>(&self, action: impl FnOnce() -> T) -> T {
        match &self.0 {
            Shown::Bar(bar) => bar.suspend(action),
            Shown::Nothing | Shown::Lines(_) => action(),
        }
    }

    /// The work has ended; a bar vanishes.
    pub fn finish_and_clear(&self) {
        if let Shown::Bar(bar) = &self.0 {
            // A bar that ended has left the screen; what stands there now isn't its own.
            if !bar.is_finished() {
                bar.finish_and_clear();
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish_and_clear();
    }
}

/// Prints a line if one is due.
fn report(lines: &Mutex<Lines>, done: impl FnOnce(&Lines) -> u64) {
    // A reporter that panicked leaves nothing half-done that matters here.
    let mut lines = lines
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let done = done(&lines);
    if let Some(line) = lines.advance(done, Instant::now()) {
        // A line that can't be written has no reader.
        let _ = writeln!(std::io::stderr().lock(), "{line}");
    }
}

/// When lines are due: after [`LINE_INTERVAL`] and a tenth of the work, whichever comes later.
#[derive(Debug)]
struct Lines {
    what: &'static str,
    total: u64,
    done: u64,
    shown: u64,
    started: Instant,
    last: Instant,
}

impl Lines {
    fn new(total: u64, what: &'static str) -> Lines {
        let now = Instant::now();
        Lines {
            what,
            total,
            done: 0,
            shown: 0,
            started: now,
            last: now,
        }
    }

    fn advance(&mut self, done: u64, now: Instant) -> Option<String> {
        self.done = done;
        let step = (self.total / LINE_PARTS).max(1);
        let due = done >= self.shown.saturating_add(step)
            && now.saturating_duration_since(self.last) >= LINE_INTERVAL;
        if !due {
            return None;
        }
        self.shown = done;
        self.last = now;
        let seconds = now.saturating_duration_since(self.started).as_secs();
        Some(format!("{} {done}/{} {seconds}s", self.what, self.total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_of_work_that_failed_vanishes() {
        let bar = ProgressBar::hidden();
        let fail = || -> Result<(), ()> {
            let _progress = Progress(Shown::Bar(bar.clone()));
            Err(())
        };
        assert!(fail().is_err());
        assert!(bar.is_finished());
    }

    #[test]
    fn lines_come_at_most_every_interval_and_every_tenth() {
        let mut lines = Lines::new(100, "work");
        let start = lines.started;
        let after = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(lines.advance(50, after(4)), None, "too soon");
        assert_eq!(lines.advance(51, after(6)).unwrap(), "work 51/100 6s");
        assert_eq!(lines.advance(60, after(12)), None, "too little");
        assert_eq!(lines.advance(61, after(12)).unwrap(), "work 61/100 12s");
        assert_eq!(lines.advance(100, after(16)), None, "too soon again");
    }
}
