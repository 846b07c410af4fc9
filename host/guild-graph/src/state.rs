//! The memory that outlives a call: KV pages and recurrent slots.
//!
//! All of it is reserved when a plan is bound, zeroed by the system when it is first touched.

use core::ffi::c_void;

use crate::arena::AlignedBuffer;
use crate::error::GraphError;
use crate::graph::{Section, StateKind};
use crate::sizes::{Sizes, StateSize};

/// The states of a section.
pub struct StatePools {
    pools: Vec<Pool>,
}

struct Pool {
    kind: StateKind,
    size: StateSize,
    buffer: AlignedBuffer,
}

impl StatePools {
    /// Reserves every page and slot of the section's states.
    pub(crate) fn new(section: &Section, sizes: &Sizes) -> Result<StatePools, GraphError> {
        let pools = section.states.iter().map(|state| {
            let size = sizes.state(state);
            let what = match state.kind {
                StateKind::Append => "the KV pages of a state",
                StateKind::Recurrent => "the slots of a recurrent state",
            };
            let buffer = AlignedBuffer::zeroed(what, size.bytes())?;
            Ok(Pool {
                kind: state.kind,
                size,
                buffer,
            })
        });
        Ok(StatePools {
            pools: pools.collect::<Result<_, GraphError>>()?,
        })
    }

    /// Zeroes a slot of every recurrent state: the start of a sequence. Append-only states need no
    /// reset, since positions that were not written are never read. A slot that doesn't exist is
    /// ignored.
    pub fn reset_slot(&mut self, slot: u32) {
        for pool in self.recurrent() {
            if u64::from(slot) < pool.size.count {
                let stride = pool.size.stride_bytes as usize;
                pool.buffer.zero(slot as usize * stride, stride);
            }
        }
    }

    /// Copies a slot of every recurrent state onto another: saves or restores a snapshot. Slots that
    /// don't exist are ignored.
    pub fn copy_slot(&mut self, from: u32, to: u32) {
        for pool in self.recurrent() {
            if u64::from(from.max(to)) < pool.size.count {
                let stride = pool.size.stride_bytes as usize;
                pool.buffer
                    .copy(from as usize * stride, to as usize * stride, stride);
            }
        }
    }

    /// What each state holds, in the order of the graph: all of its pages or slots. Positions that were not written
    /// are zero until a sequence has left something there.
    pub fn contents(&self) -> impl Iterator<Item = (StateKind, &[u8])> {
        self.pools
            .iter()
            .map(|pool| (pool.kind, pool.buffer.bytes()))
    }

    /// The memory of each state.
    pub(crate) fn buffers(&mut self) -> impl Iterator<Item = &mut AlignedBuffer> {
        self.pools.iter_mut().map(|pool| &mut pool.buffer)
    }

    /// The first page or slot of a state.
    pub(crate) fn address(&self, state: usize) -> *mut c_void {
        self.pools
            .get(state)
            .map_or(core::ptr::null_mut(), |pool| pool.buffer.as_ptr())
    }

    fn recurrent(&mut self) -> impl Iterator<Item = &mut Pool> {
        self.pools
            .iter_mut()
            .filter(|pool| pool.kind == StateKind::Recurrent)
    }
}

/// Bytes of append-only and of recurrent states.
pub(crate) fn state_bytes(section: &Section, sizes: &Sizes) -> (u64, u64) {
    let bytes = |kind: StateKind| {
        let of_kind = section.states.iter().filter(|state| state.kind == kind);
        of_kind.map(|state| sizes.state(state).bytes()).sum()
    };
    (bytes(StateKind::Append), bytes(StateKind::Recurrent))
}
