//! Scratch buffers: cut, typed, one for each worker.
#![allow(unsafe_code)]

use crate::kernel::Failure;
use crate::tensor::{Element, Geometry, TensorMut};
use crate::tiles::PerWorker;
use core::marker::PhantomData;

/// A scratch buffer.
pub struct Scratch<'a> {
    data: *mut u8,
    bytes: usize,
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> Scratch<'a> {
    /// Bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Cuts off the first `bytes`, rounded up to a multiple of 64, as a buffer of its own.
    ///
    /// # Errors
    /// `SCRATCH_SMALL` where there are fewer.
    pub fn cut(&mut self, bytes: usize) -> Result<Scratch<'a>, Failure> {
        let Some(whole) = bytes
            .checked_next_multiple_of(64)
            .filter(|&n| n <= self.bytes)
        else {
            return Err(Failure::scratch_small("a scratch buffer is too small"));
        };
        let front = Scratch {
            data: self.data,
            bytes: whole,
            memory: PhantomData,
        };
        self.data = self.data.wrapping_add(whole);
        self.bytes -= whole;
        Ok(front)
    }

    /// The same memory for a shorter time.
    pub fn reborrow(&mut self) -> Scratch<'_> {
        Scratch {
            data: self.data,
            bytes: self.bytes,
            memory: PhantomData,
        }
    }

    /// The buffer's first `len` elements.
    ///
    /// # Errors
    /// `SCRATCH_SMALL` where it holds fewer, `INTERNAL` where its alignment is below `T`'s.
    pub fn slice<T: Element>(self, len: usize) -> Result<&'a mut [T], Failure> {
        let data = self.typed::<T>(len)?;
        // SAFETY: `typed` checked length and alignment; the buffer is exclusive for `'a`.
        Ok(unsafe { core::slice::from_raw_parts_mut(data, len) })
    }

    /// The buffer as `rows` rows of `columns` elements without gaps.
    ///
    /// # Errors
    /// As [`Scratch::slice`].
    pub fn matrix<T: Element>(
        self,
        rows: usize,
        columns: usize,
    ) -> Result<TensorMut<'a, T>, Failure> {
        let data = self.typed::<T>(rows.saturating_mul(columns))?;
        // SAFETY: as in `slice`; the geometry is that of `rows * columns` elements.
        Ok(unsafe { TensorMut::from_parts(data, Geometry::matrix(rows, columns, columns)) })
    }

    /// A buffer of `len` elements for each of `workers` workers, for [`Par::split`].
    ///
    /// # Errors
    /// As [`Scratch::slice`].
    pub fn per_worker<T: Element>(
        self,
        workers: usize,
        len: usize,
    ) -> Result<PerWorker<'a, T>, Failure> {
        let data = self.typed::<T>(workers.saturating_mul(len))?;
        // SAFETY: as in `slice`.
        Ok(unsafe { PerWorker::new(data, len, workers) })
    }

    /// Wraps the host's buffer.
    ///
    /// # Safety
    /// `bytes` bytes from `data` on are initialised and exclusive during `'a`.
    pub(crate) unsafe fn new(data: *mut u8, bytes: usize) -> Scratch<'a> {
        Scratch {
            data,
            bytes,
            memory: PhantomData,
        }
    }

    fn typed<T: Element>(&self, len: usize) -> Result<*mut T, Failure> {
        if len
            .checked_mul(size_of::<T>())
            .is_none_or(|bytes| bytes > self.bytes)
        {
            return Err(Failure::scratch_small("a scratch buffer is too small"));
        }
        let data: *mut T = self.data.cast();
        if !data.is_aligned() {
            return Err(Failure::internal(
                "a scratch buffer's alignment is too small",
            ));
        }
        Ok(data)
    }
}
