//! The product of sixteen weight rows with rows of activations: loops over steps and rows, once for
//! all quantised formats.

use super::bf16_tiles::{WIDE_TILE_ROWS, bf16_product};
use super::float::{Bf16, F16, F32, Float, FloatArguments, float_product};
use super::gemv::{GemvArguments, GemvSpace, gemv, is_in_order};
use super::iq1_m::Iq1M;
use super::iq1_s::Iq1S;
use super::iq2_s::Iq2S;
use super::iq2_xs::Iq2Xs;
use super::iq2_xxs::Iq2Xxs;
use super::iq3_s::Iq3S;
use super::iq3_xxs::Iq3Xxs;
use super::iq4_nl::Iq4Nl;
use super::iq4_xs::Iq4Xs;
use super::mxfp4::Mxfp4;
use super::nvfp4::Nvfp4;
use super::q1_0::Q1_0;
use super::q2_k::Q2K;
use super::q3_k::Q3K;
use super::q4_0::Q4_0;
use super::q4_1::Q4_1;
use super::q4_k::Q4K;
use super::q5_0::Q5_0;
use super::q5_1::Q5_1;
use super::q5_k::Q5K;
use super::q6_k::Q6K;
use super::q8_0::Q8_0;
use super::record::{Activations, RECORD_ELEMS, Record, Rounding};
use super::tiled::{tiled_product, tiled_rows_min};
use super::tq1_0::Tq1_0;
use super::tq2_0::Tq2_0;
use super::{Block, Parts, Tile, Workspace};
use crate::isa::{Isa, LANES, vectorized};
use core::marker::PhantomData;
use guild_sdk::abi::formats::{
    GUILD_FORMAT_BF16, GUILD_FORMAT_F16, GUILD_FORMAT_F32, GUILD_FORMAT_IQ1_M, GUILD_FORMAT_IQ1_S,
    GUILD_FORMAT_IQ2_S, GUILD_FORMAT_IQ2_XS, GUILD_FORMAT_IQ2_XXS, GUILD_FORMAT_IQ3_S,
    GUILD_FORMAT_IQ3_XXS, GUILD_FORMAT_IQ4_NL, GUILD_FORMAT_IQ4_XS, GUILD_FORMAT_MXFP4,
    GUILD_FORMAT_NVFP4, GUILD_FORMAT_Q1_0, GUILD_FORMAT_Q2_K, GUILD_FORMAT_Q3_K, GUILD_FORMAT_Q4_0,
    GUILD_FORMAT_Q4_1, GUILD_FORMAT_Q4_K, GUILD_FORMAT_Q5_0, GUILD_FORMAT_Q5_1, GUILD_FORMAT_Q5_K,
    GUILD_FORMAT_Q6_K, GUILD_FORMAT_Q8_0, GUILD_FORMAT_TQ1_0, GUILD_FORMAT_TQ2_0,
};

/// Weight rows of one tile.
pub const TILE_ROWS: usize = LANES;
/// Rows of activations that one product takes at most: their sums stay in a near cache, and
/// unpacking a tile costs little beside multiplying with so many.
pub const CHUNK_ROWS: usize = 256;
/// Bytes of a step of the widest format, `ggml.q8_0`.
const STEP_BYTES_MAX: usize = 8 * 34;

/// One row's outputs of a tile.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Line(pub [f32; LANES]);

impl Line {
    /// No outputs yet.
    pub const ZERO: Line = Line([0.0; LANES]);
}

/// Some weight rows.
#[derive(Clone, Copy)]
pub struct TileRows<'a> {
    /// Their bytes, from the first row's first to the last row's last.
    pub bytes: &'a [u8],
    /// Bytes from a row to the next.
    pub row_bytes: usize,
    /// Elements of a row.
    pub elems: usize,
}

impl TileRows<'_> {
    /// Number of rows.
    #[inline(always)]
    pub(super) fn count(&self) -> usize {
        self.bytes.len().div_ceil(self.row_bytes)
    }
}

/// Writes to `out[i]` the products of the tile's rows with row `first + i` of the activations, which
/// have the product's rounding. Lanes beyond the tile's rows hold garbage. Of more than [`TILE_ROWS`] weight rows the
/// lines of the first sixteen come first, then as many of the others.
pub type Gemm<S> =
    fn(S, &mut Workspace<S>, &TileRows<'_>, &Activations<'_>, first: usize, out: &mut [Line]);

/// Writes to `out[i]` the product of weight row `i` with the one row of the activations, which have the format's
/// rounding. The weight has as many rows as `out` has outputs.
pub type Gemv<S> = fn(S, &mut GemvSpace<S>, &TileRows<'_>, &Activations<'_>, out: &mut [f32]);

