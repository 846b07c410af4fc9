//! Products with many rows of activations, their integers by tile registers (`isa`, `tile_dots`).
//!
//! A part's integers are `sum of scale * element * activation`. Tiles know no scales, so the scales go
//! into the weights: `scale * element` is split into two planes of bytes ([`super::Planes`]), whose sums
//! are exact and are put together again. So the integers are those of the vector dots, bit for bit.
//!
//! Tile registers work beside the vector units. So the dots of a chunk of rows are asked for before those
//! of the chunk in front of it are added.

use super::product::{Line, QuantisedArguments, load_sums, parts, steps, store_sums, unpack_step};
use super::record::{RECORD_BYTES, RECORD_ELEMS, Record};
use super::{Block, Parts, Planes, Tile, Workspace};
use crate::isa::{
    Isa, LANES, PlaneLayout, REGISTER_ROWS, TILE_OUT_ROWS, TileDots, TileLine, TileRegisters,
};
use core::marker::PhantomData;

/// Rows from which tiles are quicker than vector dots: the more of them the dearer the planes are.
#[inline(always)]
pub(super) const fn tiled_rows_min<B: Block>() -> usize {
    match B::Parts::LAYOUT {
        PlaneLayout::Values => 12,
        PlaneLayout::Scales => 10,
        PlaneLayout::Products => 20,
    }
}

/// Rows whose outputs are in registers at once.
const ROWS_AT_ONCE: usize = 4;
/// Lines of dots: two chunks of sixteen rows with eight parts each.
const DOT_LINES: usize = 2 * 8 * REGISTER_ROWS;

/// What is made of a step's weights, and its dots.
pub(super) struct TiledSpace<S: Isa> {
    planes: Planes<S>,
    dots: Dots,
}

#[repr(C, align(64))]
struct Dots([TileLine; DOT_LINES]);

impl<S: Isa> TiledSpace<S> {
    #[inline(always)]
    pub(super) fn empty(isa: S) -> TiledSpace<S> {
        TiledSpace {
            planes: [[isa.splat_i32(0); 64]; 2],
            dots: Dots([[0; LANES]; DOT_LINES]),
        }
    }
}

/// As [`super::Gemm`] says, for one format and at least [`tiled_rows_min`] rows.
#[inline(always)]
pub(super) fn tiled_product<S: Isa, B: Block>(
    isa: S,
    (space, weight, activations, first, out): QuantisedArguments<'_, Workspace<S>>,
) {
    out.fill(Line::ZERO);
    let registers = isa.open_tiles(B::PART_ELEMS / 4, out.len());
    for at in 0..steps::<B>(weight) {
        let blocks = unpack_step::<S, B>(isa, weight, at, &mut space.tile);
        B::Parts::planes(isa, &space.tile, &mut space.tiled.planes);
        let step = Step::<S, B> {
            isa,
            registers: &registers,
            tile: &space.tile,
            planes: &space.tiled.planes,
            parts: parts::<B>(blocks),
            format: PhantomData,
        };
        step.run(activations.from(at, first), &mut space.tiled.dots.0, out);
    }
}

/// One step's weights, ready for all rows.
struct Step<'a, S: Isa, B> {
    isa: S,
    registers: &'a TileRegisters,
    tile: &'a Tile<S>,
    planes: &'a Planes<S>,
    parts: usize,
    format: PhantomData<B>,
}

