//! The thread pool behind `guild_par`.
//!
//! One loop runs at a time. The caller is worker 0 and never waits for a thread that hasn't joined
//! the loop, so a sleeping thread costs nothing but its absence. Workers spin for a short while
//! between loops, since operations of one token follow each other closely, then park.

use guild_abi::abi::{
    GUILD_STATUS_ERR_INVALID, GUILD_STATUS_OK, guild_par, guild_range_fn, guild_status,
};
use guild_graph::ParallelFor;
use std::any::Any;
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

/// How long a worker looks for the next loop before it parks.
const SPIN_TIME: Duration = Duration::from_micros(200);

/// A fixed set of threads; dropping it ends them.
pub struct ThreadPool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    par: Box<guild_par>,
}

// SAFETY: the one field that isn't `Send` and `Sync` by itself is the table, whose `ctx` points to
// `shared`; that is `Sync`, and the table is never written.
unsafe impl Send for ThreadPool {}
// SAFETY: as above.
unsafe impl Sync for ThreadPool {}

impl ThreadPool {
    /// Starts `workers - 1` threads; the caller of a loop is the remaining worker. All of them run when this
    /// returns, so that what a thread allocates as it begins is over before the first loop.
    ///
    /// # Errors
    /// The system's error where a thread can't be started.
    pub fn new(workers: u32) -> std::io::Result<ThreadPool> {
        let workers = workers.max(1);
        let shared = Arc::new(Shared::new(workers));
        let (begun, beginning) = std::sync::mpsc::channel();
        let mut threads = Vec::new();
        for worker in 1..workers {
            let shared_with_thread = Arc::clone(&shared);
            let begun = begun.clone();
            let thread = std::thread::Builder::new()
                .name(format!("guild-worker-{worker}"))
                .spawn(move || {
                    // Nobody listens any more where another thread could not be started.
                    let _ = begun.send(());
                    drop(begun);
                    shared_with_thread.work(worker);
                });
            match thread {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    shared.stop(&threads);
                    return Err(error);
                }
            }
        }
        // Ends when every thread has dropped its end.
        drop(begun);
        beginning.iter().for_each(drop);
        shared.set_threads(
            threads
                .iter()
                .map(|thread| thread.thread().clone())
                .collect(),
        );
        let par = Box::new(guild_par {
            size: size_of::<guild_par>() as u32,
            workers,
            ctx: Arc::as_ptr(&shared).cast_mut().cast(),
            par_for: Some(par_for),
            reserved: [0; 2],
        });
        Ok(ThreadPool {
            shared,
            threads,
            par,
        })
    }

    /// Workers, the caller included.
    #[must_use]
    pub fn workers(&self) -> u32 {
        self.par.workers
    }

    /// The table that plugins call; its address stays the same while the pool lives.
    #[must_use]
    pub fn par(&self) -> *const guild_par {
        &raw const *self.par
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.shared.stop(&self.threads);
        for thread in self.threads.drain(..) {
            // A worker runs plugin code behind a C wall, so a panic can't reach this point; if one
            // did, the loop it belonged to has already reported it.
            let _ = thread.join();
        }
    }
}

/// The pool as a plan takes it; the plan keeps it alive.
#[must_use]
pub fn parallel_for(pool: &Arc<ThreadPool>) -> ParallelFor {
    let owner: Arc<dyn Any + Send + Sync> = Arc::<ThreadPool>::clone(pool);
    // SAFETY: the table and the state behind its `ctx` belong to the pool, which lives until `owner`
    // is dropped; `par_for` may be called from any thread.
    unsafe { ParallelFor::new(pool.par(), owner) }
}

/// Workers that this process may use: what affinity and the control group's quota allow.
#[must_use]
pub fn allowed_workers() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
}

/// The loop being run, written by the caller before the gate opens.
#[derive(Clone, Copy)]
struct Job {
    items: u64,
    grain: u64,
    function: guild_range_fn,
    user: *mut c_void,
}