/// The products of one weight format.
#[derive(Clone, Copy)]
pub struct Product<S: Isa> {
    /// How activations are rounded.
    pub rounding: Rounding,
    /// Weight rows that `gemm` takes at most: [`TILE_ROWS`] or a multiple.
    pub tile_rows: usize,
    /// Up to `tile_rows` weight rows with rows of activations, up to [`CHUNK_ROWS`] lines of them.
    pub gemm: Gemm<S>,
    /// Any number of weight rows with one row of activations.
    pub gemv: Gemv<S>,
}

/// The products of a weight format.
pub fn product<S: Isa>(format: u32) -> Option<Product<S>> {
    fn quantised<S: Isa, B: Block>() -> Option<Product<S>> {
        Some(Product {
            rounding: B::ROUNDING,
            tile_rows: TILE_ROWS,
            gemm: run_quantised::<S, B>,
            gemv: run_gemv::<S, B>,
        })
    }
    match format {
        GUILD_FORMAT_F32 => Some(plain::<S, F32>()),
        GUILD_FORMAT_F16 => Some(plain::<S, F16>()),
        GUILD_FORMAT_BF16 => Some(plain::<S, Bf16>()),
        GUILD_FORMAT_Q4_0 => quantised::<S, Q4_0>(),
        GUILD_FORMAT_Q4_1 => quantised::<S, Q4_1>(),
        GUILD_FORMAT_Q5_0 => quantised::<S, Q5_0>(),
        GUILD_FORMAT_Q5_1 => quantised::<S, Q5_1>(),
        GUILD_FORMAT_Q8_0 => quantised::<S, Q8_0>(),
        GUILD_FORMAT_Q2_K => quantised::<S, Q2K>(),
        GUILD_FORMAT_Q3_K => quantised::<S, Q3K>(),
        GUILD_FORMAT_Q4_K => quantised::<S, Q4K>(),
        GUILD_FORMAT_Q5_K => quantised::<S, Q5K>(),
        GUILD_FORMAT_Q6_K => quantised::<S, Q6K>(),
        GUILD_FORMAT_IQ4_NL => quantised::<S, Iq4Nl>(),
        GUILD_FORMAT_IQ4_XS => quantised::<S, Iq4Xs>(),
        GUILD_FORMAT_IQ2_XXS => quantised::<S, Iq2Xxs>(),
        GUILD_FORMAT_IQ2_XS => quantised::<S, Iq2Xs>(),
        GUILD_FORMAT_IQ2_S => quantised::<S, Iq2S>(),
        GUILD_FORMAT_IQ3_XXS => quantised::<S, Iq3Xxs>(),
        GUILD_FORMAT_IQ3_S => quantised::<S, Iq3S>(),
        GUILD_FORMAT_IQ1_S => quantised::<S, Iq1S>(),
        GUILD_FORMAT_IQ1_M => quantised::<S, Iq1M>(),
        GUILD_FORMAT_TQ1_0 => quantised::<S, Tq1_0>(),
        GUILD_FORMAT_TQ2_0 => quantised::<S, Tq2_0>(),
        GUILD_FORMAT_MXFP4 => quantised::<S, Mxfp4>(),
        GUILD_FORMAT_NVFP4 => quantised::<S, Nvfp4>(),
        GUILD_FORMAT_Q1_0 => quantised::<S, Q1_0>(),
        _ => None,
    }
}

fn plain<S: Isa, W: Float>() -> Product<S> {
    Product {
        rounding: Rounding::None,
        tile_rows: TILE_ROWS,
        gemm: run_float::<S, W>,
        gemv: run_float_gemv::<S, W>,
    }
}

/// The products of a weight format for few rows, which are exact, and for many, which are of the tolerant class. Only
/// BF16 has them, where the set has [`Isa::BF16_TILES`].
pub fn tolerant_products<S: Isa>(format: u32) -> Option<[Product<S>; 2]> {
    let many = Product {
        rounding: Rounding::Bf16,
        tile_rows: WIDE_TILE_ROWS,
        gemm: run_bf16_tiles::<S>,
        gemv: |_, _, _, _, _| unreachable!("one row is few"),
    };
    (S::BF16_TILES && format == GUILD_FORMAT_BF16).then_some([plain::<S, Bf16>(), many])
}

fn run_bf16_tiles<S: Isa>(
    isa: S,
    _space: &mut Workspace<S>,
    weight: &TileRows<'_>,
    activations: &Activations<'_>,
    first: usize,
    out: &mut [Line],
) {
    isa.vectorize::<Bf16Tiles, _>((weight, activations, first, out));
}

/// Names [`bf16_product`].
struct Bf16Tiles;

