//! `guild.core.linear@1`: one input, one or more weights. Parallel over bands of outputs.

use super::activations::Forms;
use crate::block::{
    Activations, CHUNK_ROWS, GemvSpace, Line, Product, TILE_ROWS, TileRows, Workspace, product,
};
use crate::isa::{Isa, Stream, streaming, vectorized};
use guild_sdk::abi::formats::GUILD_FORMAT_F32;
use guild_sdk::{
    Bounds, Exec, Failure, Instance, JOINED_MAX, Joined, Refusal, Request, ScratchSlots, Tile,
    Weight,
};

/// Widest band of outputs that one task computes.
pub(super) const BAND_MAX: usize = 256;
/// Bytes of an output from which it goes past the caches: the next operation won't find it there anyway, and lines
/// that are a power of two apart drive one another out before they are full.
const STREAMED_BYTES_MIN: usize = 1 << 20;
/// Bands that each worker gets at least, so that workers finish together.
const BANDS_PER_WORKER: usize = 12;

/// One step's binding.
pub struct Linear<S: Isa> {
    isa: S,
    products: Vec<Product<S>>,
    forms: Forms,
    rows_max: usize,
}

/// Whether the request keeps the contract.
///
/// # Errors
/// The operand that doesn't.
pub fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    let inputs = &request.inputs;
    let Some((x, weights)) = inputs.split_first() else {
        return Err(Refusal::shape(0, 0, "linear needs an input and a weight"));
    };
    if weights.is_empty() || weights.len() > JOINED_MAX || weights.len() != request.outputs.len() {
        let text = "linear takes one to eight weights, each with an output";
        return Err(Refusal::shape(1, weights.len() as u64, text));
    }
    if x.format != GUILD_FORMAT_F32 || x.rank < 2 {
        return Err(Refusal::format(0, x.format, "the input isn't f32[n, k]"));
    }
    for (i, (weight, y)) in weights.iter().zip(&request.outputs).enumerate() {
        super::check_weight(i + 1, weight, 2, x.dim())?;
        if y.format != GUILD_FORMAT_F32 || y.dim() != weight.shape[0] {
            let at = inputs.len() + i;
            let text = "an output isn't f32 with as many columns as its weight has rows";
            return Err(Refusal::shape(at, y.dim() as u64, text));
        }
    }
    Ok(())
}

/// Binds a request that [`supports`] accepted.
///
/// # Errors
/// A weight's format has no product.
pub fn create<S: Isa>(isa: S, request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
    Ok(Box::new(Linear::new(isa, request, product::<S>)?))
}

impl<S: Isa> Linear<S> {
    /// Binds a request that [`supports`] accepted to the products that `product` has for its weights' formats.
    ///
    /// # Errors
    /// A weight's format has no product.
    pub(super) fn new(
        isa: S,
        request: &Request<'_>,
        product: fn(u32) -> Option<Product<S>>,
    ) -> Result<Linear<S>, Failure> {
        let mut forms = Forms::new(request.inputs[0].dim());
        let products = request.inputs[1..]
            .iter()
            .map(|weight| product(weight.format).ok_or_else(super::unknown_format))
            .collect::<Result<Vec<_>, _>>()?;
        for product in &products {
            forms.want(product.rounding);
        }
        Ok(Linear {
            isa,
            products,
            forms,
            rows_max: request.inputs[0].shape[0],
        })
    }

    /// Rows of one call at most.
    pub(super) fn rows_max(&self, bounds: &Bounds) -> usize {
        self.rows_max.max(bounds.max_rows).max(bounds.max_outputs)
    }

    /// Bytes of scratch for `rows` rows.
    pub(super) fn scratch_bytes(&self, rows: usize) -> u64 {
        self.forms.bytes(rows) as u64
    }
}

impl<S: Isa> Instance for Linear<S> {
    fn scratch(&self, bounds: &Bounds) -> ScratchSlots {
        ScratchSlots::NONE.call(self.scratch_bytes(self.rows_max(bounds)), 64)
    }

