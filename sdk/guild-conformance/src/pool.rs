//! A small thread pool for the kit: as many threads as a loop may use, started for each loop.
#![allow(unsafe_code)]

use core::ffi::c_void;
use core::sync::atomic::{AtomicU64, Ordering};
use guild_abi::abi::{GUILD_STATUS_OK, guild_par, guild_range_fn, guild_status};

/// The host's side of `guild_par`.
pub(crate) struct Pool {
    workers: u32,
}

impl Pool {
    pub(crate) const fn new(workers: u32) -> Pool {
        Pool { workers }
    }

    /// The table; valid while `self` stays where it is.
    pub(crate) fn table(&self) -> guild_par {
        guild_par {
            size: size_of::<guild_par>() as u32,
            workers: self.workers,
            ctx: core::ptr::from_ref(self).cast_mut().cast(),
            par_for: Some(par_for),
            reserved: [0; 2],
        }
    }
}

/// The `user` pointer of a loop, on its way to the workers.
#[derive(Clone, Copy)]
struct User(*mut c_void);

// SAFETY: the contract of `par_for` lets chunks run on any thread.
unsafe impl Send for User {}

impl User {
    fn get(self) -> *mut c_void {
        self.0
    }
}

/// # Safety
/// As `guild_par.par_for` in `abi.h` says; `ctx` points to a [`Pool`].
unsafe extern "C" fn par_for(
    ctx: *mut c_void,
    n: u64,
    grain: u64,
    _domain: u32,
    function: guild_range_fn,
    user: *mut c_void,
) -> guild_status {
    // SAFETY: the kit's own context, alive during the call.
    let pool = unsafe { &*ctx.cast::<Pool>() };
    let Some(function) = function else {
        return GUILD_STATUS_OK;
    };
    let grain = grain.max(1);
    let next = AtomicU64::new(0);
    let user = User(user);
    std::thread::scope(|scope| {
        for worker in 0..pool.workers {
            let next = &next;
            scope.spawn(move || {
                loop {
                    let lo = next.fetch_add(grain, Ordering::Relaxed);
                    if lo >= n {
                        break;
                    }
                    // SAFETY: the plugin's function takes its own `user`, disjoint chunks at once.
                    unsafe { function(user.get(), lo, (lo + grain).min(n), worker) };
                }
            });
        }
    });
    GUILD_STATUS_OK
}
