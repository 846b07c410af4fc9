//! Disjoint parts of memory for parallel loops: what makes `Par::split` safe.
//!
//! [`Tiles`] cuts rows, heads and columns into blocks; task `i` gets tile `i` alone. [`PerWorker`]
//! gives each worker a buffer of its own. [`Joined`] puts several `Tiles` one behind the other.
//! [`Ragged`] cuts a slice at given places. A tuple of them gives each task one part of each.
#![allow(unsafe_code)]

use crate::kernel::Failure;
use crate::tensor::{Element, Geometry};
use core::marker::PhantomData;
use core::ops::Range;

/// Memory that can be handed out part by part.
///
/// # Safety
/// Parts of different indexes never overlap, except parts that depend on the worker alone.
pub unsafe trait Split: Sync {
    /// What one task gets.
    type Part<'t>;

    /// Number of parts; `None` where any index has one.
    fn count(&self) -> Option<usize>;

    /// Part `index`.
    ///
    /// # Safety
    /// `index` is below `count()` and each index is asked for once. `self` outlives `'t`; no two
    /// parts for the same `worker` live at once.
    unsafe fn part<'t>(&self, index: usize, worker: usize) -> Self::Part<'t>;
}

/// Memory as tiles of `row_block` rows, `head_block` heads and `column_block` columns. Tiles count
/// through columns first, then heads, then rows; those at an end may be smaller.
pub struct Tiles<'a, T> {
    data: *mut T,
    geometry: Geometry,
    /// Elements to copy into a tile before its task runs (in-place operations that aren't in place).
    source: Option<(*const T, Geometry)>,
    row_block: usize,
    head_block: usize,
    column_block: usize,
    memory: PhantomData<&'a mut [T]>,
}

// SAFETY: `Tiles` has exclusive access to its memory; `Element`s are `Send`.
unsafe impl<T: Element> Send for Tiles<'_, T> {}
// SAFETY: a shared `Tiles` gives access through the unsafe `part` alone; `Element`s are `Sync`.
unsafe impl<T: Element> Sync for Tiles<'_, T> {}

impl<'a, T: Element> Tiles<'a, T> {
    /// Number of tiles.
    #[must_use]
    pub fn len(&self) -> usize {
        let [rows, heads, columns] = self.blocks();
        rows * heads * columns
    }

    /// Whether there are no tiles.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Cuts memory into tiles; block sizes of 0 count as 1.
    ///
    /// # Safety
    /// All elements of `geometry` from `data` on are aligned, initialised and exclusive during `'a`;
    /// no two share an address.
    pub(crate) unsafe fn new(
        data: *mut T,
        geometry: Geometry,
        row_block: usize,
        head_block: usize,
        column_block: usize,
    ) -> Tiles<'a, T> {
        Tiles {
            data,
            geometry,
            source: None,
            row_block: row_block.max(1),
            head_block: head_block.max(1),
            column_block: column_block.max(1),
            memory: PhantomData,
        }
    }

    /// Has each tile hold the source's elements when its task starts.
    ///
    /// # Safety
    /// `source` has the rows, heads and columns of `self`, is readable during `'a` and doesn't
    /// overlap `self`.
    pub(crate) unsafe fn with_source(self, source: (*const T, Geometry)) -> Tiles<'a, T> {
        Tiles {
            source: Some(source),
            ..self
        }
    }

    fn blocks(&self) -> [usize; 3] {
        let Geometry {
            rows, heads, dim, ..
        } = self.geometry;
        [
            rows.div_ceil(self.row_block),
            heads.div_ceil(self.head_block),
            dim.div_ceil(self.column_block),
        ]
    }
}

// SAFETY: an index names one block of rows, heads and columns; blocks don't share elements, and
// elements don't share addresses (`Tiles::new`).
unsafe impl<T: Element> Split for Tiles<'_, T> {
    type Part<'t> = Tile<'t, T>;

    fn count(&self) -> Option<usize> {
        Some(self.len())
    }

    unsafe fn part<'t>(&self, index: usize, _worker: usize) -> Tile<'t, T> {
        let [_, heads, columns] = self.blocks();
        let block = |at: usize, size: usize, len: usize| at * size..((at + 1) * size).min(len);
        let tile = Tile {
            data: self.data,
            geometry: self.geometry,
            rows: block(
                index / (heads * columns),
                self.row_block,
                self.geometry.rows,
            ),
            heads: block(
                index / columns % heads,
                self.head_block,
                self.geometry.heads,
            ),
            columns: block(index % columns, self.column_block, self.geometry.dim),
            memory: PhantomData,
        };
        if let Some(source) = self.source {
            // SAFETY: `with_source`'s promise; the tile is exclusive.
            unsafe { tile.copy_from(source) };
        }
        tile
    }
}

