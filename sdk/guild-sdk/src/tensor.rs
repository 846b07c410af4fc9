//! Safe views of tensors: [`Tensor`] to read activations, [`TensorMut`] to write them, [`Weight`]
//! for weights in any format.
//!
//! A view is checked when it is made: rank, format, alignment, strides, and that every element lies
//! inside `byte_len`. Accessors check indexes and panic on a wrong one; the shim turns that into
//! `PANIC`. An activation is seen as rows of heads of `dim` contiguous elements: rank 3 is
//! `[rows, heads, dim]`, rank 2 is one head, rank 1 is one row of one head. Beyond rank 3 the middle
//! axes are one axis of heads.
#![allow(unsafe_code)]

use crate::format::{self, Storage};
use crate::kernel::Failure;
use crate::tiles::Tiles;
use core::marker::PhantomData;
use guild_abi::abi::{GUILD_SPACE_DEVICE, GUILD_TENSOR_DYNAMIC_ROWS, guild_tensor};
use guild_abi::formats::{GUILD_FORMAT_BF16, GUILD_FORMAT_F16, GUILD_FORMAT_F32, GUILD_FORMAT_I32};

/// An element that views hand out.
///
/// # Safety
/// No padding, no invalid byte patterns, alignment equal to size.
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// Whether memory of this format holds such elements.
    fn reads(format: u32) -> bool;
}

// SAFETY: any four bytes are an f32.
unsafe impl Element for f32 {
    fn reads(format: u32) -> bool {
        format == GUILD_FORMAT_F32
    }
}
// SAFETY: any four bytes are an i32.
unsafe impl Element for i32 {
    fn reads(format: u32) -> bool {
        format == GUILD_FORMAT_I32
    }
}
// SAFETY: any two bytes are a u16.
unsafe impl Element for u16 {
    fn reads(format: u32) -> bool {
        matches!(format, GUILD_FORMAT_F16 | GUILD_FORMAT_BF16)
    }
}
/// Elements that scratch has and tensors don't.
macro_rules! scratch_element {
    ($($element:ty),*) => {$(
        // SAFETY: an integer; any bytes are a value.
        unsafe impl Element for $element {
            fn reads(_format: u32) -> bool {
                false
            }
        }
    )*};
}
scratch_element!(i8, u8, i16, u32, u64);

/// Where elements lie, in elements: rows, each of heads, each of `dim` contiguous elements. Rows
/// come in groups of `group` (a state slot with inner rows); a plain matrix is one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub rows: usize,
    pub group: usize,
    pub group_stride: usize,
    pub row_stride: usize,
    pub heads: usize,
    pub head_stride: usize,
    pub dim: usize,
}

impl Geometry {
    /// `rows` rows of `columns` elements, `row_stride` apart.
    pub(crate) const fn matrix(rows: usize, columns: usize, row_stride: usize) -> Geometry {
        Geometry {
            rows,
            group: if rows == 0 { 1 } else { rows },
            group_stride: 0,
            row_stride,
            heads: 1,
            head_stride: columns,
            dim: columns,
        }
    }

    /// Elements from the start to one head of one row.
    ///
    /// # Panics
    /// When there is no such row or head.
    #[inline]
    pub(crate) fn offset(&self, row: usize, head: usize) -> usize {
        assert!(
            row < self.rows && head < self.heads,
            "row {row}, head {head} of [{}, {}]",
            self.rows,
            self.heads
        );
        let (group, inner) = if self.rows == self.group {
            (0, row)
        } else {
            (row / self.group, row % self.group)
        };
        group * self.group_stride + inner * self.row_stride + head * self.head_stride
    }

    /// Elements of one row from its first to its last, gaps included.
    pub(crate) fn row_extent(&self) -> Option<usize> {
        if self.heads == 0 || self.dim == 0 {
            return Some(0);
        }
        (self.heads - 1)
            .checked_mul(self.head_stride)?
            .checked_add(self.dim)
    }

