//! Products with many rows of activations, their integers by tile registers (`isa`, `tile_dots`).
//!
//! A part's integers are `sum of scale * element * activation`. Tiles know no scales, so the scales go
//! into the weights: `scale * element` is split into two planes of bytes ([`super::Planes`]), whose sums
//! are exact and are put together again. So the integers are those of the vector dots, bit for bit.
//!
//! Tile registers work beside the vector units. So the dots of a chunk of rows are asked for before those
//! of the chunk in front of it are added, be that one of the same step or of the step before.

use super::product::{
    Line, QuantisedArguments, STRIPS_MAX, load_sums, parts, steps, store_sums, unpack_step,
};
use super::record::{RECORD_BYTES, RECORD_ELEMS, Record};
use super::{Block, Parts, Planes, Tile};
use crate::isa::{
    Isa, LANES, PlaneLayout, TILE_OUT_ROWS, TILE_PARTS, TileDots, TileLine, TileRegisters,
};
use core::marker::PhantomData;
use core::ops::Range;

/// Rows from which tiles are quicker than vector dots.
pub(super) const TILED_ROWS_MIN: usize = 8;
/// Rows of one tile.
const TILE_ROWS: usize = 16;
/// Rows whose outputs are in registers at once.
const ROWS_AT_ONCE: usize = 4;
/// Lines of dots: two chunks of sixteen rows with sixteen parts each, as `ggml.nvfp4` has.
const DOT_LINES: usize = 2 * 16 * TILE_ROWS + APART_LINES;
/// Lines between two chunks' dots: places that differ by whole pages would be taken for one another.
const APART_LINES: usize = 5;

/// What is made of weights, and dots.
pub(super) struct TiledSpace<S: Isa> {
    /// The strips of this step and of the one before, by turns.
    tiles: [[Tile<S>; STRIPS_MAX]; 2],
    planes: [Planes<S>; STRIPS_MAX],
    dots: Dots,
}

#[repr(C, align(64))]
struct Dots([TileLine; DOT_LINES]);

impl<S: Isa> TiledSpace<S> {
    #[inline(always)]
    pub(super) fn empty(isa: S) -> TiledSpace<S> {
        TiledSpace {
            tiles: core::array::from_fn(|_| core::array::from_fn(|_| Tile::empty(isa))),
            planes: [[[isa.splat_i32(0); 64]; 2]; STRIPS_MAX],
            dots: Dots([[0; LANES]; DOT_LINES]),
        }
    }
}

/// As [`super::Product`] says, for one format and at least [`TILED_ROWS_MIN`] rows.
#[inline(always)]
pub(super) fn tiled_product<S: Isa, B: Block>(
    isa: S,
    (space, weight, activations, first, out): QuantisedArguments<'_, S>,
) {
    const { assert!(2 * Chunk::<S, B>::LINES + APART_LINES <= DOT_LINES) }
    out.fill(Line::ZERO);
    let space = space.tiled.get_or_insert_with(|| TiledSpace::empty(isa));
    let rows = out.len() / weight.strips();
    let registers = isa.open_tiles(B::PART_ELEMS / 4, rows);
    let (mut now, mut before) = space
        .dots
        .0
        .split_at_mut(Chunk::<S, B>::LINES + APART_LINES);
    let mut waiting: Option<Chunk<S, B>> = None;
    for step in 0..steps::<B>(weight) {
        let tiles = &mut space.tiles[step % 2];
        let mut blocks = 0;
        for (strip, planes) in space.planes.iter_mut().enumerate().take(weight.strips()) {
            blocks = unpack_step::<S, B>(isa, &weight.strip(strip), step, &mut tiles[strip]);
            B::Parts::planes(isa, &tiles[strip], planes);
        }
        for row in (0..rows).step_by(Chunk::<S, B>::ROWS) {
            // The rows' activations stay in the nearest cache for all strips.
            let records = &activations.from(step, first)[row..];
            for (strip, planes) in space.planes.iter().enumerate().take(weight.strips()) {
                let chunk = Chunk::<S, B> {
                    isa,
                    step,
                    strip,
                    parts: parts::<B>(blocks),
                    row,
                    rows: (rows - row).min(Chunk::<S, B>::ROWS),
                    format: PhantomData,
                };
                // By turns, so that either unit finds work among the next instructions.
                for turn in 0..Chunk::<S, B>::TURNS {
                    chunk.multiply(&registers, planes, records, turn, now);
                    if let Some(waiting) = &waiting {
                        let tile = &space.tiles[waiting.step % 2][waiting.strip];
                        let records = activations.from(waiting.step, first);
                        waiting.add(
                            tile,
                            records,
                            turn,
                            before,
                            &mut out[waiting.strip * rows..],
                        );
                    }
                }
                waiting = Some(chunk);
                (now, before) = (before, now);
            }
        }
    }
    if let Some(waiting) = waiting {
        let tile = &space.tiles[waiting.step % 2][waiting.strip];
        let records = activations.from(waiting.step, first);
        for turn in 0..Chunk::<S, B>::TURNS {
            waiting.add(
                tile,
                records,
                turn,
                before,
                &mut out[waiting.strip * rows..],
            );
        }
    }
}

