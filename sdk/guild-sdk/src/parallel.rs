//! The host's thread pool for kernels: ranges, and memory split into disjoint parts.
#![allow(unsafe_code)]

use crate::kernel::Failure;
use crate::tiles::Split;
use core::ffi::c_void;
use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};
use guild_abi::abi::{GUILD_STATUS_OK, guild_par};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The host's thread pool during one call. Loops return when all their tasks are done; nothing is
/// allocated. A panic inside a task is caught and reported after the loop.
#[derive(Clone, Copy)]
pub struct Par<'a> {
    raw: Option<&'a guild_par>,
}

// SAFETY: the host's table is read-only during the call, and a nested `par_for` runs inline.
unsafe impl Sync for Par<'_> {}

impl<'a> Par<'a> {
    /// One thread: loops run in place.
    pub const INLINE: Par<'static> = Par { raw: None };

    /// Upper bound (exclusive) of the worker number, at least 1.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.raw.map_or(1, |raw| (raw.workers as usize).max(1))
    }

    /// Runs `task(range, worker)` over `0..n` in ranges of `grain` items; the last may be shorter.
    /// Ranges start in ascending order.
    ///
    /// # Errors
    /// `PANIC` when a task panicked, or the pool's own error; some tasks may not have run then.
    pub fn for_range<F>(&self, n: usize, grain: usize, task: F) -> Result<(), Failure>
    where
        F: Fn(Range<usize>, usize) + Sync,
    {
        let grain = grain.max(1);
        if n == 0 {
            return Ok(());
        }
        let Some((raw, par_for)) = self.raw.and_then(|raw| Some((raw, raw.par_for?))) else {
            let mut lo = 0;
            while lo < n {
                let hi = lo.saturating_add(grain).min(n);
                task(lo..hi, 0);
                lo = hi;
            }
            return Ok(());
        };
        let job = Job {
            task: &task,
            n,
            workers: self.workers(),
            fault: AtomicU32::new(0),
        };
        let user = core::ptr::from_ref(&job).cast_mut().cast::<c_void>();
        // SAFETY: the host's function takes its own context; it calls `run_range::<F>` with `user`,
        // which lives until `par_for` returns, and only before it returns.
        let status = unsafe {
            par_for(
                raw.ctx,
                n as u64,
                grain as u64,
                0,
                Some(run_range::<F>),
                user,
            )
        };
        match job.fault.load(Ordering::Acquire) {
            0 if status == GUILD_STATUS_OK => Ok(()),
            0 => Err(Failure::new(status.min(-1), "the thread pool failed")),
            FAULT_PANIC => Err(Failure::panic("a task of a parallel loop panicked")),
            _ => Err(Failure::internal(
                "the thread pool called a task with a range or worker outside its bounds",
            )),
        }
    }

    /// Gives each task one part of `parts`: `task(index, part)`, `grain` tasks in a row on one
    /// worker.
    ///
    /// # Errors
    /// As [`Par::for_range`]; `INTERNAL` where `parts` has no count of its own.
    pub fn split<S, F>(&self, parts: S, grain: usize, task: F) -> Result<(), Failure>
    where
        S: Split,
        F: for<'t> Fn(usize, S::Part<'t>) + Sync,
    {
        let Some(count) = parts.count() else {
            return Err(Failure::internal("a split needs a count"));
        };
        self.for_range(count, grain, |range, worker| {
            for index in range {
                // SAFETY: `index < count`; the pool runs each index once (the host's duty); the part
                // can't outlive this iteration, as `task` takes it for any `'t`; a worker runs one
                // task at a time. `parts` is owned here until the loop is over.
                task(index, unsafe { parts.part(index, worker) });
            }
        })
    }

    /// Wraps the host's table.
    ///
    /// # Safety
    /// `raw` is null, or points to a table as `abi.h` says, valid during `'a`.
    pub(crate) unsafe fn new(raw: *const guild_par) -> Result<Par<'a>, Failure> {
        // SAFETY: the caller's promise.
        let raw = unsafe { raw.as_ref() };
        if raw.is_some_and(|raw| (raw.size as usize) < size_of::<guild_par>()) {
            return Err(Failure::invalid("the thread pool's size is wrong"));
        }
        Ok(Par { raw })
    }
}

const FAULT_PANIC: u32 = 1;
const FAULT_RANGE: u32 = 2;

/// What travels through `user`.
struct Job<'j, F> {
    task: &'j F,
    n: usize,
    workers: usize,
    fault: AtomicU32,
}

/// The function that the pool calls.
///
/// # Safety
/// `user` points to a live `Job<F>`.
unsafe extern "C" fn run_range<F>(user: *mut c_void, lo: u64, hi: u64, worker: u32)
where
    F: Fn(Range<usize>, usize) + Sync,
{
    // SAFETY: the caller's promise; `Job` is shared between threads, and `F` is `Sync`.
    let job = unsafe { &*user.cast::<Job<'_, F>>() };
    let (lo, hi, worker) = (lo as usize, hi as usize, worker as usize);
    if lo > hi || hi > job.n || worker >= job.workers {
        job.fault.store(FAULT_RANGE, Ordering::Release);
        return;
    }
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| (job.task)(lo..hi, worker))) {
        // The payload's own drop may panic.
        core::mem::forget(payload);
        job.fault.store(FAULT_PANIC, Ordering::Release);
    }
}