/// Gate word: epoch in the upper half, then the open bit, then the number of joined threads.
const OPEN: u64 = 1 << 31;
const JOINED: u64 = OPEN - 1;
const EPOCH_SHIFT: u32 = 32;

struct Shared {
    workers: u32,
    /// True while a loop runs, or while somebody sets one up.
    busy: AtomicBool,
    gate: AtomicU64,
    next_chunk: AtomicU64,
    left: AtomicU64,
    stopping: AtomicBool,
    sleeping: Vec<AtomicBool>,
    job: UnsafeCell<Job>,
    threads: std::sync::OnceLock<Vec<Thread>>,
}

// SAFETY: `job` is written only by the thread that holds `busy`, before it opens the gate with
// release ordering and after every thread that joined the previous loop has left it; it is read
// only by threads that joined through an acquiring exchange on the open gate. The raw `user`
// pointer is handed to the caller's function alone, which promised in `par_for`'s contract to
// accept it on any worker. All other fields are atomics or set once.
unsafe impl Sync for Shared {}
// SAFETY: as above; nothing in it is bound to one thread.
unsafe impl Send for Shared {}

impl Shared {
    fn new(workers: u32) -> Shared {
        Shared {
            workers,
            busy: AtomicBool::new(false),
            gate: AtomicU64::new(0),
            next_chunk: AtomicU64::new(0),
            left: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
            sleeping: (0..workers).map(|_| AtomicBool::new(false)).collect(),
            job: UnsafeCell::new(Job {
                items: 0,
                grain: 1,
                function: None,
                user: std::ptr::null_mut(),
            }),
            threads: std::sync::OnceLock::new(),
        }
    }

    fn set_threads(&self, threads: Vec<Thread>) {
        // Called once, by `ThreadPool::new`.
        let _ = self.threads.set(threads);
    }

    fn stop(&self, threads: &[JoinHandle<()>]) {
        self.stopping.store(true, Ordering::SeqCst);
        for thread in threads {
            thread.thread().unpark();
        }
    }

    /// A worker thread's life.
    fn work(&self, worker: u32) {
        let mut seen_epoch = 0;
        while let Some(epoch) = self.wait_for_loop(worker, seen_epoch) {
            seen_epoch = epoch;
            // SAFETY: this thread joined the loop, so the gate's acquire made `job` visible, and the
            // caller doesn't change it before this thread has left.
            let job = unsafe { *self.job.get() };
            self.run_chunks(&job, worker);
            self.left.fetch_add(1, Ordering::Release);
        }
    }

    /// Joins the next loop and returns its epoch; `None` when the pool ends.
    fn wait_for_loop(&self, worker: u32, seen_epoch: u64) -> Option<u64> {
        let mut spinning_since = Instant::now();
        let mut turns = 0u32;
        loop {
            if self.stopping.load(Ordering::Relaxed) {
                return None;
            }
            let gate = self.gate.load(Ordering::Acquire);
            let epoch = gate >> EPOCH_SHIFT;
            if gate & OPEN != 0 && epoch != seen_epoch {
                let joined = self.gate.compare_exchange_weak(
                    gate,
                    gate + 1,
                    Ordering::AcqRel,
                    Ordering::Relaxed,
                );
                if joined.is_ok() {
                    return Some(epoch);
                }
                continue;
            }
            std::hint::spin_loop();
            turns = turns.wrapping_add(1);
            if turns.is_multiple_of(64) && spinning_since.elapsed() > SPIN_TIME {
                self.sleep(worker, seen_epoch);
                spinning_since = Instant::now();
            }
        }
    }

    fn sleep(&self, worker: u32, seen_epoch: u64) {
        let flag = &self.sleeping[worker as usize];
        flag.store(true, Ordering::SeqCst);
        // The caller opens the gate before it looks at the flag, this thread looks at the gate after
        // it has set the flag: one of the two sees the other.
        let gate = self.gate.load(Ordering::SeqCst);
        let has_work = gate & OPEN != 0 && gate >> EPOCH_SHIFT != seen_epoch;
        if !has_work && !self.stopping.load(Ordering::SeqCst) {
            std::thread::park();
        }
        flag.store(false, Ordering::SeqCst);
    }

