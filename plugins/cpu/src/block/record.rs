//! Activations of one step of 256 elements, as products read them.
//!
//! Records of a call lie step by step, within a step row by row, so that a product that has unpacked
//! a step's weights reads the rows in order. A rounded record has the integers and scales that
//! `guild-quant` defines for `guild.q8_256` or `guild.q8_32` (rule 5); where the sums stand is this
//! crate's affair:
//!
//! | Bytes | `q8_256` | `q8_32` |
//! |---|---|---|
//! | 0..256 | integers | integers |
//! | 256..288 | sums of each 16, i16 | scale of each 32, f32 |
//! | 288..320 | sums of each 32, i16; scale, f32 at 304 | for each 32, the sum and that of its first 16, i16 |
//!
//! The sums of `q8_256` stand in the order 0, 2, 1, 3 within each four, as the pairs of factors do that
//! `k_quants` splits off the packed bytes.

use crate::isa::{BF16_TILE_ELEMS, Isa, LANES, REGISTER_ROWS, TileBytes, vectorized};
use guild_numerics::convert::CANONICAL_NAN_F32;

/// Elements of one step.
pub const RECORD_ELEMS: usize = 256;
/// Bytes of a rounded record.
pub const RECORD_BYTES: usize = 320;
/// One row's activations of one step, rounded.
pub type Record = [u8; RECORD_BYTES];
/// One row's activations of one step as they are: 256 f32, little-endian.
pub type FloatRecord = [u8; 4 * RECORD_ELEMS];

/// Tiles of BF16 activations of one step.
const TILES_PER_STEP: usize = RECORD_ELEMS / BF16_TILE_ELEMS;

/// Bytes of all that stands behind the integers.
const SUMS_BYTES: usize = RECORD_BYTES - RECORD_ELEMS;
const SUMS_16_AT: usize = 256;
const SUMS_32_AT: usize = 288;
const SCALE_AT: usize = 304;
const SMALL_SCALES_AT: usize = 256;
const SMALL_SUMS_AT: usize = 288;
/// Where sum `i` of four stands.
const PAIR_ORDER: [usize; 4] = [0, 2, 1, 3];
/// Magnitudes below this become an all-zero block: 2^-100.
const AMAX_MIN: f32 = f32::from_bits((127 - 100) << 23);

/// What a weight format wants its activations to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// As they are.
    None,
    /// `guild.q8_32`.
    Q8_32,
    /// `guild.q8_256`.
    Q8_256,
    /// BF16, of sixteen rows together, as [`WriteTiles`] writes them: for the tolerant class.
    Bf16,
}

impl Rounding {
    /// Bytes of a record.
    #[must_use]
    pub const fn record_bytes(self) -> usize {
        match self {
            Rounding::None => 4 * RECORD_ELEMS,
            Rounding::Q8_32 | Rounding::Q8_256 => RECORD_BYTES,
            Rounding::Bf16 => 2 * RECORD_ELEMS,
        }
    }

    /// Bytes of a buffer for so many records. Behind them is room for those that a tile register reads besides.
    #[must_use]
    pub const fn buffer_bytes(self, records: usize) -> usize {
        let behind = match self {
            Rounding::None | Rounding::Bf16 => 0,
            Rounding::Q8_32 | Rounding::Q8_256 => REGISTER_ROWS - 1,
        };
        (records + behind) * self.record_bytes()
    }

    /// Rows that are written together: a buffer is for a multiple of them.
    #[must_use]
    pub const fn rows_together(self) -> usize {
        match self {
            Rounding::None | Rounding::Q8_32 | Rounding::Q8_256 => 1,
            Rounding::Bf16 => REGISTER_ROWS,
        }
    }
}

/// Activations of one rounding: records `[steps][rows]`, or for [`Rounding::Bf16`] groups of sixteen rows, each
/// `[steps][8]` tiles.
#[derive(Clone, Copy)]
pub struct Activations<'a> {
    /// Steps of a row.
    pub steps: usize,
    /// Rows of each step.
    pub rows: usize,
    /// The records, in [`Rounding::buffer_bytes`].
    pub records: &'a [u8],
}

