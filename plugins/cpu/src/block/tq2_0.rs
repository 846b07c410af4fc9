//! `ggml.tq2_0`: 256 elements of 2 bits around 1, one F16 scale.
//!
//! Elements are multiplied as 0..=3; the sum of activations is taken off the block's sum.

use super::dot::Unsigned;
use super::k_quants::{unit_scales, unpack_pairs};
use super::record::{Record, Rounding};
use super::{Block, PlaneLayout, Planes, Tile, k_quants, small};
use crate::isa::Isa;

/// The format.
pub(super) struct Tq2_0;

const D_AT: usize = 64;

impl Block for Tq2_0 {
    const ROUNDING: Rounding = Rounding::Q8_256;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 66;
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
        tile.d[0] = small::unpack_scale(isa, bytes, stride, offset + D_AT);
        unit_scales(isa, tile);
        unpack_pairs(isa, bytes, stride, offset, tile);
    }

    #[inline(always)]
    fn dots<S: Isa, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        _part: usize,
        records: [&Record; R],
    ) -> [S::V; R] {
        k_quants::dots::<S, Unsigned, 8, R>(isa, tile, records)
    }

    #[inline(always)]
    fn planes<S: Isa>(isa: S, tile: &Tile<S>, _part: usize, planes: &mut Planes<S>) {
        k_quants::scale_words::<S, 8>(isa, tile, planes);
    }

    #[inline(always)]
    fn add<S: Isa, const R: usize>(
        isa: S,
        tile: &Tile<S>,
        _part: usize,
        records: [&Record; R],
        integers: [S::V; R],
        sums: &mut [S::F; R],
    ) {
        k_quants::add_around::<S, 8, R>(isa, tile, records, integers, sums, 1);
    }
}
