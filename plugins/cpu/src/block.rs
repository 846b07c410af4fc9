//! Weight formats as vectors: sixteen weight rows side by side, one row a lane.
//!
//! A product works in steps of 256 elements of the shared axis. [`Block::unpack`] turns the step's
//! blocks of sixteen rows into a [`Tile`]: word `t` of the tile holds, for each row, elements `4 t` to
//! `4 t + 3`. [`Parts::dots`] then takes the rows of activations, whose words are spread over all
//! lanes, so that sixteen outputs grow at once, nothing is summed across lanes, and each output keeps
//! its own order: one accumulator, blocks ascending (`docs/numerics.md`, rule 4). With many rows and
//! tile registers the integers come from `tiled` instead.
//!
//! | File | Holds |
//! |---|---|
//! | `record` | activations of one step, rounded to 8 bits or BF16, or plain |
//! | `dot` | signed and unsigned dots, by type |
//! | `k_quants` | what the 256-element formats share: packed scales, minimums |
//! | `small` | what the formats share whose activations are rounded by 32 |
//! | `levels` | tables of sixteen levels |
//! | `grid` | what the formats on lattices share: points, signs, odd scales |
//! | `q1_0` … `q8_0`, `iq1_s` … `iq4_xs`, `tq1_0`, `tq2_0`, `mxfp4`, `nvfp4` | one format each |
//! | `float` | F32, F16, BF16: widened rows, rule 2 |
//! | `product` | the loops over steps and rows |
//! | `gemv` | the same for one row, in the order of the weights |
//! | `tiled` | the same for many rows, in tile registers |
//! | `bf16_tiles` | BF16 weights with many rows in tile registers: the tolerant class |

mod bf16_tiles;
mod dot;
mod float;
mod gemv;
mod grid;
mod iq1_m;
mod iq1_s;
mod iq2_s;
mod iq2_xs;
mod iq2_xxs;
mod iq3_s;
mod iq3_xxs;
mod iq4_nl;
mod iq4_xs;
mod k_quants;
mod levels;
mod mxfp4;
mod nvfp4;
mod product;
mod q1_0;
mod q2_k;
mod q3_k;
mod q4_0;
mod q4_1;
mod q4_k;
mod q5_0;
mod q5_1;
mod q5_k;
mod q6_k;
mod q8_0;
mod record;
mod small;
mod tiled;
mod tq1_0;
mod tq2_0;

pub use bf16_tiles::WriteTiles;
pub(crate) use float::{Bf16, F16, F32, Float};
pub use gemv::GemvSpace;
pub use product::{
    CHUNK_ROWS, Gemm, Gemv, Line, Product, TILE_ROWS, TileRows, product, tolerant_products,
};
pub use record::{Activations, RECORD_ELEMS, Rounding, WriteRecord};

use crate::isa::{Isa, PlaneLayout, vectorized};
use record::Source;
use tiled::TiledSpace;

/// One step of sixteen weight rows, unpacked. What a format doesn't use keeps old values.
struct Tile<S: Isa> {
    /// Word `t`: elements `4 t` to `4 t + 3` as bytes.
    words: [S::V; 64],
    /// The integer scale of each sub-block.
    scales: [S::V; 16],
    /// Factors of the activations' sums, two i16 a word.
    pairs: [S::V; 8],
    /// The scale of each block of the step, or of each part of a block that has several.
    d: [S::F; 16],
    /// The scale of each block's minimums.
    minimums: [S::F; 8],
}

impl<S: Isa> Tile<S> {
    #[inline(always)]
    fn empty(isa: S) -> Tile<S> {
        let (zero, none) = (isa.splat_i32(0), isa.splat(0.0));
        Tile {
            words: [zero; 64],
            scales: [zero; 16],
            pairs: [zero; 8],
            d: [none; 16],
            minimums: [none; 8],
        }
    }
}

/// A step's elements, times their scales where a part has several, as bytes for tile registers: one plane, or
/// two that are added, the second shifted left. Word `t` of a plane holds elements `4 t` to `4 t + 3`.
type Planes<S> = [[<S as Isa>::V; 64]; 2];