impl<'a> Activations<'a> {
    /// Copies some rows, so that they stand together: `into` holds the records `[steps][list]` afterwards.
    ///
    /// # Panics
    /// When `into` is shorter than [`Rounding::buffer_bytes`], or there is no such row.
    pub fn gather<'g>(
        &self,
        rounding: Rounding,
        list: &[u32],
        into: &'g mut [u8],
    ) -> Activations<'g> {
        let size = rounding.record_bytes();
        let into = &mut into[..rounding.buffer_bytes(self.steps * list.len())];
        let froms = self.records.chunks_exact(self.rows * size).take(self.steps);
        for (from, into) in froms.zip(into.chunks_exact_mut(list.len() * size)) {
            for (row, record) in list.iter().zip(into.chunks_exact_mut(size)) {
                record.copy_from_slice(&from[*row as usize * size..][..size]);
            }
        }
        Activations {
            steps: self.steps,
            rows: list.len(),
            records: into,
        }
    }

    /// The rounded records of one step.
    ///
    /// # Panics
    /// When there is no such step.
    #[inline(always)]
    pub(super) fn step(&self, step: usize) -> &'a [Record] {
        &self.records.as_chunks().0[step * self.rows..][..self.rows]
    }

    /// The rounded records from one row of one step on, to the end of the last step.
    ///
    /// # Panics
    /// When there is no such step or row.
    #[inline(always)]
    pub(super) fn from(&self, step: usize, row: usize) -> &'a [Record] {
        &self.records.as_chunks().0[step * self.rows + row..]
    }

    /// One row's plain record of one step.
    ///
    /// # Panics
    /// When there is no such row or step.
    #[inline(always)]
    pub(super) fn plain(&self, step: usize, row: usize) -> &'a FloatRecord {
        &self.records.as_chunks().0[step * self.rows..][..self.rows][row]
    }
}

impl<'a> Activations<'a> {
    /// The tiles of the sixteen rows from `row` on, for rows of `elems` elements; none where there is no such row.
    ///
    /// # Panics
    /// When `row` isn't a multiple of sixteen.
    #[inline(always)]
    pub(super) fn tiles(&self, row: usize, elems: usize) -> &'a [TileBytes] {
        assert!(row.is_multiple_of(REGISTER_ROWS), "groups of rows");
        if row >= self.rows {
            return &[];
        }
        let (lines, _) = self.records.as_chunks::<{ 4 * LANES }>();
        let tiles = lines.as_chunks::<REGISTER_ROWS>().0;
        let group = self.steps * TILES_PER_STEP;
        &tiles[row / REGISTER_ROWS * group..][..elems.div_ceil(BF16_TILE_ELEMS)]
    }
}

/// Where the activations of a step stand that a product multiplies with a tile: one record for all lanes, or one
/// for each.
pub(super) trait Source<S: Isa>: Copy {
    /// Elements `4 t` to `4 t + 3`.
    fn word(self, isa: S, t: usize) -> S::V;
    /// Word `pair` of the sums of each 16.
    fn pair_of_16(self, isa: S, pair: usize) -> S::V;
    /// Word `pair` of the sums of each 32.
    fn pair_of_32(self, isa: S, pair: usize) -> S::V;
    /// The scale of a `q8_256` record.
    fn scale(self, isa: S) -> S::F;
    /// The scale of block `block` of a `q8_32` record.
    fn small_scale(self, isa: S, block: usize) -> S::F;
    /// The sum of block `block` of a `q8_32` record.
    fn small_sum(self, isa: S, block: usize) -> S::V;
    /// The sum of half `half` of a `q8_32` record's blocks, counted through all blocks.
    fn small_half_sum(self, isa: S, half: usize) -> S::V;
}