    /// Elements from the first to the last, gaps included; `None` on overflow.
    pub(crate) fn extent(&self) -> Option<usize> {
        let row = self.row_extent()?;
        if self.rows == 0 || row == 0 {
            return Some(0);
        }
        let groups = self.rows.div_ceil(self.group);
        let inner = self.rows.min(self.group);
        (groups - 1)
            .checked_mul(self.group_stride)?
            .checked_add((inner - 1).checked_mul(self.row_stride)?)?
            .checked_add(row)
    }

    /// Whether no two elements share an address.
    pub(crate) fn is_injective(&self) -> bool {
        let Some(row) = self.row_extent() else {
            return false;
        };
        let inner = self.rows.min(self.group);
        let group = inner.saturating_sub(1).saturating_mul(self.row_stride) + row;
        (self.heads <= 1 || self.head_stride >= self.dim)
            && (inner <= 1 || self.row_stride >= row)
            && (self.rows <= self.group || self.group_stride >= group)
    }

    /// The same elements with the heads of a row as one head, where they lie without gaps.
    pub(crate) fn packed_rows(&self) -> Option<Geometry> {
        if self.heads > 1 && self.head_stride != self.dim {
            return None;
        }
        let dim = self.heads * self.dim;
        Some(Geometry {
            heads: 1,
            head_stride: dim,
            dim,
            ..*self
        })
    }
}

/// Read access to an activation, `[rows, heads, dim]`.
#[derive(Clone, Copy)]
pub struct Tensor<'a, T> {
    data: *const T,
    geometry: Geometry,
    memory: PhantomData<&'a [T]>,
}

// SAFETY: a `Tensor` is a shared slice with strides; `Element`s are `Sync`.
unsafe impl<T: Element> Send for Tensor<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for Tensor<'_, T> {}

impl<'a, T: Element> Tensor<'a, T> {
    /// Rows in this call.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.geometry.rows
    }

    /// Heads of a row; 1 for rank 1 and 2.
    #[must_use]
    pub fn heads(&self) -> usize {
        self.geometry.heads
    }

    /// Elements of a head.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.geometry.dim
    }

    /// One head of one row, `[dim]`.
    ///
    /// # Panics
    /// When there is no such row or head.
    #[inline]
    #[must_use]
    pub fn vector(&self, row: usize, head: usize) -> &'a [T] {
        let offset = self.geometry.offset(row, head);
        // SAFETY: the view's maker checked that all elements of all rows are readable for `'a` and
        // not written; `offset` is that of an existing head.
        unsafe { core::slice::from_raw_parts(self.data.add(offset), self.geometry.dim) }
    }

    /// One whole row, `[heads * dim]`.
    ///
    /// # Panics
    /// When there is no such row, or when its heads have gaps between them.
    #[inline]
    #[must_use]
    pub fn row(&self, row: usize) -> &'a [T] {
        self.packed_rows()
            .expect("the row's heads have gaps between them; read them with `vector`")
            .vector(row, 0)
    }

    /// The same tensor as `[rows, 1, heads * dim]`, where a row's heads have no gaps between them.
    #[must_use]
    pub fn packed_rows(&self) -> Option<Tensor<'a, T>> {
        Some(Tensor {
            geometry: self.geometry.packed_rows()?,
            ..*self
        })
    }

    /// Views an input tensor; `rows` is the length of axis 0 where it is dynamic.
    ///
    /// # Safety
    /// `tensor` is valid as `abi.h` says; its elements are initialised and not written during `'a`.
    pub(crate) unsafe fn new(tensor: &guild_tensor, rows: usize) -> Result<Tensor<'a, T>, Failure> {
        let geometry = geometry::<T>(tensor, rows)?;
        Ok(Tensor {
            data: data_or_dangling(tensor.data.cast(), &geometry),
            geometry,
            memory: PhantomData,
        })
    }

    pub(crate) fn parts(&self) -> (*const T, Geometry) {
        (self.data, self.geometry)
    }
}

