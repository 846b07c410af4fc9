//! Weight formats as vectors: sixteen weight rows side by side, one row a lane.
//!
//! A product works in steps of 256 elements of the shared axis. [`Block::unpack`] turns the step's
//! blocks of sixteen rows into a [`Tile`]: word `t` of the tile holds, for each row, elements `4 t` to
//! `4 t + 3`. [`Block::multiply`] then takes the rows of activations, whose words are spread over all
//! lanes, so that sixteen outputs grow at once, nothing is summed across lanes, and each output keeps
//! its own order: one accumulator, blocks ascending (`docs/numerics.md`, rule 4).
//!
//! | File | Holds |
//! |---|---|
//! | `record` | activations of one step, rounded to 8 bits or plain |
//! | `dot` | signed and unsigned dots, by type |
//! | `k_quants` | what the 256-element formats share: packed scales, minimums |
//! | `small` | what the formats share whose activations are rounded by 32 |
//! | `levels` | tables of sixteen levels |
//! | `grid` | what the formats on lattices share: points, signs, odd scales |
//! | `q1_0` … `q8_0`, `iq1_s` … `iq4_xs`, `tq1_0`, `tq2_0`, `mxfp4`, `nvfp4` | one format each |
//! | `float` | F32, F16, BF16: widened rows, rule 2 |
//! | `product` | the loops over steps and rows |

mod dot;
mod float;
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
mod tq1_0;
mod tq2_0;

pub use product::{CHUNK_ROWS, Line, Product, TILE_ROWS, TileRows, product};
pub use record::{Activations, RECORD_ELEMS, Rounding, WriteRecord};

use record::Record;

use crate::isa::{Isa, vectorized};

/// One step of sixteen weight rows, unpacked. What a format doesn't use keeps old values.
pub struct Tile<S: Isa> {
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
    /// A tile to unpack into.
    pub fn new(isa: S) -> Tile<S> {
        isa.vectorize::<EmptyTile, _>(())
    }

    #[inline(always)]
    fn empty(isa: S, (): ()) -> Tile<S> {
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

/// Names [`Tile::empty`].
struct EmptyTile;

vectorized!(impl [] EmptyTile = Tile::empty, (), Tile<S>);

/// A quantised weight format.
trait Block {
    /// How activations are rounded for it.
    const ROUNDING: Rounding;
    /// Elements in a block.
    const BLOCK_ELEMS: usize;
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

    /// Adds the step's blocks to the outputs of `R` rows of activations.
    fn multiply<S: Isa, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        blocks: usize,
        records: [&Record; R],
        sums: &mut [S::F; R],
    );
}
