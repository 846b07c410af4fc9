//! The thread pool that the engine hands in.

use core::any::Any;
use std::sync::Arc;

use guild_abi::abi::guild_par;

/// A thread pool in the ABI's terms, kept alive as long as plans use it.
#[derive(Clone)]
pub struct ParallelFor {
    table: Option<&'static guild_par>,
    /// Owns what the table's `ctx` points to.
    _owner: Option<Arc<dyn Any + Send + Sync>>,
}

impl ParallelFor {
    /// No pool: every operation runs on the calling thread.
    #[must_use]
    pub const fn none() -> ParallelFor {
        ParallelFor {
            table: None,
            _owner: None,
        }
    }

    /// Wraps a pool's table.
    ///
    /// # Safety
    /// `par_for` keeps the contract of `guild/abi.h` and may be called from the thread that runs the
    /// plan, whichever it is. The table and what its `ctx` points to live until `owner` is dropped.
    pub unsafe fn new(table: *const guild_par, owner: Arc<dyn Any + Send + Sync>) -> ParallelFor {
        ParallelFor {
            // SAFETY: the table lives as long as `owner`, which lies beside the reference and is
            // dropped with it; the reference doesn't leave this type but as a raw pointer.
            table: unsafe { table.as_ref() },
            _owner: Some(owner),
        }
    }

    /// The table for `guild_exec.par`; null without a pool.
    pub(crate) fn raw(&self) -> *const guild_par {
        self.table.map_or(core::ptr::null(), core::ptr::from_ref)
    }
}