/// Exclusive access to an output, to scratch or to the inside of a state, `[rows, heads, dim]`.
pub struct TensorMut<'a, T> {
    data: *mut T,
    geometry: Geometry,
    memory: PhantomData<&'a mut [T]>,
}

// SAFETY: a `TensorMut` is an exclusive slice with strides; `Element`s are `Send`.
unsafe impl<T: Element> Send for TensorMut<'_, T> {}
// SAFETY: shared access to it only reads; `Element`s are `Sync`.
unsafe impl<T: Element> Sync for TensorMut<'_, T> {}

impl<'a, T: Element> TensorMut<'a, T> {
    /// Rows in this call.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.geometry.rows
    }

    /// Heads of a row; 1 for rank 1 and 2, and for scratch.
    #[must_use]
    pub fn heads(&self) -> usize {
        self.geometry.heads
    }

    /// Elements of a head.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.geometry.dim
    }

    /// One head of one row, `[dim]`, to read.
    ///
    /// # Panics
    /// When there is no such row or head.
    #[inline]
    #[must_use]
    pub fn vector(&self, row: usize, head: usize) -> &[T] {
        let offset = self.geometry.offset(row, head);
        // SAFETY: `self` has exclusive access to all elements, and lends it shared; `offset` is that
        // of an existing head.
        unsafe { core::slice::from_raw_parts(self.data.add(offset), self.geometry.dim) }
    }

    /// One head of one row, `[dim]`, to write.
    ///
    /// # Panics
    /// When there is no such row or head.
    #[inline]
    pub fn vector_mut(&mut self, row: usize, head: usize) -> &mut [T] {
        let offset = self.geometry.offset(row, head);
        // SAFETY: `self` has exclusive access to all elements, and lends it exclusively; `offset` is
        // that of an existing head.
        unsafe { core::slice::from_raw_parts_mut(self.data.add(offset), self.geometry.dim) }
    }

    /// The same memory for a shorter time.
    pub fn reborrow(&mut self) -> TensorMut<'_, T> {
        TensorMut {
            data: self.data,
            geometry: self.geometry,
            memory: PhantomData,
        }
    }

    /// The same memory to read, on any number of workers.
    #[must_use]
    pub fn as_tensor(&self) -> Tensor<'_, T> {
        Tensor {
            data: self.data,
            geometry: self.geometry,
            memory: PhantomData,
        }
    }

    /// The same memory as `[rows, 1, heads * dim]`, where a row's heads have no gaps between them.
    #[must_use]
    pub fn packed_rows(self) -> Option<TensorMut<'a, T>> {
        Some(TensorMut {
            geometry: self.geometry.packed_rows()?,
            ..self
        })
    }

    /// Splits into tiles of `row_block` rows and `head_block` heads, for [`crate::Par::split`].
    #[must_use]
    pub fn tiles(self, row_block: usize, head_block: usize) -> Tiles<'a, T> {
        // SAFETY: `self` had exclusive access for `'a` and is consumed; its maker checked that no
        // two elements share an address.
        unsafe {
            Tiles::new(
                self.data,
                self.geometry,
                row_block,
                head_block,
                self.geometry.dim,
            )
        }
    }

    /// Splits each row's `heads * dim` columns into bands of `column_block`, and the rows into blocks
    /// of `row_block`, for [`crate::Par::split`]. `None` where a row's heads have gaps between them.
    #[must_use]
    pub fn column_tiles(self, row_block: usize, column_block: usize) -> Option<Tiles<'a, T>> {
        let TensorMut { data, geometry, .. } = self.packed_rows()?;
        // SAFETY: as in `tiles`.
        Some(unsafe { Tiles::new(data, geometry, row_block, 1, column_block) })
    }

    /// Views an output tensor; `rows` is the length of axis 0 where it is dynamic.
    ///
    /// # Safety
    /// `tensor` is valid as `abi.h` says; its elements are initialised, and nothing else accesses
    /// them during `'a`.
    pub(crate) unsafe fn new(
        tensor: &guild_tensor,
        rows: usize,
    ) -> Result<TensorMut<'a, T>, Failure> {
        let geometry = geometry::<T>(tensor, rows)?;
        if !geometry.is_injective() {
            return Err(Failure::invalid("an output's strides overlap"));
        }
        let data: *const T = data_or_dangling(tensor.data.cast(), &geometry);
        // SAFETY: the caller's promise; `geometry` lies inside `byte_len` and is injective.
        Ok(unsafe { TensorMut::from_parts(data.cast_mut(), geometry) })
    }

    /// Views raw memory.
    ///
    /// # Safety
    /// All elements of `geometry` from `data` on are aligned, initialised and exclusive during `'a`;
    /// no two share an address.
    pub(crate) unsafe fn from_parts(data: *mut T, geometry: Geometry) -> TensorMut<'a, T> {
        TensorMut {
            data,
            geometry,
            memory: PhantomData,
        }
    }

    /// Gives up the right to write.
    #[must_use]
    pub fn into_tensor(self) -> Tensor<'a, T> {
        Tensor {
            data: self.data,
            geometry: self.geometry,
            memory: PhantomData,
        }
    }
}

