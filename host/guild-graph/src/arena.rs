//! Memory with fixed addresses: what plugins get pointers into.
//!
//! Every access goes through the pointer that the allocation gave, so that a pointer handed to a
//! plugin stays valid beside the host's own reads and writes between calls.

use core::alloc::Layout;
use core::ffi::c_void;
use core::marker::PhantomData;
use core::ptr::NonNull;
use std::alloc::{alloc_zeroed, dealloc};

use crate::error::GraphError;

/// Alignment of every arena and of every value in it, in bytes.
pub(crate) const ALIGNMENT_BYTES: u64 = 64;

/// Zeroed bytes at a fixed address. Large ones come from the system's zero pages, so memory is spent
/// when it is first written.
pub(crate) struct AlignedBuffer {
    /// The first aligned byte of the allocation.
    data: NonNull<u8>,
    /// Bytes from `data` on.
    size: usize,
    allocation: NonNull<u8>,
    layout: Layout,
}

/// The alignment up to which the allocator hands out the system's zero pages as they are; beyond it,
/// it would write every byte, and memory would be spent on pages that nobody uses.
const LAZY_ALIGNMENT_BYTES: usize = 16;

impl AlignedBuffer {
    /// Allocates `bytes` zeroed bytes, aligned to `align`, a power of two, and to 64 at least.
    pub(crate) fn zeroed(
        what: &'static str,
        bytes: u64,
        align: u64,
    ) -> Result<AlignedBuffer, GraphError> {
        let memory = GraphError::Memory { what, bytes };
        let align = align.max(ALIGNMENT_BYTES);
        let (Ok(size), Ok(align)) = (usize::try_from(bytes.max(1)), usize::try_from(align)) else {
            return Err(memory);
        };
        let room = size.checked_add(align);
        let layout = room.map(|room| Layout::from_size_align(room, LAZY_ALIGNMENT_BYTES));
        let Some(Ok(layout)) = layout else {
            return Err(memory);
        };
        // SAFETY: `layout` has a size of at least 1.
        let Some(allocation) = NonNull::new(unsafe { alloc_zeroed(layout) }) else {
            return Err(memory);
        };
        let skipped = allocation.as_ptr().align_offset(align);
        // SAFETY: `skipped` is below `align`, and the allocation has `size + align` bytes. A pointer to
        // bytes can always be aligned.
        let data = unsafe { allocation.add(skipped.min(align)) };
        Ok(AlignedBuffer {
            data,
            size,
            allocation,
            layout,
        })
    }

    /// The first byte. Valid for `len` bytes until the buffer is dropped; it may move meanwhile.
    pub(crate) fn as_ptr(&self) -> *mut c_void {
        self.data.as_ptr().cast()
    }

    /// The address `offset` bytes on; null where that is past the end.
    pub(crate) fn at(&self, offset: u64) -> *mut c_void {
        match usize::try_from(offset) {
            Ok(offset) if offset <= self.size => self.data.as_ptr().wrapping_add(offset).cast(),
            _ => core::ptr::null_mut(),
        }
    }

    /// `count` f32 values from `offset` bytes on; `None` where they don't lie inside, aligned.
    pub(crate) fn f32s(&self, offset: usize, count: usize) -> Option<&[f32]> {
        let end = count.checked_mul(4)?.checked_add(offset)?;
        if end > self.size || !offset.is_multiple_of(4) {
            return None;
        }
        // SAFETY: the range lies inside the allocation, which is initialised (zeroed), and the start is
        // aligned to 64 plus a multiple of 4. No plugin writes while the borrow lives: plugins run only
        // inside `BoundPlan::run`, which takes the owner by `&mut`.
        Some(unsafe { core::slice::from_raw_parts(self.data.as_ptr().add(offset).cast(), count) })
    }