/// One task's part of a [`Tiles`]. Rows, heads and columns keep the numbers that they have in the
/// whole.
pub struct Tile<'t, T> {
    data: *mut T,
    geometry: Geometry,
    rows: Range<usize>,
    heads: Range<usize>,
    columns: Range<usize>,
    memory: PhantomData<&'t mut [T]>,
}

// SAFETY: a `Tile` has exclusive access to its elements; `Element`s are `Send`.
unsafe impl<T: Element> Send for Tile<'_, T> {}

impl<T: Element> Tile<'_, T> {
    /// The tile's rows.
    #[must_use]
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// The tile's heads.
    #[must_use]
    pub fn heads(&self) -> Range<usize> {
        self.heads.clone()
    }

    /// The tile's columns (elements of a head).
    #[must_use]
    pub fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    /// The tile's columns of one row and head, to write.
    ///
    /// # Panics
    /// When the row or the head isn't in the tile.
    #[inline]
    pub fn vector_mut(&mut self, row: usize, head: usize) -> &mut [T] {
        let (at, len) = self.at(row, head);
        // SAFETY: `at` is inside the tile, which is exclusive for `'t` and lent exclusively.
        unsafe { core::slice::from_raw_parts_mut(self.data.add(at), len) }
    }

    /// The tile's columns of one row and head, to read.
    ///
    /// # Panics
    /// When the row or the head isn't in the tile.
    #[inline]
    #[must_use]
    pub fn vector(&self, row: usize, head: usize) -> &[T] {
        let (at, len) = self.at(row, head);
        // SAFETY: `at` is inside the tile, which is exclusive for `'t` and lent shared.
        unsafe { core::slice::from_raw_parts(self.data.add(at), len) }
    }

    /// [`Tile::vector_mut`] of the tile's first head.
    ///
    /// # Panics
    /// When the row isn't in the tile.
    #[inline]
    pub fn row_mut(&mut self, row: usize) -> &mut [T] {
        self.vector_mut(row, self.heads.start)
    }

    /// [`Tile::vector`] of the tile's first head.
    ///
    /// # Panics
    /// When the row isn't in the tile.
    #[inline]
    #[must_use]
    pub fn row(&self, row: usize) -> &[T] {
        self.vector(row, self.heads.start)
    }

    /// Offset and length of the columns of one row and head.
    #[inline]
    fn at(&self, row: usize, head: usize) -> (usize, usize) {
        assert!(
            self.rows.contains(&row) && self.heads.contains(&head),
            "row {row}, head {head} of a tile with rows {:?}, heads {:?}",
            self.rows,
            self.heads
        );
        (
            self.geometry.offset(row, head) + self.columns.start,
            self.columns.len(),
        )
    }

    /// Copies the tile's elements from a tensor of the same shape.
    ///
    /// # Safety
    /// `source` has the tile's whole's shape, is readable and doesn't overlap the tile.
    unsafe fn copy_from(&self, (source, geometry): (*const T, Geometry)) {
        for row in self.rows.clone() {
            for head in self.heads.clone() {
                let (to, len) = self.at(row, head);
                let from = geometry.offset(row, head) + self.columns.start;
                // SAFETY: both offsets are of existing elements; the caller promises no overlap.
                unsafe {
                    core::ptr::copy_nonoverlapping(source.add(from), self.data.add(to), len);
                }
            }
        }
    }
}

/// Tensors that [`Joined`] can hold.
pub const JOINED_MAX: usize = 8;

/// Several [`Tiles`] one behind the other: the outputs of one `linear` with several weights.
pub struct Joined<'a, T> {
    tiles: [Option<Tiles<'a, T>>; JOINED_MAX],
    used: usize,
}