/// Whether a weight's rows and experts may have gaps behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gaps {
    None,
    Allowed,
}

/// A weight in any format, read-only: `[rows, k]`, or `[experts, rows, k]`, or `[k]` as one row. It has gaps
/// only where it was asked for with [`crate::Exec::weight_with_gaps`].
#[derive(Clone, Copy)]
pub struct Weight<'a> {
    bytes: &'a [u8],
    format: u32,
    experts: usize,
    rows: usize,
    elems: usize,
    row_bytes: usize,
    /// Bytes from a row to the next.
    row_stride: usize,
    /// Bytes from an expert to the next.
    expert_stride: usize,
}

impl<'a> Weight<'a> {
    /// One of `GUILD_FORMAT_*`.
    #[must_use]
    pub fn format(&self) -> u32 {
        self.format
    }

    /// Length of the leading axis of a rank-3 weight, else 1.
    #[must_use]
    pub fn experts(&self) -> usize {
        self.experts
    }

    /// Rows of one expert.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Elements of a row.
    #[must_use]
    pub fn elems(&self) -> usize {
        self.elems
    }

    /// Bytes of a row.
    #[must_use]
    pub fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// Bytes from a row to the next.
    #[must_use]
    pub fn row_stride(&self) -> usize {
        self.row_stride
    }