/// What a task needs for products: one step's weights and what is made of them.
pub struct Workspace<S: Isa> {
    tile: Tile<S>,
    tiled: TiledSpace<S>,
}

impl<S: Isa> Workspace<S> {
    /// Room for products.
    pub fn new(isa: S) -> Workspace<S> {
        isa.vectorize::<EmptyWorkspace, _>(())
    }

    #[inline(always)]
    fn empty(isa: S, (): ()) -> Workspace<S> {
        Workspace {
            tile: Tile::empty(isa),
            tiled: TiledSpace::empty(isa),
        }
    }
}

/// Names [`Workspace::empty`].
struct EmptyWorkspace;

vectorized!(impl [] EmptyWorkspace = Workspace::empty, (), Workspace<S>);

/// A quantised weight format.
trait Block {
    /// How its parts are multiplied and added.
    type Parts: Parts;

    /// How activations are rounded for it.
    const ROUNDING: Rounding;
    /// Elements in a block.
    const BLOCK_ELEMS: usize;
    /// Elements that have an f32 step of their own: a block, or a part of one.
    const PART_ELEMS: usize = Self::BLOCK_ELEMS;
    /// Bytes in a block.
    const BLOCK_BYTES: usize;

    /// Unpacks `blocks` blocks of sixteen rows. Row `r`'s first block is at `r * stride + offset`.
    fn unpack<S: Isa>(
        isa: S,
        bytes: &[u8],
        stride: usize,
        offset: usize,
        blocks: usize,
        tile: &mut Tile<S>,
    );

    /// Whether [`Block::dots_in_order`] goes by [`gemv::StepDots`].
    const STEP_BY_STEP: bool = false;
    /// In which order that wants the sub-blocks of 32 activations.
    const ORDER: [u8; 8] = gemv::RECORD_ORDER;

    /// The integer dots of sixteen steps that lie one behind the other, of a format whose parts are steps. Puts what
    /// the terms need besides into `tile`.
    #[inline(always)]
    fn dots_in_order<S: Isa>(
        isa: S,
        steps: &gemv::Steps<'_>,
        records: &gemv::InOrder<S>,
        tile: &mut Tile<S>,
    ) -> S::V {
        Self::unpack(isa, steps.bytes, steps.stride, 0, 1, tile);
        let [integers] = Self::Parts::dots(isa, tile, 0, [steps.ahead(&records.side_by_side)]);
        integers
    }
}

/// How the integers of a part follow from a tile and what is done with them. Parts are counted through all blocks
/// of the step.
///
/// The integers come either from [`Parts::dots`] or, for many rows on a processor with tile registers, from
/// [`Parts::planes`]; both are exact. [`Parts::terms`] does the rest.
trait Parts {
    /// What its planes are.
    const LAYOUT: PlaneLayout;
    /// Terms of a part.
    const TERMS: usize;

    /// The integer dots of one part of the step with `R` rows of activations.
    fn dots<S: Isa, A: Source<S>, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        part: usize,
        records: [A; R],
    ) -> [S::V; R];

    /// The planes of the step.
    fn planes<S: Isa>(isa: S, tile: &Tile<S>, planes: &mut Planes<S>);

    /// The terms of one part with these integer dots, in the order in which each of `R` outputs takes them.
    fn terms<S: Isa, A: Source<S>, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        part: usize,
        records: [A; R],
        integers: [S::V; R],
        sums: &mut impl Sums<S>,
    );
}

/// What takes the terms of outputs.
trait Sums<S: Isa> {
    /// Output `r` becomes `fma(value, factor, output)`.
    fn add(&mut self, isa: S, r: usize, value: S::F, factor: S::F);
}

impl<S: Isa, const R: usize> Sums<S> for [S::F; R] {
    #[inline(always)]
    fn add(&mut self, isa: S, r: usize, value: S::F, factor: S::F) {
        self[r] = isa.fma(value, factor, self[r]);
    }
}
