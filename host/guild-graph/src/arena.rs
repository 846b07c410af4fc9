//! Memory with fixed addresses: what plugins get pointers into.
//!
//! Every access goes through the pointer that the allocation gave, so that a pointer handed to a
//! plugin stays valid beside the host's own reads and writes between calls.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::ptr::NonNull;
use std::sync::OnceLock;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::error::GraphError;

/// Alignment of every arena and of every value in it, in bytes.
pub(crate) const ALIGNMENT_BYTES: u64 = 64;

/// Bytes of a huge page of x86-64, and of aarch64 with small pages of 4 KiB.
pub const HUGE_PAGE_BYTES: usize = 2 << 20;

/// The advice that asks for them; elsewhere the one that asks for nothing.
#[cfg(target_os = "linux")]
const HUGE_PAGES: Advice = Advice::LinuxHugepage;
#[cfg(not(target_os = "linux"))]
const HUGE_PAGES: Advice = Advice::Normal;

/// Bytes of a page, as the kernel told this process in its auxiliary vector; 4096 where it can't be read.
///
/// `rustix::param::page_size` would do, but it ends the process under valgrind, which hides what it
/// looks at.
fn page_bytes() -> usize {
    static PAGE_BYTES: OnceLock<usize> = OnceLock::new();
    *PAGE_BYTES.get_or_init(|| {
        let vector = std::fs::read("/proc/self/auxv").unwrap_or_default();
        page_bytes_in(&vector).unwrap_or(4096)
    })
}

/// The page size in an auxiliary vector: pairs of a key and a value, each as long as an address.
fn page_bytes_in(vector: &[u8]) -> Option<usize> {
    const AT_PAGESZ: usize = 6;
    let number = |bytes: &[u8]| bytes.try_into().ok().map(usize::from_ne_bytes);
    let pairs = vector.chunks_exact(2 * size_of::<usize>());
    let mut pairs = pairs.map(|pair| pair.split_at(size_of::<usize>()));
    let found = pairs.find(|(key, _)| number(key) == Some(AT_PAGESZ));
    let bytes = found.and_then(|(_, value)| number(value));
    bytes.filter(|bytes| bytes.is_power_of_two() && *bytes >= 4096)
}

/// Bytes that a buffer of `bytes` takes from the system: whole pages, at least one.
pub(crate) fn reserved_bytes(bytes: u64) -> u64 {
    let page_bytes = page_bytes() as u64;
    let pages = bytes.max(1).checked_next_multiple_of(page_bytes);
    pages.unwrap_or(u64::MAX)
}

/// Zeroed bytes at a fixed address, in pages of their own, so that what is reserved is exactly
/// [`reserved_bytes`], and goes back to the system with the drop. A page is spent when it is first
/// written, or by [`AlignedBuffer::touch`].
pub(crate) struct AlignedBuffer {
    /// The first byte, at the start of a page.
    data: NonNull<u8>,
    /// Bytes that may be used.
    size: usize,
    /// Bytes that are mapped.
    mapped: usize,
}

impl AlignedBuffer {
    /// Maps `bytes` zeroed bytes, aligned to a page. No page is smaller than 4096 bytes.
    pub(crate) fn zeroed(what: &'static str, bytes: u64) -> Result<AlignedBuffer, GraphError> {
        let memory = GraphError::Memory { what, bytes };
        let sizes = (
            usize::try_from(bytes),
            usize::try_from(reserved_bytes(bytes)),
        );
        let (Ok(size), Ok(mapped)) = sizes else {
            return Err(memory);
        };
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the address is the system's choice, so no other mapping is replaced.
        let map =
            unsafe { mmap_anonymous(core::ptr::null_mut(), mapped, access, MapFlags::PRIVATE) };
        match map.ok().and_then(|start| NonNull::new(start.cast())) {
            Some(data) => Ok(AlignedBuffer { data, size, mapped }),
            None => Err(memory),
        }
    }