impl<'a, T: Element> Joined<'a, T> {
    /// No tiles yet.
    #[must_use]
    pub fn new() -> Joined<'a, T> {
        Joined {
            tiles: [const { None }; JOINED_MAX],
            used: 0,
        }
    }

    /// Adds tiles behind those that are there.
    ///
    /// # Errors
    /// `INTERNAL` when there are [`JOINED_MAX`] already.
    pub fn push(&mut self, tiles: Tiles<'a, T>) -> Result<(), Failure> {
        let Some(free) = self.tiles.get_mut(self.used) else {
            return Err(Failure::internal("more than 8 tensors joined"));
        };
        *free = Some(tiles);
        self.used += 1;
        Ok(())
    }
}

impl<T: Element> Default for Joined<'_, T> {
    fn default() -> Self {
        Joined::new()
    }
}

// SAFETY: an index names one tile of one member; members have exclusive access each.
unsafe impl<T: Element> Split for Joined<'_, T> {
    /// Number of the member, number of the tile within it, the tile.
    type Part<'t> = (usize, usize, Tile<'t, T>);

    fn count(&self) -> Option<usize> {
        Some(self.tiles.iter().flatten().map(Tiles::len).sum())
    }

    unsafe fn part<'t>(&self, index: usize, worker: usize) -> Self::Part<'t> {
        let mut at = index;
        for (member, tiles) in self.tiles.iter().flatten().enumerate() {
            if at < tiles.len() {
                // SAFETY: `at` is below the member's count; the rest is the caller's promise.
                return (member, at, unsafe { tiles.part(at, worker) });
            }
            at -= tiles.len();
        }
        unreachable!("the caller promises an index below the count")
    }
}

/// A slice cut at places that the kernel works out: the rows of each expert.
pub struct Ragged<'a, T> {
    pub(crate) data: *mut T,
    pub(crate) bounds: &'a [u64],
    memory: PhantomData<&'a mut [T]>,
}

// SAFETY: as for `Tiles`.
unsafe impl<T: Element> Send for Ragged<'_, T> {}
// SAFETY: as for `Tiles`.
unsafe impl<T: Element> Sync for Ragged<'_, T> {}

impl<'a, T: Element> Ragged<'a, T> {
    /// Part `i` is `data[bounds[i]..bounds[i + 1]]`; there is one part less than bounds.
    ///
    /// # Errors
    /// `INTERNAL` where the bounds descend or pass the end of `data`.
    pub fn new(data: &'a mut [T], bounds: &'a [u64]) -> Result<Ragged<'a, T>, Failure> {
        let inside = bounds.last().is_none_or(|&end| end <= data.len() as u64);
        if !inside || !bounds.is_sorted() {
            return Err(Failure::internal("bounds that descend or pass the end"));
        }
        Ok(Ragged {
            data: data.as_mut_ptr(),
            bounds,
            memory: PhantomData,
        })
    }
}

// SAFETY: the bounds ascend, so parts of different indexes don't overlap.
unsafe impl<T: Element> Split for Ragged<'_, T> {
    type Part<'t> = &'t mut [T];

    fn count(&self) -> Option<usize> {
        Some(self.bounds.len().saturating_sub(1))
    }

    unsafe fn part<'t>(&self, index: usize, _worker: usize) -> &'t mut [T] {
        let (from, to) = (self.bounds[index] as usize, self.bounds[index + 1] as usize);
        // SAFETY: `new` checked that the bounds ascend and lie inside the slice.
        unsafe { core::slice::from_raw_parts_mut(self.data.add(from), to - from) }
    }
}

/// A buffer for each worker, cut from scratch.
pub struct PerWorker<'a, T> {
    data: *mut T,
    len: usize,
    workers: usize,
    memory: PhantomData<&'a mut [T]>,
}

// SAFETY: as for `Tiles`.
unsafe impl<T: Element> Send for PerWorker<'_, T> {}
// SAFETY: as for `Tiles`.
unsafe impl<T: Element> Sync for PerWorker<'_, T> {}

impl<T: Element> PerWorker<'_, T> {
    /// Cuts `workers` buffers of `len` elements.
    ///
    /// # Safety
    /// `workers * len` elements from `data` on are aligned, initialised and exclusive during `'a`.
    pub(crate) unsafe fn new(data: *mut T, len: usize, workers: usize) -> Self {
        PerWorker {
            data,
            len,
            workers,
            memory: PhantomData,
        }
    }
}