vectorized!(impl [] Bf16Tiles = bf16_product, FloatArguments<'a>);

/// Names [`float_product`] of one format.
struct Plain<W>(PhantomData<W>);

vectorized!(impl [W: Float] Plain<W> = float_product::<S, W>, FloatArguments<'a>);

/// Names [`quantised_product`] of one format.
struct Quantised<B>(PhantomData<B>);

vectorized!(impl [B: Block] Quantised<B> = quantised_product::<S, B>, QuantisedArguments<'a, Workspace<S>>);

/// Names [`vector_product`] of one format.
struct Vectors<B>(PhantomData<B>);

vectorized!(impl [B: Block] Vectors<B> = vector_product::<S, B>, QuantisedArguments<'a, Tile<S>>);

/// Names [`gemv`] of one format.
struct InOrder<B>(PhantomData<B>);

vectorized!(impl [B: Block] InOrder<B> = gemv::<S, B>, GemvArguments<'a, S>);

/// Names [`unpack_padded`] of one format.
struct Padded<B>(PhantomData<B>);

vectorized!(impl [B: Block] Padded<B> = unpack_padded::<S, B>, (&'a [u8], usize, &'a mut Tile<S>));

fn run_float<S: Isa, W: Float>(
    isa: S,
    _space: &mut Workspace<S>,
    weight: &TileRows<'_>,
    activations: &Activations<'_>,
    first: usize,
    out: &mut [Line],
) {
    isa.vectorize::<Plain<W>, _>((weight, activations, first, out));
}

fn run_quantised<S: Isa, B: Block>(
    isa: S,
    space: &mut Workspace<S>,
    weight: &TileRows<'_>,
    activations: &Activations<'_>,
    first: usize,
    out: &mut [Line],
) {
    let arguments = (space, weight, activations, first, out);
    isa.vectorize::<Quantised<B>, _>(arguments);
}

fn run_gemv<S: Isa, B: Block>(
    isa: S,
    space: &mut GemvSpace<S>,
    weight: &TileRows<'_>,
    activations: &Activations<'_>,
    out: &mut [f32],
) {
    if is_in_order::<B>(weight) {
        isa.vectorize::<InOrder<B>, _>((space, weight, activations, out));
    } else {
        by_tiles(weight, out, |rows, lines| {
            isa.vectorize::<Vectors<B>, _>((&mut space.tile, rows, activations, 0, lines));
        });
    }
}

fn run_float_gemv<S: Isa, W: Float>(
    isa: S,
    _space: &mut GemvSpace<S>,
    weight: &TileRows<'_>,
    activations: &Activations<'_>,
    out: &mut [f32],
) {
    by_tiles(weight, out, |rows, lines| {
        isa.vectorize::<Plain<W>, _>((rows, activations, 0, lines));
    });
}

/// One row's outputs, sixteen at a time.
fn by_tiles(
    weight: &TileRows<'_>,
    out: &mut [f32],
    mut multiply: impl FnMut(&TileRows<'_>, &mut [Line]),
) {
    let tiles = weight.bytes.chunks(TILE_ROWS * weight.row_bytes);
    for (bytes, out) in tiles.zip(out.chunks_mut(TILE_ROWS)) {
        let mut line = [Line::ZERO];
        multiply(&TileRows { bytes, ..*weight }, &mut line);
        out.copy_from_slice(&line[0].0[..out.len()]);
    }
}

/// What products of quantised weights take: as [`Gemm`], with a [`Workspace`] or what they use of it.
pub(super) type QuantisedArguments<'a, Space> = (
    &'a mut Space,
    &'a TileRows<'a>,
    &'a Activations<'a>,
    usize,
    &'a mut [Line],
);

#[inline(always)]
fn quantised_product<S: Isa, B: Block>(isa: S, arguments: QuantisedArguments<'_, Workspace<S>>) {
    if S::TILES && arguments.4.len() >= tiled_rows_min::<B>() {
        return tiled_product::<S, B>(isa, arguments);
    }
    let (space, weight, activations, first, out) = arguments;
    vector_product::<S, B>(isa, (&mut space.tile, weight, activations, first, out));
}

/// The product by vector dots.
#[inline(always)]
fn vector_product<S: Isa, B: Block>(
    isa: S,
    (tile, weight, activations, first, out): QuantisedArguments<'_, Tile<S>>,
) {
    out.fill(Line::ZERO);
    for step in 0..steps::<B>(weight) {
        let blocks = unpack_step::<S, B>(isa, weight, step, tile);
        let records = &activations.step(step)[first..];
        vector_step::<S, B>(isa, tile, blocks, records, out);
    }
}

/// Blocks of one step at most.
const fn blocks_per_step<B: Block>() -> usize {
    RECORD_ELEMS / B::BLOCK_ELEMS
}

/// Steps of a row.
pub(super) fn steps<B: Block>(weight: &TileRows<'_>) -> usize {
    (weight.elems / B::BLOCK_ELEMS).div_ceil(blocks_per_step::<B>())
}

/// Unpacks one step of the rows; gives how many blocks it has.
#[inline(always)]
pub(super) fn unpack_step<S: Isa, B: Block>(
    isa: S,
    weight: &TileRows<'_>,
    step: usize,
    tile: &mut Tile<S>,
) -> usize {
    let before = step * blocks_per_step::<B>();
    let blocks = (weight.elems / B::BLOCK_ELEMS - before).min(blocks_per_step::<B>());
    let offset = before * B::BLOCK_BYTES;
    if weight.count() == TILE_ROWS {
        B::unpack(isa, weight.bytes, weight.row_bytes, offset, blocks, tile);
    } else {
        unpack_part::<S, B>(isa, weight, offset, blocks, tile);
    }
    blocks
}

/// Adds one step to all outputs by vector dots.
#[inline(always)]
fn vector_step<S: Isa, B: Block>(
    isa: S,
    tile: &Tile<S>,
    blocks: usize,
    records: &[Record],
    out: &mut [Line],
) {
    let mut done = 0;
    if S::ROWS_AT_ONCE >= 8 {
        done = rows::<S, B, 8>(isa, tile, blocks, records, out, done);
        done = rows::<S, B, 4>(isa, tile, blocks, records, out, done);
    }
    if S::ROWS_AT_ONCE >= 2 {
        done = rows::<S, B, 2>(isa, tile, blocks, records, out, done);
    }
    rows::<S, B, 1>(isa, tile, blocks, records, out, done);
}

/// Multiplies rows `done..` in groups of `R`; gives how many are done then.
#[inline(always)]
fn rows<S: Isa, B: Block, const R: usize>(
    isa: S,
    tile: &Tile<S>,
    blocks: usize,
    records: &[Record],
    out: &mut [Line],
    done: usize,
) -> usize {
    let records = records[done..].as_chunks::<R>().0;
    let outs = out[done..].as_chunks_mut::<R>().0;
    let groups = outs.len();
    for (records, out) in records.iter().zip(outs) {
        let records = records.each_ref();
        let mut sums = load_sums(isa, out);
        for part in 0..parts::<B>(blocks) {
            let integers = B::Parts::dots(isa, tile, part, records);
            B::Parts::terms(isa, tile, part, records, integers, &mut sums);
        }
        store_sums(isa, out, sums);
    }
    done + R * groups
}

/// Parts of a step's blocks.
#[inline(always)]
pub(super) fn parts<B: Block>(blocks: usize) -> usize {
    (blocks * (B::BLOCK_ELEMS / B::PART_ELEMS)).min(RECORD_ELEMS / B::PART_ELEMS)
}

/// The outputs of `R` rows.
#[inline(always)]
pub(super) fn load_sums<S: Isa, const R: usize>(isa: S, out: &[Line; R]) -> [S::F; R] {
    let mut sums = [isa.splat(0.0); R];
    for (sum, out) in sums.iter_mut().zip(out) {
        *sum = isa.load(&out.0);
    }
    sums
}

/// Writes the outputs of `R` rows.
#[inline(always)]
pub(super) fn store_sums<S: Isa, const R: usize>(isa: S, out: &mut [Line; R], sums: [S::F; R]) {
    for (out, sum) in out.iter_mut().zip(sums) {
        isa.store(&mut out.0, sum);
    }
}

/// Unpacks fewer than sixteen rows; the missing ones are zero bytes, whose products nobody reads.
#[cold]
#[inline(never)]
fn unpack_part<S: Isa, B: Block>(
    isa: S,
    weight: &TileRows<'_>,
    offset: usize,
    blocks: usize,
    tile: &mut Tile<S>,
) {
    let mut bytes = [0; TILE_ROWS * STEP_BYTES_MAX];
    let used = blocks * B::BLOCK_BYTES;
    let rows = weight.bytes.chunks(weight.row_bytes);
    for (row, bytes) in rows.zip(bytes.chunks_exact_mut(STEP_BYTES_MAX)) {
        bytes[..used].copy_from_slice(&row[offset..offset + used]);
    }
    isa.vectorize::<Padded<B>, _>((&bytes[..], blocks, tile));
}

#[inline(always)]
fn unpack_padded<S: Isa, B: Block>(isa: S, (bytes, blocks, tile): (&[u8], usize, &mut Tile<S>)) {
    B::unpack(isa, bytes, STEP_BYTES_MAX, 0, blocks, tile);
}
