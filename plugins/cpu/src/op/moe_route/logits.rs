//! The router's product: rule 2 for many rows and all experts.
//!
//! Sixteen experts and one step of 256 elements are widened at a time, so that they stay in the nearest
//! cache while all rows of the task go by; four rows by four experts are multiplied at once. The sixteen
//! lanes of each dot wait in scratch from one step to the next, and are summed at the end.

use crate::block::Float;
use crate::isa::{Isa, LANES, vectorized};
use core::marker::PhantomData;
use guild_sdk::{Tensor, Tile, Weight};

/// Elements of a step.
const STEP: usize = 256;
/// Vectors of a step.
const STEP_VECTORS: usize = STEP / LANES;
/// Rows of a task at most.
pub(super) const ROWS_MAX: usize = 128;

/// Elements of a worker's scratch for rows of `elems` elements.
pub(super) fn work_elems(elems: usize) -> usize {
    let rows = ROWS_MAX * elems.next_multiple_of(STEP);
    rows + LANES * STEP + ROWS_MAX * LANES * LANES
}

/// Names [`logits`] of one weight format.
pub(super) struct Logits<W>(PhantomData<W>);

/// The rows, the router, the logits of some rows and some experts, a worker's scratch.
pub(super) type LogitsArguments<'a, 'b> = (
    &'a Tensor<'b, f32>,
    &'a Weight<'b>,
    &'a mut Tile<'b, f32>,
    &'a mut [f32],
);

vectorized!(impl [W: Float] Logits<W> = logits::<S, W>, LogitsArguments<'a, 'b>);

type Vector = [f32; LANES];

/// Writes a tile of logits.
#[inline(always)]
fn logits<S: Isa, W: Float>(isa: S, (x, weight, y, work): LogitsArguments<'_, '_>) {
    let (rows, columns, elems) = (y.rows(), y.columns(), weight.elems());
    let (count, steps) = (rows.len(), elems.div_ceil(STEP));
    let (packed, rest) = work.split_at_mut(count * steps * STEP);
    let (panel, lanes) = rest.split_at_mut(LANES * STEP);
    let packed = packed.as_chunks_mut::<LANES>().0;
    pack(isa, x, rows.start, count, packed);
    let panel = panel.as_chunks_mut::<LANES>().0;
    let lanes = &mut lanes.as_chunks_mut().0.as_chunks_mut::<LANES>().0[..count];
    for expert in columns.clone().step_by(LANES) {
        lanes.fill([[0.0; LANES]; LANES]);
        for step in 0..steps {
            widen::<S, W>(isa, weight, expert, step, panel);
            let packed = &packed[step * count * STEP_VECTORS..][..count * STEP_VECTORS];
            add_step(isa, panel, packed, lanes);
        }
        let at = expert - columns.start;
        for (row, lanes) in rows.clone().zip(lanes.iter()) {
            let mut sums = [isa.splat(0.0); LANES];
            for (sum, lanes) in sums.iter_mut().zip(lanes) {
                *sum = isa.load(lanes);
            }
            let y = &mut y.row_mut(row)[at..];
            let len = y.len().min(LANES);
            isa.store_part(&mut y[..len], isa.tree_16(&sums));
        }
    }
}

/// Copies rows together, `[steps][rows][256]`. Absent elements are +0.
#[inline(always)]
fn pack<S: Isa>(isa: S, x: &Tensor<'_, f32>, first: usize, count: usize, packed: &mut [Vector]) {
    let steps = packed.chunks_exact_mut(count * STEP_VECTORS);
    for (step, records) in steps.enumerate() {
        for (row, record) in records.chunks_exact_mut(STEP_VECTORS).enumerate() {
            let x = x.row(first + row);
            let x = &x[step * STEP..];
            for (at, to) in (0..).step_by(LANES).zip(record) {
                isa.store(to, isa.load_part(&x[at.min(x.len())..]));
            }
        }
    }
}

