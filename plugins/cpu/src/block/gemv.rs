//! The product with one row of activations, which decode consists of. It is as fast as weights come from memory,
//! so it reads them in the order in which they lie there.
//!
//! Where `product` has sixteen weight rows side by side, this has sixteen steps of one row or a few: lane `i` of a
//! tile is the step `i` steps behind the tile's first. The steps' records stand side by side too, and from the
//! integer dots on everything goes through the same code. What differs is the end: a lane's terms are no output but
//! belong to one, with those of its neighbours. They are collected and added afterwards, output by output, steps
//! ascending, as rule 4 of `docs/numerics.md` wants.
//!
//! The dots are those of [`Block::dots_in_order`]: from an unpacked tile as elsewhere, or, in the formats that most
//! weights have, step by step ([`StepDots`]), which spares turning bytes round.

use super::product::TileRows;
use super::record::{Activations, Ahead, RECORD_ELEMS, SideBySide};
use super::{Block, Parts, Sums, Tile};
use crate::isa::{Isa, LANES, vectorized};
use core::ops::Range;

/// Terms of a step at most. Where there are more, collecting them costs more than reading in order saves.
const TERMS_MAX: usize = 2;
/// Lines of collected values and factors: of sixteen tiles, which are sixteen outputs at least.
const LINES: usize = 2 * TERMS_MAX * LANES;
/// Lines that may be read behind those: of fewer than sixteen outputs as of sixteen.
const LINES_BEHIND: usize = LANES;
/// How far in front of the dots memory is asked, for a cache that is far and for the nearest. The nearest waits for few
/// lines at a time; what the far one has already holds it up no longer.
const FAR_AHEAD_BYTES: usize = 4096;
/// The same for the nearest cache.
const AHEAD_BYTES: usize = 1024;
/// Bytes of a line.
const LINE_BYTES: usize = 4 * LANES;
/// The sub-blocks of a record as they stand there.
pub(super) const RECORD_ORDER: [u8; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// As [`super::Gemv`] says.
pub(super) type GemvArguments<'a, S> = (
    &'a mut GemvSpace<S>,
    &'a TileRows<'a>,
    &'a Activations<'a>,
    &'a mut [f32],
);

/// Whether a weight is quickest read in order: its blocks are whole steps, and its rows lie right one behind the
/// other.
pub(super) fn is_in_order<B: Block>(weight: &TileRows<'_>) -> bool {
    B::PART_ELEMS == RECORD_ELEMS
        && weight.row_bytes == weight.elems / RECORD_ELEMS * B::BLOCK_BYTES
}

/// As [`super::Gemv`] says, for one format and a weight that [`is_in_order`].
#[inline(always)]
pub(super) fn gemv<S: Isa, B: Block>(
    isa: S,
    (space, weight, activations, out): GemvArguments<'_, S>,
) {
    const {
        assert!(
            B::PART_ELEMS != RECORD_ELEMS
                || B::Parts::TERMS <= TERMS_MAX && B::BLOCK_BYTES <= RECORD_ELEMS
        );
    }
    let steps = weight.elems / RECORD_ELEMS;
    out.fill(0.0);
    for first in (0..steps).step_by(LANES) {
        let records = InOrder::new::<B>(isa, first..steps.min(first + LANES), activations);
        let pass = Pass {
            weight,
            steps,
            first,
            records,
        };
        pass.run::<B>(isa, space, out);
    }
}

/// The activations of sixteen steps.
pub(super) struct InOrder<S: Isa> {
    /// Each lane's record. Where a format multiplies step by step, sums and scales alone.
    pub side_by_side: SideBySide<S>,
    /// Where a format multiplies step by step: the sub-blocks of each step in the format's order, two a vector.
    words: [[S::V; 4]; LANES],
    /// Steps that differ: lane `i` is step `i`, beginning again after so many.
    count: usize,
}

