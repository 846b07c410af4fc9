//! Products with many rows of activations, their integers by tile registers (`isa`, `tile_dots`).
//!
//! A part's integers are `sum of scale * element * activation`. Tiles know no scales, so the scales go
//! into the weights: `scale * element` is split into two planes of bytes ([`super::Planes`]), whose sums
//! are exact and are put together again. So the integers are those of the vector dots, bit for bit.

use super::product::{Line, load_sums, parts, store_sums};
use super::record::{RECORD_BYTES, Record};
use super::{Block, Planes, Tile};
use crate::isa::{Isa, TILE_OUT_ROWS, TileDots, TileRegisters, TileSums, vectorized};
use core::marker::PhantomData;

/// Rows from which tiles are quicker than vector dots.
pub(super) const TILED_ROWS_MIN: usize = 8;
/// Rows of one tile, all of which are read.
const TILE_ROWS: usize = 16;
/// Rows whose outputs are in registers at once.
const ROWS_AT_ONCE: usize = 4;

/// Open tile registers.
pub(super) struct Tiled<S: Isa> {
    isa: S,
    registers: TileRegisters,
}

impl<S: Isa> Tiled<S> {
    /// Opens this thread's tile registers for a format's parts.
    #[inline(always)]
    pub(super) fn open<B: Block>(isa: S) -> Tiled<S> {
        let registers = isa.open_tiles(B::PART_ELEMS / 4);
        Tiled { isa, registers }
    }

    /// Adds one step to all outputs. `records` starts with theirs and goes on to the end of the call's, so
    /// that whole tiles can be read.
    #[inline(always)]
    pub(super) fn step<B: Block>(
        &self,
        tile: &Tile<S>,
        blocks: usize,
        records: &[Record],
        out: &mut [Line],
    ) {
        let mut planes: Planes<S> = [[self.isa.splat_i32(0); 64]; 2];
        for part in 0..parts::<B>(blocks) {
            B::planes(self.isa, tile, part, &mut planes);
            for (i, out) in out.chunks_mut(TILE_OUT_ROWS).enumerate() {
                let records = &records[i * TILE_OUT_ROWS..];
                if records.len() >= out.len().next_multiple_of(TILE_ROWS) {
                    self.rows::<B>(tile, part, &planes, records, out);
                } else {
                    self.last_rows::<B>(tile, part, &planes, records, out);
                }
            }
        }
    }

    /// As [`Tiled::rows`] where fewer rows are there than a tile reads.
    #[inline(never)]
    fn last_rows<B: Block>(
        &self,
        tile: &Tile<S>,
        part: usize,
        planes: &Planes<S>,
        records: &[Record],
        out: &mut [Line],
    ) {
        let mut padded = [[0; RECORD_BYTES]; TILE_OUT_ROWS];
        padded[..out.len()].copy_from_slice(&records[..out.len()]);
        self.isa
            .vectorize::<LastRows<B>, _>((self, tile, part, planes, &padded[..], out));
    }

    #[inline(always)]
    fn rows<B: Block>(
        &self,
        tile: &Tile<S>,
        part: usize,
        planes: &Planes<S>,
        records: &[Record],
        out: &mut [Line],
    ) {
        let isa = self.isa;
        let mut sums = TileSums::ZERO;
        let words = B::PART_ELEMS / 4;
        let job = TileDots {
            activations: &records.as_flattened()[B::PART_ELEMS * part..],
            stride: RECORD_BYTES,
            rows: out.len(),
            words,
            planes: [
                Some(&planes[0][..words]),
                B::LAYOUT.shift.map(|_| &planes[1][..words]),
            ],
            signed: B::LAYOUT.signed,
        };
        isa.tile_dots(&self.registers, &job, &mut sums);
        let mut done = self.add::<B, ROWS_AT_ONCE>(tile, part, records, &sums, out, 0);
        done = self.add::<B, 1>(tile, part, records, &sums, out, done);
        debug_assert_eq!(done, out.len());
    }

    /// Adds the part's integers to rows `done..` in groups of `R`; gives how many are done then.
    #[inline(always)]
    fn add<B: Block, const R: usize>(
        &self,
        tile: &Tile<S>,
        part: usize,
        records: &[Record],
        sums: &TileSums,
        out: &mut [Line],
        done: usize,
    ) -> usize {
        let isa = self.isa;
        let outs = out[done..].as_chunks_mut::<R>().0;
        let groups = outs.len();
        let records = records[done..].as_chunks::<R>().0;
        let first = sums.0[0][done..].as_chunks::<R>().0;
        let second = sums.0[1][done..].as_chunks::<R>().0;
        let planes = first.iter().zip(second);
        for ((records, out), (first, second)) in records.iter().zip(outs).zip(planes) {
            let mut integers = [isa.splat_i32(0); R];
            for r in 0..R {
                integers[r] = isa.load_i32(&first[r]);
                integers[r] = match B::LAYOUT.shift {
                    None => integers[r],
                    Some(3) => isa.add_i32(integers[r], isa.shl::<3>(isa.load_i32(&second[r]))),
                    Some(_) => isa.add_i32(integers[r], isa.shl::<7>(isa.load_i32(&second[r]))),
                };
            }
            let mut sums = load_sums(isa, out);
            B::add(isa, tile, part, records.each_ref(), integers, &mut sums);
            store_sums(isa, out, sums);
        }
        done + R * groups
    }
}

/// Names [`Tiled::rows`] of one format.
struct LastRows<B>(PhantomData<B>);

type LastRowsArguments<'a, S> = (
    &'a Tiled<S>,
    &'a Tile<S>,
    usize,
    &'a Planes<S>,
    &'a [Record],
    &'a mut [Line],
);

vectorized!(impl [B: Block] LastRows<B> = last_rows::<S, B>, LastRowsArguments<'a, S>);

#[inline(always)]
fn last_rows<S: Isa, B: Block>(
    _isa: S,
    (tiled, tile, part, planes, records, out): LastRowsArguments<'_, S>,
) {
    tiled.rows::<B>(tile, part, planes, records, out);
}