    /// All bytes, gaps between rows included.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Bytes of some rows of the first expert, gaps between them included.
    ///
    /// # Panics
    /// When there are no such rows, or none.
    #[inline]
    #[must_use]
    pub fn row_range(&self, first: usize, count: usize) -> &'a [u8] {
        assert!(count > 0, "no rows are asked for");
        let bytes = (count - 1) * self.row_stride + self.row_bytes;
        &self.bytes[first * self.row_stride..][..bytes]
    }

    /// One row's bytes.
    ///
    /// # Panics
    /// When there is no such row; rows count through all experts.
    #[inline]
    #[must_use]
    pub fn row(&self, row: usize) -> &'a [u8] {
        let at = if row < self.rows {
            row * self.row_stride
        } else {
            row / self.rows * self.expert_stride + row % self.rows * self.row_stride
        };
        &self.bytes[at..][..self.row_bytes]
    }

    /// One expert's part, with `experts() == 1`.
    ///
    /// # Panics
    /// When there is no such expert.
    #[inline]
    #[must_use]
    pub fn expert(&self, expert: usize) -> Weight<'a> {
        let bytes = match self.rows {
            0 => 0,
            rows => (rows - 1) * self.row_stride + self.row_bytes,
        };
        Weight {
            bytes: &self.bytes[expert * self.expert_stride..][..bytes],
            experts: 1,
            ..*self
        }
    }

    /// Rows `first`, `first + step` and so on of each expert, `count` of them.
    ///
    /// # Panics
    /// When there are no such rows, or none.
    #[must_use]
    pub fn every(&self, first: usize, step: usize, count: usize) -> Weight<'a> {
        assert!(step > 0 && count > 0 && first + (count - 1) * step < self.rows);
        let row_stride = step * self.row_stride;
        let bytes =
            (self.experts - 1) * self.expert_stride + (count - 1) * row_stride + self.row_bytes;
        Weight {
            bytes: &self.bytes[first * self.row_stride..][..bytes],
            rows: count,
            row_stride,
            ..*self
        }
    }

    /// All elements of a weight whose format is stored as `T` (f32; u16 for F16 and BF16), or `None`
    /// for other formats and where rows have gaps.
    #[must_use]
    pub fn elements<T: Element>(&self) -> Option<&'a [T]> {
        let dense = self.bytes.len() == self.experts * self.rows * self.row_bytes;
        if !T::reads(self.format) || !dense {
            return None;
        }
        let count = self.bytes.len() / size_of::<T>();
        // SAFETY: `new` checked the alignment of the format, which is `T`'s; `count` elements lie in
        // `bytes`, which are readable for `'a`; any bytes are a `T`.
        Some(unsafe { core::slice::from_raw_parts(self.bytes.as_ptr().cast::<T>(), count) })
    }

    /// Views a weight.
    ///
    /// # Safety
    /// `tensor` is valid as `abi.h` says; its bytes are initialised and not written during `'a`.
    pub(crate) unsafe fn new(tensor: &guild_tensor, gaps: Gaps) -> Result<Weight<'a>, Failure> {
        let (rank, storage) = checked(tensor)?;
        let elems = axis(tensor, rank - 1)?;
        let row_bytes = storage
            .row_bytes(elems)
            .ok_or_else(|| Failure::invalid("a weight's row isn't a whole number of blocks"))?;
        let blocks_apart = usize::try_from(tensor.stride[rank - 1]).ok();
        if elems > storage.block_elems && blocks_apart != Some(storage.block_bytes) {
            return Err(Failure::invalid("a weight's rows aren't contiguous"));
        }
        let mut weight = Weight {
            bytes: &[],
            format: tensor.format,
            experts: 1,
            rows: 1,
            elems,
            row_bytes,
            row_stride: row_bytes,
            expert_stride: 0,
        };
        let mut bytes = row_bytes;
        for at in (0..rank - 1).rev() {
            let len = axis(tensor, at)?;
            let mut stride = bytes;
            if len > 1 {
                stride = usize::try_from(tensor.stride[at]).unwrap_or(0);
                // Every row is aligned as the first is.
                let aligned = stride.is_multiple_of(storage.align);
                let gap = gaps == Gaps::Allowed && rank <= 3 && stride > bytes && aligned;
                if stride != bytes && !gap {
                    return Err(Failure::invalid("a weight isn't contiguous"));
                }
            }
            bytes = match len.checked_sub(1) {
                None => 0,
                Some(more) => more
                    .checked_mul(stride)
                    .and_then(|before| before.checked_add(bytes))
                    .ok_or(OVERFLOW)?,
            };
            if at == 0 && rank >= 3 {
                (weight.experts, weight.expert_stride) = (len, stride);
            } else {
                weight.rows = weight.rows.checked_mul(len).ok_or(OVERFLOW)?;
            }
            if at + 2 == rank {
                weight.row_stride = stride;
            }
        }
        if bytes as u64 > tensor.byte_len {
            return Err(Failure::invalid("a weight is longer than its byte_len"));
        }
        if bytes > 0 {
            // SAFETY: `checked` refused null; the caller promises `byte_len` readable bytes.
            weight.bytes = unsafe {
                core::slice::from_raw_parts(tensor.data.cast_const().cast::<u8>(), bytes)
            };
        }
        Ok(weight)
    }
}

const OVERFLOW: Failure = Failure {
    status: guild_abi::abi::GUILD_STATUS_ERR_INVALID,
    text: std::borrow::Cow::Borrowed("a tensor is larger than the address space"),
};

