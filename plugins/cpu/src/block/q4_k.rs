//! `ggml.q4_K`: 256 elements of 4 bits, eight sub-blocks of 32 with a scale and a minimum each.

use super::gemv::{InOrder, StepDots, Steps};
use super::k_quants::{PAIRED_ORDER, packed_scales, paired_dots, unpack_header};
use super::record::Rounding;
use super::{Block, Tile, k_quants};
use crate::isa::{Isa, LANES};

/// The format.
pub(super) struct Q4K;

const NIBBLES_AT: usize = 16;
const BYTES: usize = 144;

impl Block for Q4K {
    type Parts = k_quants::WithMinimums<8>;

    const ROUNDING: Rounding = Rounding::Q8_256;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = BYTES;

    #[inline(always)]
    fn unpack<S: Isa>(
        isa: S,
        bytes: &[u8],
        stride: usize,
        offset: usize,
        _blocks: usize,
        tile: &mut Tile<S>,
    ) {
        unpack_header(isa, bytes, stride, offset, tile);
        let low = isa.splat_i32(0x0f0f_0f0f);
        for (group, words) in tile.words.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            // 32 bytes: low halves are one sub-block, high halves the next.
            for half in 0..2 {
                let at = offset + NIBBLES_AT + 32 * group + 16 * half;
                for (c, column) in isa.columns_ahead(bytes, stride, at).into_iter().enumerate() {
                    words[4 * half + c] = isa.and(column, low);
                    words[8 + 4 * half + c] = isa.and(isa.shr::<4>(column), low);
                }
            }
        }
    }

    const STEP_BY_STEP: bool = true;
    const ORDER: [u8; 8] = PAIRED_ORDER;

    #[inline(always)]
    fn dots_in_order<S: Isa>(
        isa: S,
        steps: &Steps<'_>,
        records: &InOrder<S>,
        tile: &mut Tile<S>,
    ) -> S::V {
        k_quants::sixteen_dots_above_minimums::<S, Q4K>(isa, steps, records, tile)
    }
}

impl StepDots for Q4K {
    #[inline(always)]
    fn dots<S: Isa>(isa: S, block: &[u8], words: &[S::V; 4]) -> S::V {
        let scales = packed_scales(block);
        let nibbles: &[[u8; 4 * LANES]] = block[NIBBLES_AT..BYTES].as_chunks().0;
        let low = isa.splat_i32(0x0f0f_0f0f);
        let mut dots = isa.splat_i32(0);
        let words = words.as_chunks::<2>().0;
        for ((nibbles, words), scales) in nibbles.iter().zip(words).zip(scales) {
            let nibbles = isa.bytes(nibbles);
            let halves = [isa.and(nibbles, low), isa.and(isa.shr::<4>(nibbles), low)];
            dots = paired_dots(isa, dots, halves, scales, words);
        }
        dots
    }
}