    /// Zeroes `count` bytes from `offset` on. The caller has checked the range against its own table;
    /// a range outside is ignored.
    pub(crate) fn zero(&mut self, offset: usize, count: usize) {
        if offset
            .checked_add(count)
            .is_some_and(|end| end <= self.size)
        {
            // SAFETY: the range lies inside the allocation, and `&mut self` excludes other access.
            unsafe { self.data.as_ptr().add(offset).write_bytes(0, count) };
        }
    }

    /// Copies `count` bytes from offset `from` to offset `to`; ranges outside are ignored.
    pub(crate) fn copy(&mut self, from: usize, to: usize, count: usize) {
        let inside = |start: usize| {
            let end = start.checked_add(count);
            end.is_some_and(|end| end <= self.size)
        };
        if inside(from) && inside(to) {
            let start = self.data.as_ptr();
            // SAFETY: both ranges lie inside the allocation, and `copy_to` allows overlap.
            unsafe { start.add(from).copy_to(start.add(to), count) };
        }
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        // SAFETY: `allocation` came from `alloc_zeroed` with this layout.
        unsafe { dealloc(self.allocation.as_ptr(), self.layout) };
    }
}

/// A table of values at a fixed address, for argument blocks and the batch.
pub(crate) struct FixedTable<T> {
    data: NonNull<T>,
    len: usize,
    owns: PhantomData<T>,
}

impl<T> FixedTable<T> {
    /// Takes the values; their address never changes again.
    pub(crate) fn new(values: Vec<T>) -> FixedTable<T> {
        let boxed = values.into_boxed_slice();
        let len = boxed.len();
        let data = NonNull::from(Box::leak(boxed)).cast();
        FixedTable {
            data,
            len,
            owns: PhantomData,
        }
    }

    /// The first entry.
    pub(crate) fn as_ptr(&self) -> *mut T {
        self.data.as_ptr()
    }

    /// Entry `index`, or null past the end.
    pub(crate) fn at(&self, index: usize) -> *mut T {
        if index < self.len {
            self.data.as_ptr().wrapping_add(index)
        } else {
            core::ptr::null_mut()
        }
    }

    /// Number of entries.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The entries.
    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: `data` points to `len` initialised values. Plugins only read these tables, except
        // error buffers, and only inside a call that the host makes.
        unsafe { core::slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }

    /// The entries, to be changed between calls.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as for `as_slice`; `&mut self` excludes other access by the host, and no call of a
        // plugin is in progress: `BoundPlan::run` takes the owner by `&mut`.
        unsafe { core::slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
    }
}

impl<T> Drop for FixedTable<T> {
    fn drop(&mut self) {
        let slice = core::ptr::slice_from_raw_parts_mut(self.data.as_ptr(), self.len);
        // SAFETY: `data` and `len` came from a leaked boxed slice.
        drop(unsafe { Box::from_raw(slice) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_zeroed_aligned_and_bounded() {
        let mut buffer = AlignedBuffer::zeroed("test", 256, 128).unwrap();
        assert_eq!(buffer.as_ptr() as usize % 128, 0);
        assert_eq!(buffer.f32s(0, 64), Some(&[0.0; 64][..]));
        assert_eq!(buffer.f32s(4, 64), None);
        assert_eq!(buffer.f32s(2, 1), None);
        assert!(buffer.at(257).is_null());
        buffer.copy(200, 0, 100);
        buffer.zero(200, usize::MAX);
        assert_eq!(buffer.f32s(0, 64), Some(&[0.0; 64][..]));
    }

    #[test]
    fn absurd_sizes_are_an_error() {
        let error = AlignedBuffer::zeroed("test", u64::MAX, 64).err().unwrap();
        assert_eq!(error.code(), crate::ErrorCode::Resource);
    }

    #[test]
    fn tables_keep_their_address() {
        let mut table = FixedTable::new(vec![1u32, 2, 3]);
        let before = table.as_ptr();
        table.as_mut_slice()[1] = 7;
        let moved = table;
        assert_eq!(moved.as_ptr(), before);
        assert_eq!(moved.as_slice(), [1, 7, 3]);
        assert!(moved.at(3).is_null());
        assert_eq!(moved.len(), 3);
    }
}