    /// Bytes that the buffer takes from the system.
    pub(crate) fn reserved_bytes(&self) -> u64 {
        self.mapped as u64
    }

    /// Asks for pages of 2 MiB where the buffer holds one. It is advice, so a refusal changes nothing. Pages that are
    /// spent already stay as they are.
    pub(crate) fn ask_for_huge_pages(&mut self) {
        if self.mapped >= HUGE_PAGE_BYTES {
            // SAFETY: the range is the buffer's own mapping, and the advice changes nothing of what it holds.
            let _ = unsafe { madvise(self.as_ptr(), self.mapped, HUGE_PAGES) };
        }
    }

    /// Writes to every page, so that all of its memory is spent now. What it holds stays.
    pub(crate) fn touch(&mut self) {
        for offset in (0..self.mapped).step_by(page_bytes()) {
            // SAFETY: the offset lies inside the mapping, and `&mut self` excludes other access.
            unsafe {
                let byte = self.data.as_ptr().add(offset);
                byte.write_volatile(byte.read_volatile());
            }
        }
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

    /// All bytes that may be used.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the allocation has `size` bytes, which are initialised (zeroed). No plugin writes while the borrow
        // lives: plugins run only inside `BoundPlan::run`, which takes the owner by `&mut`.
        unsafe { core::slice::from_raw_parts(self.data.as_ptr(), self.size) }
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
        // SAFETY: `zeroed` mapped these bytes, and nobody has a pointer to them any more: plans drop
        // instances before memory. A failure leaves the mapping, which harms nobody.
        let _ = unsafe { munmap(self.data.as_ptr().cast(), self.mapped) };
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
        let mut buffer = AlignedBuffer::zeroed("test", 256).unwrap();
        assert_eq!(buffer.as_ptr() as usize % 4096, 0);
        assert_eq!(buffer.f32s(0, 64), Some(&[0.0; 64][..]));
        assert_eq!(buffer.f32s(4, 64), None);
        assert_eq!(buffer.f32s(2, 1), None);
        assert!(buffer.at(257).is_null());
        buffer.copy(200, 0, 100);
        buffer.zero(200, usize::MAX);
        assert_eq!(buffer.f32s(0, 64), Some(&[0.0; 64][..]));
    }

    #[test]
    fn the_page_size_is_read_from_the_auxiliary_vector() {
        assert_eq!(page_bytes(), rustix::param::page_size());
        let vector = |pairs: &[[usize; 2]]| -> Vec<u8> {
            let numbers = pairs.as_flattened().iter();
            numbers.flat_map(|number| number.to_ne_bytes()).collect()
        };
        assert_eq!(
            page_bytes_in(&vector(&[[3, 6], [6, 65_536], [0, 0]])),
            Some(65_536)
        );
        assert_eq!(page_bytes_in(&vector(&[[6, 3], [0, 0]])), None);
        assert_eq!(page_bytes_in(&vector(&[[3, 6]])), None);
        assert_eq!(page_bytes_in(&[6, 0, 0]), None);
    }

    #[test]
    fn whole_pages_are_reserved_and_touching_keeps_the_contents() {
        let page_bytes = page_bytes() as u64;
        assert_eq!(reserved_bytes(0), page_bytes);
        assert_eq!(reserved_bytes(page_bytes), page_bytes);
        assert_eq!(reserved_bytes(page_bytes + 1), 2 * page_bytes);
        let mut buffer = AlignedBuffer::zeroed("test", page_bytes + 1).unwrap();
        assert_eq!(buffer.reserved_bytes(), 2 * page_bytes);
        // SAFETY: inside the buffer, which nobody else uses.
        unsafe { buffer.as_ptr().cast::<f32>().write(7.0) };
        buffer.touch();
        assert_eq!(buffer.f32s(0, 2), Some(&[7.0, 0.0][..]));
    }

    #[test]
    fn absurd_sizes_are_an_error() {
        let error = AlignedBuffer::zeroed("test", u64::MAX).err().unwrap();
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
