//! `ggml.q5_1`: 32 elements of 5 bits above a minimum, two F16 scales.

use super::dot::Unsigned;
use super::record::{Record, Rounding};
use super::{Block, PlaneLayout, Planes, Tile, small};
use crate::isa::Isa;

/// The format.
pub(super) struct Q5_1;

impl Block for Q5_1 {
    const ROUNDING: Rounding = Rounding::Q8_32;
    const BLOCK_ELEMS: usize = 32;
    const BLOCK_BYTES: usize = 24;
    const LAYOUT: PlaneLayout = PlaneLayout::ONE;

    #[inline(always)]
    fn unpack<S: Isa>(
        isa: S,
        bytes: &[u8],
        stride: usize,
        offset: usize,
        blocks: usize,
        tile: &mut Tile<S>,
    ) {
        let words = tile.words.as_chunks_mut::<8>().0;
        for (block, words) in words.iter_mut().enumerate().take(blocks) {
            let at = offset + Self::BLOCK_BYTES * block;
            let [scales, fifth, ..] = isa.columns(bytes, stride, at);
            tile.d[block] = isa.float_f16(scales);
            tile.minimums[block] = isa.float_f16(isa.shr::<16>(scales));
            let nibbles = isa.columns(bytes, stride, at + 8);
            *words = small::unpack_five_bits(isa, fifth, nibbles);
        }
    }

    #[inline(always)]
    fn dots<S: Isa, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        block: usize,
        records: [&Record; R],
    ) -> [S::V; R] {
        small::dots::<S, Unsigned, 8, R>(isa, tile, block, records)
    }

    #[inline(always)]
    fn planes<S: Isa>(_isa: S, tile: &Tile<S>, block: usize, planes: &mut Planes<S>) {
        small::plane::<S, 8>(tile, block, planes);
    }

    #[inline(always)]
    fn add<S: Isa, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        block: usize,
        records: [&Record; R],
        integers: [S::V; R],
        sums: &mut [S::F; R],
    ) {
        small::add_with_minimums(isa, tile, block, records, integers, sums);
    }
}