impl<S: Isa> Source<S> for &Record {
    #[inline(always)]
    fn word(self, isa: S, t: usize) -> S::V {
        isa.splat_i32(word(self, 4 * t))
    }
    #[inline(always)]
    fn pair_of_16(self, isa: S, pair: usize) -> S::V {
        isa.splat_i32(word(self, SUMS_16_AT + 4 * pair))
    }
    #[inline(always)]
    fn pair_of_32(self, isa: S, pair: usize) -> S::V {
        isa.splat_i32(word(self, SUMS_32_AT + 4 * pair))
    }
    #[inline(always)]
    fn scale(self, isa: S) -> S::F {
        isa.splat(f32::from_bits(word(self, SCALE_AT).cast_unsigned()))
    }
    #[inline(always)]
    fn small_scale(self, isa: S, block: usize) -> S::F {
        let bits = word(self, SMALL_SCALES_AT + 4 * block).cast_unsigned();
        isa.splat(f32::from_bits(bits))
    }
    #[inline(always)]
    fn small_sum(self, isa: S, block: usize) -> S::V {
        isa.splat_i32(half_word(self, SMALL_SUMS_AT + 4 * block))
    }
    #[inline(always)]
    fn small_half_sum(self, isa: S, half: usize) -> S::V {
        let at = SMALL_SUMS_AT + 4 * (half / 2);
        let first = half_word(self, at + 2);
        isa.splat_i32(if half.is_multiple_of(2) {
            first
        } else {
            half_word(self, at) - first
        })
    }
}

/// Sixteen records side by side, one a lane.
pub(super) struct SideBySide<S: Isa>([S::V; RECORD_BYTES / 4]);

impl<S: Isa> SideBySide<S> {
    /// Puts records side by side.
    #[inline(always)]
    pub(super) fn new(isa: S, records: [&Record; LANES]) -> SideBySide<S> {
        let mut words = [isa.splat_i32(0); RECORD_BYTES / 4];
        let records = records.map(|record| *record);
        for (i, words) in words.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            *words = isa.columns(records.as_flattened(), RECORD_BYTES, 16 * i);
        }
        SideBySide(words)
    }

    /// The same, but without the integers.
    #[inline(always)]
    pub(super) fn sums(isa: S, records: [&Record; LANES]) -> SideBySide<S> {
        let mut words = [isa.splat_i32(0); RECORD_BYTES / 4];
        let sums: [[u8; SUMS_BYTES]; LANES] =
            records.map(|record| *record.last_chunk().expect("a record ends with its sums"));
        let into = words[RECORD_ELEMS / 4..].as_chunks_mut::<4>().0;
        for (i, words) in into.iter_mut().enumerate() {
            *words = isa.columns(sums.as_flattened(), SUMS_BYTES, 16 * i);
        }
        SideBySide(words)
    }
}

impl<S: Isa> Source<S> for &SideBySide<S> {
    #[inline(always)]
    fn word(self, _isa: S, t: usize) -> S::V {
        self.0[t]
    }
    #[inline(always)]
    fn pair_of_16(self, _isa: S, pair: usize) -> S::V {
        self.0[SUMS_16_AT / 4 + pair]
    }
    #[inline(always)]
    fn pair_of_32(self, _isa: S, pair: usize) -> S::V {
        self.0[SUMS_32_AT / 4 + pair]
    }
    #[inline(always)]
    fn scale(self, isa: S) -> S::F {
        isa.float_bits(self.0[SCALE_AT / 4])
    }
    #[inline(always)]
    fn small_scale(self, isa: S, block: usize) -> S::F {
        isa.float_bits(self.0[SMALL_SCALES_AT / 4 + block])
    }
    #[inline(always)]
    fn small_sum(self, isa: S, block: usize) -> S::V {
        isa.sar::<16>(isa.shl::<16>(self.0[SMALL_SUMS_AT / 4 + block]))
    }
    #[inline(always)]
    fn small_half_sum(self, isa: S, half: usize) -> S::V {
        let first = isa.sar::<16>(self.0[SMALL_SUMS_AT / 4 + half / 2]);
        if half.is_multiple_of(2) {
            first
        } else {
            isa.sub_i32(self.small_sum(isa, half / 2), first)
        }
    }
}