impl<S: Isa, B: Block> Step<'_, S, B> {
    const LAYOUT: PlaneLayout = B::Parts::LAYOUT;
    /// Parts of a whole step.
    const PARTS: usize = RECORD_ELEMS / B::PART_ELEMS;
    /// Rows that are multiplied together: two tiles where there is room for their dots.
    const CHUNK_ROWS: usize = if Self::PARTS == 1 {
        TILE_OUT_ROWS
    } else {
        REGISTER_ROWS
    };
    /// Lines of a chunk's dots with one part.
    const PART_LINES: usize = Self::LAYOUT.planes() * Self::CHUNK_ROWS;
    /// Lines of a chunk's dots.
    const CHUNK_LINES: usize = Self::PARTS * Self::PART_LINES;
    /// Whether the dots of two chunks have room.
    const AHEAD: bool = 2 * Self::CHUNK_LINES <= DOT_LINES;

    /// Adds the step to all outputs. `records` starts with theirs and goes on, so that whole tiles can be read.
    #[inline(always)]
    fn run(&self, records: &[Record], dots: &mut [TileLine], out: &mut [Line]) {
        const { assert!(Self::CHUNK_LINES <= DOT_LINES) }
        let rows = out.len();
        let (mut now, mut before) = dots.split_at_mut(DOT_LINES / 2);
        if !Self::AHEAD {
            for first in (0..rows).step_by(Self::CHUNK_ROWS) {
                self.multiply(&records[first..], rows - first, dots);
                self.add(&records[first..], dots, &mut out[first..]);
            }
            return;
        }
        self.multiply(records, rows, before);
        for first in (Self::CHUNK_ROWS..rows).step_by(Self::CHUNK_ROWS) {
            self.multiply(&records[first..], rows - first, now);
            let ended = first - Self::CHUNK_ROWS;
            self.add(&records[ended..], before, &mut out[ended..]);
            (now, before) = (before, now);
        }
        let last = (rows - 1) / Self::CHUNK_ROWS * Self::CHUNK_ROWS;
        self.add(&records[last..], before, &mut out[last..]);
    }

    /// The dots of a chunk's rows, of which `rows` are left.
    #[inline(always)]
    fn multiply(&self, records: &[Record], rows: usize, dots: &mut [TileLine]) {
        let words = B::PART_ELEMS / 4;
        let parts = dots.chunks_exact_mut(Self::PART_LINES).take(self.parts);
        for (part, dots) in parts.enumerate() {
            let job = TileDots {
                activations: &records.as_flattened()[B::PART_ELEMS * part..],
                stride: RECORD_BYTES,
                rows: rows.min(Self::CHUNK_ROWS),
                words,
                planes: self
                    .planes
                    .each_ref()
                    .map(|plane| &plane[words * part..][..words]),
                layout: Self::LAYOUT,
            };
            self.isa.tile_dots(self.registers, &job, dots);
        }
    }

    /// Adds a chunk's dots to the first outputs.
    #[inline(always)]
    fn add(&self, records: &[Record], dots: &[TileLine], out: &mut [Line]) {
        let rows = out.len().min(Self::CHUNK_ROWS);
        let out = &mut out[..rows];
        let done = self.add_rows::<ROWS_AT_ONCE>(records, dots, out, 0);
        self.add_rows::<1>(records, dots, out, done);
    }

    /// Adds rows `done..` in groups of `R`; gives how many are done then.
    #[inline(always)]
    fn add_rows<const R: usize>(
        &self,
        records: &[Record],
        dots: &[TileLine],
        out: &mut [Line],
        done: usize,
    ) -> usize {
        let isa = self.isa;
        // A chunk of one tile has its second plane right behind the sixteen rows of the first.
        let plane_lines = out.len().div_ceil(REGISTER_ROWS) * REGISTER_ROWS;
        let outs = out[done..].as_chunks_mut::<R>().0;
        let groups = outs.len();
        let records = records[done..].as_chunks::<R>().0;
        for (group, (records, out)) in records.iter().zip(outs).enumerate() {
            let records = records.each_ref();
            let mut sums = load_sums(isa, out);
            for part in 0..self.parts {
                let first = Self::PART_LINES * part + done + R * group;
                let lines: &[TileLine; R] = dots[first..].first_chunk().expect("dots of each row");
                let mut integers = lines.each_ref().map(|line| isa.load_i32(line));
                if Self::LAYOUT.planes() == 2 {
                    let second: &[TileLine; R] = dots[first + plane_lines..]
                        .first_chunk()
                        .expect("dots of each row with the second plane");
                    for (integer, line) in integers.iter_mut().zip(second) {
                        let high = isa.load_i32(line);
                        let high = match Self::LAYOUT {
                            PlaneLayout::Scales => isa.shl::<3>(high),
                            _ => isa.shl::<8>(high),
                        };
                        *integer = isa.add_i32(*integer, high);
                    }
                }
                B::Parts::terms(isa, self.tile, part, records, integers, &mut sums);
            }
            store_sums(isa, out, sums);
        }
        done + R * groups
    }
}