impl<S: Isa> InOrder<S> {
    /// The activations of `steps` and, so that there are sixteen, of what comes after: the same again.
    #[inline(always)]
    fn new<B: Block>(isa: S, steps: Range<usize>, activations: &Activations<'_>) -> InOrder<S> {
        let record = |step| &activations.step(step)[0];
        let mut words = [[isa.splat_i32(0); 4]; LANES];
        if B::STEP_BY_STEP {
            for (words, step) in words.iter_mut().zip(steps.clone()) {
                let (record, _) = record(step).as_chunks();
                for (word, order) in words.iter_mut().zip(B::ORDER.as_chunks().0) {
                    let [first, second] = order.map(|at| &record[usize::from(at)]);
                    *word = isa.halves(first, second);
                }
            }
        }
        let mut lanes = steps.clone().cycle();
        let records = core::array::from_fn(|_| record(lanes.next().unwrap_or(steps.start)));
        let side_by_side = if B::STEP_BY_STEP {
            SideBySide::sums(isa, records)
        } else {
            SideBySide::new(isa, records)
        };
        InOrder {
            side_by_side,
            words,
            count: steps.len(),
        }
    }
}

/// How a format multiplies one step at a time.
pub(super) trait StepDots {
    /// Dots of a block with the record's words in the format's [`Block::ORDER`], over all words of a vector: their
    /// sum is the block's integer.
    fn dots<S: Isa>(isa: S, block: &[u8], words: &[S::V; 4]) -> S::V;
}

/// The integers of sixteen steps, one block each.
#[inline(always)]
pub(super) fn sixteen_dots<S: Isa, D: StepDots>(
    isa: S,
    steps: &Steps<'_>,
    records: &InOrder<S>,
) -> S::V {
    let mut dots = [isa.splat_i32(0); LANES];
    let mut step = 0;
    for (lane, dots) in dots.iter_mut().enumerate() {
        let at = lane * steps.stride;
        for line in (0..steps.stride).step_by(LINE_BYTES) {
            isa.prefetch_at(steps.bytes, at + line + AHEAD_BYTES);
            isa.prefetch_far(steps.bytes, at + line + FAR_AHEAD_BYTES);
        }
        *dots = D::dots(isa, &steps.bytes[at..], &records.words[step]);
        step = if step + 1 < records.count {
            step + 1
        } else {
            0
        };
    }
    isa.sums_16(&dots)
}

/// Sixteen steps.
pub(super) struct Steps<'a> {
    pub bytes: &'a [u8],
    /// Bytes from a step to the next.
    pub stride: usize,
    /// What is wanted after them.
    next: &'a [u8],
}

impl<'a> Steps<'a> {
    /// The first sixteen steps of `bytes`. Where there are fewer they are copied to `last`, so that sixteen can be
    /// read; nobody reads what the others give.
    #[inline(always)]
    fn of<B: Block>(bytes: &'a [u8], last: &'a mut [u8]) -> Steps<'a> {
        let stride = B::BLOCK_BYTES;
        if let Some((bytes, next)) = bytes.split_at_checked(LANES * stride) {
            return Steps {
                bytes,
                stride,
                next,
            };
        }
        last[..bytes.len()].copy_from_slice(bytes);
        Steps {
            bytes: &last[..LANES * stride],
            stride,
            next: &[],
        }
    }

    /// Records that ask for what is wanted two tiles later; unpacking asks for what is wanted next.
    #[inline(always)]
    pub(super) fn ahead<'r, S: Isa>(&'r self, records: &'r SideBySide<S>) -> Ahead<'r, S> {
        Ahead {
            records,
            next: self.next,
            first: LANES * self.stride,
            stride: self.stride / 4,
        }
    }
}

/// The terms of a few tiles, lane by lane: for each term the values of all tiles, then the factors.
#[repr(C, align(64))]
struct Collected {
    lines: [[u8; LINE_BYTES]; LINES + LINES_BEHIND],
}

/// Takes the terms of one tile.
struct Collector<'a> {
    bytes: &'a mut [u8],
    /// Where the tile's next line goes.
    at: usize,
    /// Bytes from a line to the tile's next.
    stride: usize,
}