/// Records side by side, for a product that goes through weights in order: each word asks for its share of what
/// comes next, so that requests to memory keep pace with the arithmetic.
pub(super) struct Ahead<'a, S: Isa> {
    pub records: &'a SideBySide<S>,
    /// What is wanted later.
    pub next: &'a [u8],
    /// Where in it the first word's share is.
    pub first: usize,
    /// Bytes of it for each word.
    pub stride: usize,
}

impl<S: Isa> Clone for Ahead<'_, S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Isa> Copy for Ahead<'_, S> {}

impl<S: Isa> Source<S> for Ahead<'_, S> {
    #[inline(always)]
    fn word(self, isa: S, t: usize) -> S::V {
        isa.prefetch_at(self.next, self.first + self.stride * t);
        self.records.word(isa, t)
    }
    #[inline(always)]
    fn pair_of_16(self, isa: S, pair: usize) -> S::V {
        self.records.pair_of_16(isa, pair)
    }
    #[inline(always)]
    fn pair_of_32(self, isa: S, pair: usize) -> S::V {
        self.records.pair_of_32(isa, pair)
    }
    #[inline(always)]
    fn scale(self, isa: S) -> S::F {
        self.records.scale(isa)
    }
    #[inline(always)]
    fn small_scale(self, isa: S, block: usize) -> S::F {
        self.records.small_scale(isa, block)
    }
    #[inline(always)]
    fn small_sum(self, isa: S, block: usize) -> S::V {
        self.records.small_sum(isa, block)
    }
    #[inline(always)]
    fn small_half_sum(self, isa: S, half: usize) -> S::V {
        self.records.small_half_sum(isa, half)
    }
}

/// The word at `at`.
#[inline(always)]
fn word(record: &Record, at: usize) -> i32 {
    i32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
}

/// The half word at `at`.
#[inline(always)]
fn half_word(record: &Record, at: usize) -> i32 {
    i16::from_le_bytes([record[at], record[at + 1]]).into()
}

/// Writes up to 256 activations, whole blocks of the format; what the rest of the record holds is nobody's affair.
///
/// # Panics
/// When the record isn't [`Rounding::record_bytes`] long, or the row is longer or not whole blocks.
pub struct WriteRecord;

vectorized!(impl [] WriteRecord = write_record, (Rounding, &'a [f32], &'a mut [u8]));

#[inline(always)]
fn write_record<S: Isa>(isa: S, (rounding, x, record): (Rounding, &[f32], &mut [u8])) {
    match rounding {
        Rounding::None => {
            for (x, bytes) in x.iter().zip(record.as_chunks_mut::<4>().0) {
                *bytes = x.to_le_bytes();
            }
        }
        Rounding::Q8_32 => round_small(isa, x, rounded(record)),
        Rounding::Q8_256 => round_large(isa, x, rounded(record)),
        Rounding::Bf16 => unreachable!("sixteen rows are written together"),
    }
}

#[inline(always)]
fn rounded(record: &mut [u8]) -> &mut Record {
    record.try_into().expect("a record has its format's length")
}

#[inline(always)]
fn round_large<S: Isa>(isa: S, x: &[f32], record: &mut Record) {
    let x: &[[f32; LANES]; 16] = x.as_chunks().0.try_into().expect("a whole block of 256");
    let (scale, rounded) = round_block(isa, x);
    write_integers(isa, &rounded, record);
    let sums = sums_of_16(isa, &rounded);
    for (i, sum) in sums.iter().enumerate() {
        let at = SUMS_16_AT + 2 * (i / 4 * 4 + PAIR_ORDER[i % 4]);
        record[at..at + 2].copy_from_slice(&sum.to_le_bytes());
    }
    for (i, pair) in sums.as_chunks::<2>().0.iter().enumerate() {
        let at = SUMS_32_AT + 2 * (i / 4 * 4 + PAIR_ORDER[i % 4]);
        record[at..at + 2].copy_from_slice(&(pair[0] + pair[1]).to_le_bytes());
    }
    record[SCALE_AT..SCALE_AT + 4].copy_from_slice(&scale.to_le_bytes());
}