// SAFETY: the part depends on the worker alone.
unsafe impl<T: Element> Split for PerWorker<'_, T> {
    type Part<'t> = &'t mut [T];

    fn count(&self) -> Option<usize> {
        None
    }

    unsafe fn part<'t>(&self, _index: usize, worker: usize) -> &'t mut [T] {
        assert!(worker < self.workers, "worker {worker} has no scratch");
        // SAFETY: inside the `workers * len` elements; the caller promises one part a worker.
        unsafe { core::slice::from_raw_parts_mut(self.data.add(worker * self.len), self.len) }
    }
}

/// `Split` for a tuple: a part of each member.
macro_rules! split_tuple {
    ($($member:ident $at:tt),*) => {
        // SAFETY: each member hands out disjoint parts, and members have exclusive access each.
        unsafe impl<$($member: Split),*> Split for ($($member,)*) {
            type Part<'t> = ($($member::Part<'t>,)*);

            fn count(&self) -> Option<usize> {
                [$(self.$at.count()),*].into_iter().flatten().min()
            }

            unsafe fn part<'t>(&self, index: usize, worker: usize) -> Self::Part<'t> {
                // SAFETY: the count is the least of the members'; the rest is the caller's promise.
                ($(unsafe { self.$at.part(index, worker) },)*)
            }
        }
    };
}
split_tuple!(A 0, B 1);
split_tuple!(A 0, B 1, C 2);
split_tuple!(A 0, B 1, C 2, D 3);
split_tuple!(A 0, B 1, C 2, D 3, E 4);

#[cfg(test)]
mod tests {
    use super::*;

    fn tiles<T: Element>(memory: &mut [T], geometry: Geometry, blocks: [usize; 3]) -> Tiles<'_, T> {
        assert!(geometry.extent().unwrap() <= memory.len() && geometry.is_injective());
        // SAFETY: the geometry lies in `memory`, is injective, and `memory` is lent exclusively.
        unsafe {
            Tiles::new(
                memory.as_mut_ptr(),
                geometry,
                blocks[0],
                blocks[1],
                blocks[2],
            )
        }
    }

    #[test]
    fn ragged_parts_meet_at_the_bounds() {
        let mut memory = [0u8; 6];
        let bounds = [1, 3, 3, 6];
        let whole = Ragged::new(&mut memory, &bounds).unwrap();
        assert_eq!(whole.count(), Some(3));
        for index in 0..3 {
            // SAFETY: every index once, one worker.
            unsafe { whole.part(index, 0) }.fill(index as u8 + 1);
        }
        assert_eq!(memory, [0, 1, 1, 3, 3, 3]);
        assert!(Ragged::new(&mut memory, &[0, 7]).is_err());
        assert!(Ragged::new(&mut memory, &[2, 1]).is_err());
        assert!(Ragged::new(&mut memory, &[7, 7, 2]).is_err());
    }

    #[test]
    fn tiles_cover_every_element_once_and_no_gap() {
        let mut memory = vec![0i32; 7 * 20];
        let geometry = Geometry {
            heads: 3,
            head_stride: 6,
            dim: 5,
            ..Geometry::matrix(7, 0, 20)
        };
        let whole = tiles(&mut memory, geometry, [2, 2, 3]);
        assert_eq!(whole.len(), 4 * 2 * 2);
        for index in 0..whole.len() {
            // SAFETY: every index once, one worker.
            let mut tile = unsafe { whole.part(index, 0) };
            for row in tile.rows() {
                for head in tile.heads() {
                    tile.vector_mut(row, head).iter_mut().for_each(|x| *x += 1);
                }
            }
        }
        for row in 0..7 {
            for at in 0..20 {
                let inside = at < 17 && at % 6 < 5;
                assert_eq!(memory[row * 20 + at], i32::from(inside), "{row} {at}");
            }
        }
    }

    #[test]
    fn grouped_rows_skip_the_padding_between_slots() {
        let mut memory = vec![0u16; 3 * 10];
        let geometry = Geometry {
            group: 2,
            group_stride: 10,
            ..Geometry::matrix(6, 4, 4)
        };
        let whole = tiles(&mut memory, geometry, [6, 1, 2]);
        assert_eq!(whole.len(), 2);
        // SAFETY: every index once, one worker.
        let mut right = unsafe { whole.part(1, 0) };
        for row in right.rows() {
            right.row_mut(row).fill(row as u16 + 1);
        }
        let want = |base: u16| [0, 0, base, base, 0, 0, base + 1, base + 1, 0, 0];
        assert_eq!(memory, [want(1), want(3), want(5)].concat());
    }
}