impl<S: Isa> Sums<S> for Collector<'_> {
    #[inline(always)]
    fn add(&mut self, isa: S, _r: usize, value: S::F, factor: S::F) {
        for line in [value, factor] {
            let into = self.bytes[self.at..].first_chunk_mut();
            isa.store_words(into.expect("a line for each term"), line);
            self.at += self.stride;
        }
    }
}

/// What products with one row need: a tile, and the terms of a few.
pub struct GemvSpace<S: Isa> {
    pub(super) tile: Tile<S>,
    collected: Collected,
    /// The last steps of a weight, where they are fewer than sixteen.
    last: [u8; LANES * RECORD_ELEMS],
}

impl<S: Isa> GemvSpace<S> {
    /// Room for products with one row.
    pub fn new(isa: S) -> GemvSpace<S> {
        isa.vectorize::<EmptyGemvSpace, _>(())
    }

    #[inline(always)]
    fn empty(isa: S, (): ()) -> GemvSpace<S> {
        GemvSpace {
            tile: Tile::empty(isa),
            collected: Collected {
                lines: [[0; LINE_BYTES]; LINES + LINES_BEHIND],
            },
            last: [0; LANES * RECORD_ELEMS],
        }
    }
}

/// Names [`GemvSpace::empty`].
struct EmptyGemvSpace;

vectorized!(impl [] EmptyGemvSpace = GemvSpace::empty, (), GemvSpace<S>);

/// Up to sixteen steps of all rows.
struct Pass<'a, S: Isa> {
    weight: &'a TileRows<'a>,
    /// Steps of a row.
    steps: usize,
    /// The first step; 0 where a row has at most sixteen.
    first: usize,
    records: InOrder<S>,
}

impl<S: Isa> Pass<'_, S> {
    /// Adds the steps' terms to all outputs.
    #[inline(always)]
    fn run<B: Block>(&self, isa: S, space: &mut GemvSpace<S>, out: &mut [f32]) {
        let lanes = (self.steps - self.first).min(LANES);
        let rows = (LANES / self.steps).max(1);
        let stride = LANES.div_ceil(rows) * LINE_BYTES;
        for (group, out) in out.chunks_mut(LANES).enumerate() {
            for first in (0..out.len()).step_by(rows) {
                let mut terms = Collector {
                    bytes: space.collected.lines.as_flattened_mut(),
                    // A tile's lanes follow those of the one before that count.
                    at: first * lanes * size_of::<f32>(),
                    stride,
                };
                let at = (LANES * group + first) * self.weight.row_bytes;
                let from = &self.weight.bytes[at + self.first * B::BLOCK_BYTES..];
                let steps = Steps::of::<B>(from, &mut space.last);
                let tile = &mut space.tile;
                let integers = B::dots_in_order(isa, &steps, &self.records, tile);
                let record = [&self.records.side_by_side];
                B::Parts::terms(isa, tile, 0, record, [integers], &mut terms);
            }
            let lines = space.collected.lines.as_flattened();
            add::<S, B>(isa, lines, stride, lanes, out);
        }
    }
}

/// Adds what was collected to at most sixteen outputs, whose `lanes` steps each lie one behind the other.
#[inline(always)]
fn add<S: Isa, B: Block>(isa: S, bytes: &[u8], stride: usize, lanes: usize, out: &mut [f32]) {
    let mut sums = isa.load_part(out);
    let mut columns = [[[isa.splat_i32(0); 4]; 2]; TERMS_MAX];
    let columns = &mut columns[..B::Parts::TERMS.min(TERMS_MAX)];
    for first in (0..lanes).step_by(4) {
        let lines = columns.as_flattened_mut().iter_mut().enumerate();
        for (line, column) in lines {
            let at = line * stride + first * size_of::<f32>();
            *column = isa.columns(bytes, lanes * size_of::<f32>(), at);
        }
        for step in 0..(lanes - first).min(4) {
            for [values, factors] in &*columns {
                let (value, factor) = (isa.float_bits(values[step]), isa.float_bits(factors[step]));
                sums = isa.fma(value, factor, sums);
            }
        }
    }
    isa.store_part(out, sums);
}