    fn execute(&self, x: &Exec<'_>) -> Result<(), Failure> {
        let par = x.par();
        let input = super::packed(x.input(0)?)?;
        let mut scratch = x.scratch(0)?;
        let rounded = self.forms.make(self.isa, par, &input, &mut scratch)?;
        let rows = input.rows();
        let mut weights: [Option<Weight<'_>>; JOINED_MAX] = [None; JOINED_MAX];
        let mut outputs = Joined::new();
        let mut columns = 0;
        for (i, weight) in weights.iter_mut().take(self.products.len()).enumerate() {
            columns += weight.insert(x.weight(i + 1)?).rows();
        }
        let tile_rows = self.products.iter().map(|product| product.tile_rows).max();
        let band = band(columns, par.workers(), tile_rows.unwrap_or(TILE_ROWS));
        for i in 0..self.products.len() {
            let tiles = x.output(i)?.column_tiles(rows.max(1), band);
            outputs.push(tiles.ok_or_else(super::gaps)?)?;
        }
        par.split(outputs, 1, |_, (member, _, mut y)| {
            let Some(weight) = &weights[member] else {
                return;
            };
            let product = self.products[member];
            let task = Band {
                isa: self.isa,
                product,
                weight,
                activations: rounded.of(product.rounding),
            };
            let columns = y.columns();
            if rows == 1 {
                return task.run_row(columns.start, y.row_mut(0));
            }
            let streams = is_streamed(rows * weight.rows());
            task.run(columns.start, columns.len(), rows, |row, at, lines| {
                if streams && columns.len() - at >= TILE_ROWS {
                    streaming(self.isa, |stream| {
                        let arguments = (stream, &mut y, [row, at], lines);
                        self.isa.vectorize::<StreamLines, _>(arguments);
                    });
                } else {
                    copy_lines(&mut y, [row, at], lines);
                }
            });
        })
    }
}

/// Whether an output of so many elements goes past the caches.
pub(super) fn is_streamed(elems: usize) -> bool {
    elems * size_of::<f32>() >= STREAMED_BYTES_MIN
}

/// Writes a tile's outputs from row `row` and column `at` of `y` on.
fn copy_lines(y: &mut Tile<'_, f32>, [row, at]: [usize; 2], lines: &[Line]) {
    for (i, line) in lines.iter().enumerate() {
        let y = &mut y.row_mut(row + i)[at..];
        let len = y.len().min(TILE_ROWS);
        y[..len].copy_from_slice(&line.0[..len]);
    }
}

vectorized!(
    StreamLines = stream_lines,
    (
        &'a mut Stream,
        &'a mut Tile<'b, f32>,
        [usize; 2],
        &'a [Line]
    )
);

/// The same past the caches, for a whole tile of columns.
#[inline(always)]
fn stream_lines<S: Isa>(
    isa: S,
    (stream, y, [row, at], lines): (&mut Stream, &mut Tile<'_, f32>, [usize; 2], &[Line]),
) {
    for (i, line) in lines.iter().enumerate() {
        let y = y.row_mut(row + i)[at..].first_chunk_mut();
        isa.stream(stream, y.expect("a whole tile of columns"), &line.0);
    }
}

/// Outputs of one task: whole tiles of so many weight rows, at most [`BAND_MAX`].
pub(super) fn band(columns: usize, workers: usize, tile_rows: usize) -> usize {
    let even = columns / (workers * BANDS_PER_WORKER);
    even.next_multiple_of(tile_rows).clamp(tile_rows, BAND_MAX)
}

/// Some weight rows times all rows of activations.
pub(super) struct Band<'a, S: Isa> {
    pub isa: S,
    pub product: Product<S>,
    pub weight: &'a Weight<'a>,
    pub activations: Activations<'a>,
}

impl<S: Isa> Band<'_, S> {
    /// Writes to `out` the products of the weight rows from `first` on with the only row of activations.
    fn run_row(&self, first: usize, out: &mut [f32]) {
        let weight = tile_rows(self.weight, first, out.len());
        let mut space = GemvSpace::new(self.isa);
        (self.product.gemv)(self.isa, &mut space, &weight, &self.activations, out);
    }

    /// Calls `emit(row, column - first, lines)` for each sixteen of the weight rows `first..first + count` and each few
    /// rows, from `row` on.
    pub(super) fn run(
        &self,
        first: usize,
        count: usize,
        rows: usize,
        mut emit: impl FnMut(usize, usize, &[Line]),
    ) {
        let mut space = Workspace::new(self.isa);
        let mut lines = [Line::ZERO; CHUNK_ROWS];
        for at in (0..count).step_by(self.product.tile_rows) {
            let wide = (count - at).min(self.product.tile_rows);
            let tile_rows = tile_rows(self.weight, first + at, wide);
            let tiles = wide.div_ceil(TILE_ROWS);
            let chunk_rows = CHUNK_ROWS / tiles;
            for from in (0..rows).step_by(chunk_rows) {
                let len = (rows - from).min(chunk_rows);
                let lines = &mut lines[..tiles * len];
                (self.product.gemm)(
                    self.isa,
                    &mut space,
                    &tile_rows,
                    &self.activations,
                    from,
                    lines,
                );
                for (tile, lines) in lines.chunks_exact(len).enumerate() {
                    emit(from, at + tile * TILE_ROWS, lines);
                }
            }
        }
    }
}

/// Weight rows `first..first + count`.
pub(super) fn tile_rows<'a>(weight: &Weight<'a>, first: usize, count: usize) -> TileRows<'a> {
    TileRows {
        bytes: weight.row_range(first, count),
        row_bytes: weight.row_stride(),
        elems: weight.elems(),
    }
}