/// Checks what weights and activations have in common; gives rank and storage.
fn checked(tensor: &guild_tensor) -> Result<(usize, Storage), Failure> {
    let rank = usize::from(tensor.rank);
    if (tensor.size as usize) < size_of::<guild_tensor>() || !(1..=6).contains(&rank) {
        return Err(Failure::invalid("a tensor's size or rank is wrong"));
    }
    if tensor.space == GUILD_SPACE_DEVICE {
        return Err(Failure::invalid("a tensor isn't in host memory"));
    }
    let Some(storage) = format::storage(tensor.format) else {
        return Err(Failure::invalid("a tensor has an unknown format"));
    };
    if !(tensor.data as usize).is_multiple_of(storage.align) {
        return Err(Failure::invalid("a tensor's data isn't aligned"));
    }
    if tensor.byte_len > isize::MAX as u64 || (tensor.data.is_null() && tensor.byte_len > 0) {
        return Err(Failure::invalid("a tensor's data is null or too long"));
    }
    Ok((rank, storage))
}

fn axis(tensor: &guild_tensor, at: usize) -> Result<usize, Failure> {
    usize::try_from(tensor.shape[at]).map_err(|_| OVERFLOW)
}

/// Checks an activation's strides and gives its geometry in elements.
fn geometry<T: Element>(tensor: &guild_tensor, rows: usize) -> Result<Geometry, Failure> {
    let (rank, storage) = checked(tensor)?;
    if !T::reads(tensor.format) {
        return Err(Failure::invalid(
            "an activation's format isn't the contract's",
        ));
    }
    let mut shape = [1usize; 6];
    for (at, axis_len) in shape.iter_mut().enumerate().take(rank) {
        *axis_len = axis(tensor, at)?;
    }
    if tensor.flags & GUILD_TENSOR_DYNAMIC_ROWS != 0 {
        if rows > shape[0] {
            return Err(Failure::invalid("a call has more rows than its tensors"));
        }
        shape[0] = rows;
    }
    let stride = |at: usize| -> Result<usize, Failure> {
        let bytes = usize::try_from(tensor.stride[at]).unwrap_or(usize::MAX);
        if shape[at] > 1 && !bytes.is_multiple_of(storage.block_bytes) {
            return Err(Failure::invalid(
                "a stride is negative or not a multiple of the element size",
            ));
        }
        Ok(if shape[at] > 1 {
            bytes / storage.block_bytes
        } else {
            0
        })
    };
    let last = rank - 1;
    if shape[last] > 1 && stride(last)? != 1 {
        return Err(Failure::invalid("a tensor's last axis isn't contiguous"));
    }
    let (mut heads, mut head_stride) = (1, 0);
    for at in (1..last).rev() {
        if shape[at] > 1 {
            let this = stride(at)?;
            if heads > 1 && Some(this) != head_stride_of(head_stride, heads) {
                return Err(Failure::invalid("a tensor's middle axes have gaps"));
            }
            if heads == 1 {
                head_stride = this;
            }
        }
        heads = shape[at].checked_mul(heads).ok_or(OVERFLOW)?;
    }
    let geometry = Geometry {
        rows: if rank == 1 { 1 } else { shape[0] },
        group: if rank == 1 { 1 } else { shape[0].max(1) },
        group_stride: 0,
        row_stride: if rank == 1 { 0 } else { stride(0)? },
        heads,
        head_stride,
        dim: shape[last],
    };
    let bytes = geometry
        .extent()
        .and_then(|elems| elems.checked_mul(size_of::<T>()));
    match bytes {
        Some(bytes) if bytes as u64 <= tensor.byte_len => Ok(geometry),
        _ => Err(Failure::invalid("a tensor is longer than its byte_len")),
    }
}

fn head_stride_of(head_stride: usize, heads: usize) -> Option<usize> {
    head_stride.checked_mul(heads)
}

/// A pointer that slices may be made from even where there are no elements.
fn data_or_dangling<T>(data: *const T, geometry: &Geometry) -> *const T {
    if data.is_null() || geometry.rows == 0 {
        core::ptr::NonNull::dangling().as_ptr()
    } else {
        data
    }
}