#[inline(always)]
fn round_small<S: Isa>(isa: S, x: &[f32], record: &mut Record) {
    assert!(
        x.len() <= RECORD_ELEMS && x.len().is_multiple_of(32),
        "whole blocks of 32"
    );
    let mut rounded = [isa.splat(0.0); 16];
    let blocks = x.as_chunks().0.as_chunks().0.iter().enumerate();
    for ((i, block), rounded) in blocks.zip(rounded.as_chunks_mut::<2>().0) {
        let at = SMALL_SCALES_AT + 4 * i;
        let scale;
        (scale, *rounded) = round_block(isa, block);
        record[at..at + 4].copy_from_slice(&scale.to_le_bytes());
    }
    write_integers(isa, &rounded, record);
    let sums = sums_of_16(isa, &rounded);
    for (i, [first, second]) in sums.as_chunks().0.iter().enumerate() {
        let at = SMALL_SUMS_AT + 4 * i;
        record[at..at + 2].copy_from_slice(&(first + second).to_le_bytes());
        record[at + 2..at + 4].copy_from_slice(&first.to_le_bytes());
    }
}

#[inline(always)]
fn write_integers<S: Isa>(isa: S, rounded: &[S::F; 16], record: &mut Record) {
    let bytes = record.as_chunks_mut::<LANES>().0;
    for (bytes, rounded) in bytes.iter_mut().zip(rounded) {
        isa.store_bytes(bytes, *rounded);
    }
}

/// The sum of each vector of integers, exact: none exceeds `16 * 127`.
#[inline(always)]
fn sums_of_16<S: Isa>(isa: S, rounded: &[S::F; 16]) -> [i16; 16] {
    isa.array(isa.tree_16(rounded)).map(|sum| sum as i16)
}

/// Rounds one block by rule 5; gives its scale and its integers.
#[inline(always)]
fn round_block<S: Isa, const VECTORS: usize>(
    isa: S,
    x: &[[f32; LANES]; VECTORS],
) -> (f32, [S::F; VECTORS]) {
    let zero = isa.splat(0.0);
    let (mut largest, mut strange) = (zero, zero);
    for x in x {
        let x = isa.load(x);
        let magnitude = isa.abs(x);
        largest = isa.select(isa.greater(magnitude, largest), magnitude, largest);
        // 0 for a finite value, NaN for the others.
        strange = isa.add(strange, isa.sub(x, x));
    }
    if isa.tree(strange).is_nan() {
        return (CANONICAL_NAN_F32, [zero; VECTORS]);
    }
    let amax = maximum_of(isa.array(largest));
    if amax < AMAX_MIN {
        return (0.0, [zero; VECTORS]);
    }
    let inverse = isa.splat(127.0 / amax);
    let (top, bottom) = (isa.splat(127.0), isa.splat(-127.0));
    let mut rounded = [zero; VECTORS];
    for (rounded, x) in rounded.iter_mut().zip(x) {
        let y = isa.round(isa.mul(isa.load(x), inverse));
        let y = isa.select(isa.greater(y, top), top, y);
        *rounded = isa.select(isa.greater(bottom, y), bottom, y);
    }
    (amax / 127.0, rounded)
}

/// The largest lane; none is NaN. By halves, so that few steps wait for one another.
#[inline(always)]
fn maximum_of(mut lanes: [f32; LANES]) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            let (x, y) = (lanes[i], lanes[i + half]);
            lanes[i] = if x > y { x } else { y };
        }
        half /= 2;
    }
    lanes[0]
}