    /// Takes chunks in ascending order until none is left.
    fn run_chunks(&self, job: &Job, worker: u32) {
        let Some(function) = job.function else { return };
        let chunks = job.items.div_ceil(job.grain);
        loop {
            let chunk = self.next_chunk.fetch_add(1, Ordering::Relaxed);
            if chunk >= chunks {
                return;
            }
            let low = chunk * job.grain;
            let high = (low + job.grain).min(job.items);
            // SAFETY: `function` and `user` come from the caller of `par_for`, who promises that they
            // may be called with any chunk on any worker until the loop returns.
            unsafe { function(job.user, low, high, worker) };
        }
    }

    /// Runs a loop on every worker that is there in time.
    fn run_parallel(&self, job: Job) {
        // SAFETY: this thread holds `busy`, and every thread that joined the last loop has left it.
        unsafe { *self.job.get() = job };
        self.next_chunk.store(0, Ordering::Relaxed);
        self.left.store(0, Ordering::Relaxed);
        let epoch = (self.gate.load(Ordering::Relaxed) >> EPOCH_SHIFT).wrapping_add(1);
        self.gate
            .store((epoch << EPOCH_SHIFT) | OPEN, Ordering::SeqCst);
        self.wake_sleepers();
        self.run_chunks(&job, 0);
        let joined = self.gate.fetch_and(!OPEN, Ordering::AcqRel) & JOINED;
        while self.left.load(Ordering::Acquire) != joined {
            std::hint::spin_loop();
        }
    }

    fn wake_sleepers(&self) {
        let Some(threads) = self.threads.get() else {
            return;
        };
        for (flag, thread) in self.sleeping[1..].iter().zip(threads) {
            if flag.load(Ordering::SeqCst) {
                thread.unpark();
            }
        }
    }
}

/// `guild_par.par_for` of the host's pool.
///
/// # Safety
/// `ctx` is the pool's own context, and the pool outlives the call; `function` accepts `user` with
/// any chunk of `0..items` on any worker until the call returns.
unsafe extern "C" fn par_for(
    ctx: *mut c_void,
    items: u64,
    grain: u64,
    _domain: u32,
    function: guild_range_fn,
    user: *mut c_void,
) -> guild_status {
    if ctx.is_null() || function.is_none() {
        return GUILD_STATUS_ERR_INVALID;
    }
    // SAFETY: `ctx` is the address of the pool's `Shared`, which outlives the call.
    let shared = unsafe { &*ctx.cast::<Shared>() };
    let job = Job {
        items,
        grain: grain.max(1),
        function,
        user,
    };
    let wants_help = shared.workers > 1 && items > job.grain;
    // A nested or concurrent loop finds the pool busy and runs inline.
    let have_pool = wants_help
        && shared
            .busy
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_ok();
    if have_pool {
        shared.run_parallel(job);
        shared.busy.store(false, Ordering::Release);
    } else {
        run_inline(&job);
    }
    GUILD_STATUS_OK
}