/// Some rows in one step.
struct Chunk<S: Isa, B> {
    isa: S,
    step: usize,
    strip: usize,
    parts: usize,
    /// The first row.
    row: usize,
    rows: usize,
    format: PhantomData<B>,
}

impl<S: Isa, B: Block> Chunk<S, B> {
    const LAYOUT: PlaneLayout = B::Parts::LAYOUT;
    /// Parts of a whole step.
    const PARTS: usize = RECORD_ELEMS / B::PART_ELEMS;
    /// Rows that are multiplied together: two tiles where there is room for their dots.
    const ROWS: usize = if Self::PARTS == 1 {
        TILE_OUT_ROWS
    } else {
        TILE_ROWS
    };
    /// Lines of dots with one part.
    const PART_LINES: usize = Self::LAYOUT.planes() * Self::ROWS;
    /// Lines of dots.
    const LINES: usize = Self::PARTS * Self::PART_LINES;
    /// Words that a tile register multiplies at once.
    const WORDS: usize = if B::PART_ELEMS / 4 < 16 {
        B::PART_ELEMS / 4
    } else {
        16
    };
    /// Turns in which a whole step is multiplied.
    const TURNS: usize = if Self::PARTS == 1 {
        RECORD_ELEMS / 4 / Self::WORDS
    } else {
        Self::PARTS.div_ceil(TILE_PARTS)
    };
    /// Rows that are added in a turn.
    const TURN_ROWS: usize = Self::ROWS / Self::TURNS;

    /// One turn of the rows' dots. `records` starts with theirs and goes on, so that whole tiles can be read.
    #[inline(always)]
    fn multiply(
        &self,
        registers: &TileRegisters,
        planes: &Planes<S>,
        records: &[Record],
        turn: usize,
        dots: &mut [TileLine],
    ) {
        let words = RECORD_ELEMS / 4 / Self::TURNS;
        let first = words * turn;
        let job = TileDots {
            activations: &records.as_flattened()[4 * first..],
            stride: RECORD_BYTES,
            rows: self.rows,
            planes: planes.each_ref().map(|plane| &plane[first..][..words]),
            layout: Self::LAYOUT,
        };
        if Self::PARTS == 1 {
            let out = (turn + 1 == Self::TURNS).then_some(dots);
            self.isa.tile_dots(registers, &job, turn == 0, out);
        } else {
            // Parts that a short step lacks are garbage, which nobody adds.
            let dots = &mut dots[TILE_PARTS * Self::PART_LINES * turn..];
            self.isa.tile_part_dots(registers, &job, dots);
        }
    }

    /// Adds the dots of some rows to their outputs. `records` and `out` start with the strip's row 0.
    #[inline(always)]
    fn add(
        &self,
        tile: &Tile<S>,
        records: &[Record],
        turn: usize,
        dots: &[TileLine],
        out: &mut [Line],
    ) {
        let (records, out) = (&records[self.row..], &mut out[self.row..][..self.rows]);
        let first = turn * Self::TURN_ROWS;
        let end = (first + Self::TURN_ROWS).min(self.rows);
        self.add_rows::<ROWS_AT_ONCE>(tile, records, dots, out, first..end);
    }

    /// Adds the rows `range`, `R` together where there are so many.
    #[inline(always)]
    fn add_rows<const R: usize>(
        &self,
        tile: &Tile<S>,
        records: &[Record],
        dots: &[TileLine],
        out: &mut [Line],
        range: Range<usize>,
    ) {
        let mut row = range.start;
        while row + R <= range.end {
            self.add_group::<R>(tile, records, dots, out, row);
            row += R;
        }
        while row < range.end {
            self.add_group::<1>(tile, records, dots, out, row);
            row += 1;
        }
    }

    #[inline(always)]
    fn add_group<const R: usize>(
        &self,
        tile: &Tile<S>,
        records: &[Record],
        dots: &[TileLine],
        out: &mut [Line],
        row: usize,
    ) {
        let isa = self.isa;
        // A chunk of one tile has its second plane right behind the sixteen rows of the first.
        let plane_lines = self.rows.div_ceil(TILE_ROWS) * TILE_ROWS;
        let records: &[Record; R] = records[row..].first_chunk().expect("a record of each row");
        let out: &mut [Line; R] = out[row..].first_chunk_mut().expect("outputs of each row");
        let mut sums = load_sums(isa, out);
        for part in 0..self.parts {
            let first = Self::PART_LINES * part + row;
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
            B::Parts::add(isa, tile, part, records.each_ref(), integers, &mut sums);
        }
        store_sums(isa, out, sums);
    }
}
