//! `ggml.mxfp4`: 32 elements of E2M1, one scale that is a power of two.

use super::dot::Unsigned;
use super::record::{Record, Rounding};
use super::{Block, PlaneLayout, Planes, Tile, levels, small};
use crate::isa::Isa;
use guild_quant::format::fp4::E8M0_HALVES;

/// The format.
pub(super) struct Mxfp4;

impl Block for Mxfp4 {
    const ROUNDING: Rounding = Rounding::Q8_32;
    const BLOCK_ELEMS: usize = 32;
    const BLOCK_BYTES: usize = 17;
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
        let levels = levels::e2m1(isa);
        let words = tile.words.as_chunks_mut::<8>().0;
        for (block, words) in words.iter_mut().enumerate().take(blocks) {
            let at = offset + Self::BLOCK_BYTES * block;
            tile.d[block] = small::unpack_byte_scale(isa, bytes, stride, at, &E8M0_HALVES);
            let nibbles = small::unpack_nibbles(isa, isa.columns(bytes, stride, at + 1));
            *words = levels::look_up(isa, levels, nibbles);
        }
    }

    #[inline(always)]
    fn dots<S: Isa, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        part: usize,
        records: [&Record; R],
    ) -> [S::V; R] {
        small::dots::<S, Unsigned, 8, R>(isa, tile, part, records)
    }

    #[inline(always)]
    fn planes<S: Isa>(_isa: S, tile: &Tile<S>, part: usize, planes: &mut Planes<S>) {
        small::plane::<S, 8>(tile, part, planes);
    }

    #[inline(always)]
    fn add<S: Isa, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        part: usize,
        records: [&Record; R],
        integers: [S::V; R],
        sums: &mut [S::F; R],
    ) {
        small::add::<S, 8, R>(
            isa,
            tile,
            part,
            records,
            integers,
            sums,
            levels::E2M1_BIAS.into(),
        );
    }
}