fn run_inline(job: &Job) {
    let Some(function) = job.function else { return };
    let mut low = 0;
    while low < job.items {
        let high = low.saturating_add(job.grain).min(job.items);
        // SAFETY: as in `run_chunks`.
        unsafe { function(job.user, low, high, 0) };
        low = high;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    struct Seen {
        per_item: Vec<AtomicU32>,
        workers: Vec<AtomicU32>,
    }

    unsafe extern "C" fn mark(user: *mut c_void, low: u64, high: u64, worker: u32) {
        // SAFETY: `user` is the `Seen` that the test keeps alive during the loop.
        let seen = unsafe { &*user.cast::<Seen>() };
        for item in low..high {
            seen.per_item[item as usize].fetch_add(1, Ordering::Relaxed);
        }
        seen.workers[worker as usize].fetch_add(1, Ordering::Relaxed);
    }

    fn run(pool: &ThreadPool, items: u64, grain: u64) -> Seen {
        let seen = Seen {
            per_item: (0..items).map(|_| AtomicU32::new(0)).collect(),
            workers: (0..pool.workers()).map(|_| AtomicU32::new(0)).collect(),
        };
        // SAFETY: the table belongs to the living pool; `mark` accepts any chunk on any worker.
        let status = unsafe {
            let par = &*pool.par();
            let user = (&raw const seen).cast_mut().cast();
            par.par_for.unwrap()(par.ctx, items, grain, 0, Some(mark), user)
        };
        assert_eq!(status, GUILD_STATUS_OK);
        seen
    }

    #[test]
    fn every_item_runs_once_for_any_size_and_grain() {
        for workers in [1, 2, 5] {
            let pool = ThreadPool::new(workers).unwrap();
            for items in [0, 1, 2, 63, 64, 1000] {
                for grain in [0, 1, 7, 64, 5000] {
                    let seen = run(&pool, items, grain);
                    assert!(
                        seen.per_item
                            .iter()
                            .all(|count| count.load(Ordering::Relaxed) == 1)
                    );
                }
            }
        }
    }

    #[test]
    fn ten_thousand_small_loops_and_sleeps_lose_nothing() {
        let pool = ThreadPool::new(3).unwrap();
        for turn in 0..10_000 {
            let seen = run(&pool, 8, 1);
            assert!(
                seen.per_item
                    .iter()
                    .all(|count| count.load(Ordering::Relaxed) == 1)
            );
            if turn % 2_000 == 0 {
                std::thread::sleep(SPIN_TIME * 3);
            }
        }
    }

    #[test]
    fn a_nested_loop_runs_inline() {
        struct Outer<'a> {
            pool: &'a ThreadPool,
            inner_runs: AtomicU32,
        }
        unsafe extern "C" fn count(user: *mut c_void, low: u64, high: u64, worker: u32) {
            assert_eq!(worker, 0);
            // SAFETY: `user` is the counter of the outer loop's `Outer`.
            let runs = unsafe { &*user.cast::<AtomicU32>() };
            runs.fetch_add((high - low) as u32, Ordering::Relaxed);
        }
        unsafe extern "C" fn outer(user: *mut c_void, low: u64, high: u64, _worker: u32) {
            // SAFETY: `user` is the `Outer` that the test keeps alive during the loop.
            let outer = unsafe { &*user.cast::<Outer<'_>>() };
            for _ in low..high {
                // SAFETY: the pool is alive; `count` accepts any chunk.
                unsafe {
                    let par = &*outer.pool.par();
                    let runs = (&raw const outer.inner_runs).cast_mut().cast();
                    par.par_for.unwrap()(par.ctx, 10, 3, 0, Some(count), runs);
                }
            }
        }
        let pool = ThreadPool::new(2).unwrap();
        let state = Outer {
            pool: &pool,
            inner_runs: AtomicU32::new(0),
        };
        // SAFETY: as above.
        unsafe {
            let par = &*pool.par();
            let user = (&raw const state).cast_mut().cast();
            par.par_for.unwrap()(par.ctx, 4, 1, 0, Some(outer), user);
        }
        assert_eq!(state.inner_runs.load(Ordering::Relaxed), 40);
    }

    #[test]
    fn a_null_function_is_refused() {
        let pool = ThreadPool::new(1).unwrap();
        // SAFETY: the table belongs to the living pool.
        let status = unsafe {
            let par = &*pool.par();
            par.par_for.unwrap()(par.ctx, 1, 1, 0, None, std::ptr::null_mut())
        };
        assert_eq!(status, GUILD_STATUS_ERR_INVALID);
    }
}
