//! Safe views of state operands: KV pages and recurrent slots.
#![allow(unsafe_code)]

use crate::format;
use crate::kernel::Failure;
use crate::tensor::{Element, Geometry, Tensor, TensorMut};
use crate::tiles::Tiles;
use core::marker::PhantomData;
use guild_abi::abi::guild_state;

/// Exclusive access to all pages or slots of a state. `T` is u16 for F16 and f32 for F32.
pub struct State<'a, T> {
    data: *mut T,
    count: usize,
    /// Elements from one slot to the next.
    stride: usize,
    shape: [usize; 4],
    kind: u32,
    memory: PhantomData<&'a mut [T]>,
}

// SAFETY: a `State` is an exclusive slice with strides; `Element`s are `Send`.
unsafe impl<T: Element> Send for State<'_, T> {}
// SAFETY: shared access to it only reads; `Element`s are `Sync`.
unsafe impl<T: Element> Sync for State<'_, T> {}

impl<T: Element> State<'_, T> {
    /// `GUILD_STATE_APPEND` or `GUILD_STATE_RECURRENT`.
    #[must_use]
    pub fn kind(&self) -> u32 {
        self.kind
    }

    /// Pages or slots.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Shape of a page (`[kv_heads, 256, dim, 1]`) or slot, outermost axis first.
    #[must_use]
    pub fn shape(&self) -> [usize; 4] {
        self.shape
    }

    /// One page or slot, in the order of its shape, to read.
    ///
    /// # Panics
    /// When there is no such slot.
    #[inline]
    #[must_use]
    pub fn slot(&self, slot: usize) -> &[T] {
        self.rows().vector(slot, 0)
    }

    /// One page or slot, in the order of its shape, to write.
    ///
    /// # Panics
    /// When there is no such slot.
    #[inline]
    pub fn slot_mut(&mut self, slot: usize) -> &mut [T] {
        let at = self.geometry().offset(slot, 0);
        let len = self.slot_elems();
        // SAFETY: `offset` checked the slot; all slots are exclusive to `self`, which is lent
        // exclusively.
        unsafe { core::slice::from_raw_parts_mut(self.data.add(at), len) }
    }

    /// All slots as a matrix to read on any number of workers: one row a slot.
    #[inline]
    #[must_use]
    pub fn rows(&self) -> Tensor<'_, T> {
        // A temporary exclusive view, lent shared at once, has the same checks as the state.
        self.view(self.geometry())
    }

    /// Cuts all slots alike: a tile has columns `[i * block, (i + 1) * block)` of every slot, its row
    /// `r` being slot `r`. With `block` the elements of a head, tile `h` is head `h` of every slot.
    pub fn column_tiles(&mut self, block: usize) -> Tiles<'_, T> {
        let geometry = self.geometry();
        // SAFETY: exclusive access is lent for the tiles' life; `new` checked extent and strides.
        unsafe { Tiles::new(self.data, geometry, geometry.rows, 1, block) }
    }

    /// Cuts the inside of all slots alike, seeing a slot as `shape[0]` rows of the other axes: a tile
    /// has columns `[i * block, (i + 1) * block)` of every row, its row `s * shape[0] + r` being row
    /// `r` of slot `s`.
    pub fn inner_column_tiles(&mut self, block: usize) -> Tiles<'_, T> {
        let columns = self.shape[1] * self.shape[2] * self.shape[3];
        let rows = self.count * self.shape[0];
        let geometry = Geometry {
            group: self.shape[0].max(1),
            group_stride: self.stride,
            ..Geometry::matrix(rows, columns, columns)
        };
        // SAFETY: as in `column_tiles`; a slot's rows are the same elements.
        unsafe { Tiles::new(self.data, geometry, rows, 1, block) }
    }

    fn slot_elems(&self) -> usize {
        self.shape.iter().product()
    }

    fn geometry(&self) -> Geometry {
        Geometry::matrix(self.count, self.slot_elems(), self.stride)
    }

    fn view(&self, geometry: Geometry) -> Tensor<'_, T> {
        // SAFETY: the elements are aligned, initialised and exclusive to `self`; the view lives as
        // long as the shared borrow of `self`.
        let view: TensorMut<'_, T> = unsafe { TensorMut::from_parts(self.data, geometry) };
        view.into_tensor()
    }
}

impl<'a, T: Element> State<'a, T> {
    /// Views a state.
    ///
    /// # Safety
    /// `state` is valid as `abi.h` says; its `count` slots are initialised, and nothing else accesses
    /// them during `'a`.
    pub(crate) unsafe fn new(state: &guild_state) -> Result<State<'a, T>, Failure> {
        let storage = format::storage(state.format);
        if (state.size as usize) < size_of::<guild_state>() || !T::reads(state.format) {
            return Err(Failure::invalid("a state's size or format is wrong"));
        }
        let size = storage.map_or(0, |storage| storage.block_bytes);
        let stride = usize::try_from(state.stride).unwrap_or(usize::MAX);
        let mut elems = Some(1usize);
        let mut shape = [0; 4];
        for (to, &from) in shape.iter_mut().zip(&state.shape) {
            *to = usize::try_from(from).unwrap_or(usize::MAX);
            elems = elems.and_then(|elems| elems.checked_mul(*to));
        }
        let count = state.count as usize;
        let slot_bytes = elems.and_then(|elems| elems.checked_mul(size));
        let total = stride
            .checked_mul(count)
            .filter(|&n| n <= isize::MAX as usize);
        let (Some(slot_bytes), Some(_)) = (slot_bytes, total) else {
            return Err(Failure::invalid("a state is larger than the address space"));
        };
        if stride < slot_bytes
            || !stride.is_multiple_of(size_of::<T>())
            || !(state.data as usize).is_multiple_of(align_of::<T>())
            || state.data.is_null()
        {
            return Err(Failure::invalid("a state's data or stride is wrong"));
        }
        Ok(State {
            data: state.data.cast(),
            count,
            stride: stride / size_of::<T>(),
            shape,
            kind: state.kind,
            memory: PhantomData,
        })
    }
}