/// Widens one step of the experts from `expert` on, `[16][256]`. Absent elements are -0: their product
/// with the rows' absent ones is -0, which leaves every lane as it is. Experts that aren't there repeat
/// the last one.
#[inline(always)]
fn widen<S: Isa, W: Float>(
    isa: S,
    weight: &Weight<'_>,
    expert: usize,
    step: usize,
    panel: &mut [Vector],
) {
    let last = weight.rows() - 1;
    // What is widened next comes from memory in the meantime.
    let next = if (step + 1) * STEP < weight.elems() {
        (expert, step + 1)
    } else {
        (expert + LANES, 0)
    };
    for (m, to) in panel.chunks_exact_mut(STEP_VECTORS).enumerate() {
        let row = weight.row((expert + m).min(last));
        let bytes = &row[step * STEP * W::BYTES..];
        let ahead = &weight.row((next.0 + m).min(last))[next.1 * STEP * W::BYTES..];
        let ahead = &ahead[..ahead.len().min(STEP * W::BYTES)];
        isa.prefetch_all(ahead);
        for (i, to) in to.iter_mut().enumerate() {
            let bytes = &bytes[(i * LANES * W::BYTES).min(bytes.len())..];
            if bytes.len() >= LANES * W::BYTES {
                isa.store(to, W::widen(isa, bytes));
                continue;
            }
            let mut part = [0; 4 * LANES];
            part.chunks_exact_mut(W::BYTES)
                .for_each(|part| part.copy_from_slice(W::MINUS_ZERO));
            part[..bytes.len()].copy_from_slice(bytes);
            isa.store(to, W::widen(isa, &part));
        }
    }
}

/// Adds a step's products to the lanes, `[rows][experts]`.
#[inline(always)]
fn add_step<S: Isa>(isa: S, panel: &[Vector], packed: &[Vector], lanes: &mut [[Vector; LANES]]) {
    let rows = packed.chunks_exact(4 * STEP_VECTORS);
    let single = rows.remainder().chunks_exact(STEP_VECTORS);
    let (fours, rest) = lanes.as_chunks_mut::<4>();
    for (rows, lanes) in rows.zip(fours) {
        for first in (0..LANES).step_by(4) {
            add_dots::<S, 4, 4>(isa, panel, first, rows, lanes);
        }
    }
    for (row, lanes) in single.zip(rest) {
        let lanes = core::array::from_mut(lanes);
        for first in (0..LANES).step_by(8) {
            add_dots::<S, 8, 1>(isa, panel, first, row, lanes);
        }
    }
}

/// `M` experts from `first` on by `X` rows.
#[inline(always)]
fn add_dots<S: Isa, const M: usize, const X: usize>(
    isa: S,
    panel: &[Vector],
    first: usize,
    rows: &[Vector],
    lanes: &mut [[Vector; LANES]; X],
) {
    let (panel, rows) = (
        panel.as_chunks::<STEP_VECTORS>().0,
        rows.as_chunks::<STEP_VECTORS>().0,
    );
    let experts = &panel[first..first + M];
    let rows = &rows[..X];
    let mut sums = [[isa.splat(0.0); M]; X];
    for (sums, lanes) in sums.iter_mut().zip(lanes.iter()) {
        for (sum, lanes) in sums.iter_mut().zip(&lanes[first..]) {
            *sum = isa.load(lanes);
        }
    }
    for c in 0..STEP_VECTORS {
        let mut values = [isa.splat(0.0); M];
        for (value, expert) in values.iter_mut().zip(experts) {
            *value = isa.load(&expert[c]);
        }
        for (row, sums) in rows.iter().zip(&mut sums) {
            let row = isa.load(&row[c]);
            for (expert, sum) in values.iter().zip(sums) {
                *sum = isa.fma(*expert, row, *sum);
            }
        }
    }
    for (sums, lanes) in sums.into_iter().zip(lanes) {
        for (sum, lanes) in sums.into_iter().zip(&mut lanes[first..]) {
            isa.store(lanes, sum);
        }
    }
}
