//! `ggml.q2_K`: 256 elements of 2 bits, sixteen sub-blocks of 16 with a scale and a minimum each.

use super::dot::Unsigned;
use super::k_quants::unpack_pairs;
use super::record::{Record, Rounding};
use super::{Block, PlaneLayout, Planes, Tile, k_quants};
use crate::isa::Isa;

/// The format.
pub(super) struct Q2K;

const PAIRS_AT: usize = 16;
/// The last 16 bytes of a block; the two scales are their upper end.
const TAIL_AT: usize = 68;

impl Block for Q2K {
    const ROUNDING: Rounding = Rounding::Q8_256;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 84;
    const LAYOUT: PlaneLayout = PlaneLayout::ONE;

    #[inline(always)]
    fn unpack<S: Isa>(
        isa: S,
        bytes: &[u8],
        stride: usize,
        offset: usize,
        _blocks: usize,
        tile: &mut Tile<S>,
    ) {
        let [.., scales] = isa.columns(bytes, stride, offset + TAIL_AT);
        tile.d[0] = isa.float_f16(scales);
        tile.minimums[0] = isa.float_f16(isa.shr::<16>(scales));
        let (four, even) = (isa.splat_i32(0x0f), isa.splat_i32(0x000f_000f));
        for (c, column) in isa.columns(bytes, stride, offset).into_iter().enumerate() {
            // Four bytes, a scale in each low half and a minimum in each high one.
            tile.scales[4 * c] = isa.and(column, four);
            tile.scales[4 * c + 1] = isa.and(isa.shr::<8>(column), four);
            tile.scales[4 * c + 2] = isa.and(isa.shr::<16>(column), four);
            tile.scales[4 * c + 3] = isa.and(isa.shr::<24>(column), four);
            tile.pairs[2 * c] = isa.and(isa.shr::<4>(column), even);
            tile.pairs[2 * c + 1] = isa.and(isa.shr::<12>(column), even);
        }
        unpack_pairs(isa, bytes, stride, offset + PAIRS_AT, tile);
    }

    #[inline(always)]
    fn dots<S: Isa, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        _block: usize,
        records: [&Record; R],
    ) -> [S::V; R] {
        k_quants::dots::<S, Unsigned, 4, R>(isa, tile, records)
    }

    #[inline(always)]
    fn planes<S: Isa>(isa: S, tile: &Tile<S>, _block: usize, planes: &mut Planes<S>) {
        k_quants::scale_words::<S, 4>(isa, tile, planes);
    }

    #[inline(always)]
    fn add<S: Isa, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        _block: usize,
        records: [&Record; R],
        integers: [S::V; R],
        sums: &mut [S::F; R],
    ) {
        k_quants::add_with_minimums::<S, 4, R>(isa, tile, records, integers, sums);
    }
}
