//! `ggml.q5_K`: as `ggml.q4_K`, with a fifth bit for each element.

use super::gemv::{InOrder, StepDots, Steps};
use super::k_quants::{PAIRED_ORDER, packed_scales, paired_dots, unpack_header};
use super::record::Rounding;
use super::{Block, Tile, k_quants};
use crate::isa::{Isa, LANES};

/// The format.
pub(super) struct Q5K;

const FIFTH_BITS_AT: usize = 16;
const NIBBLES_AT: usize = 48;
const BYTES: usize = 176;

impl Block for Q5K {
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
        let fifth = isa.splat_i32(0x1010_1010);
        for half in 0..2 {
            // Bit `s` of byte `i` belongs to element `i` of sub-block `s`; each group of two
            // sub-blocks shifts its bits to the bottom.
            let mut bits = isa.columns_ahead(bytes, stride, offset + FIFTH_BITS_AT + 16 * half);
            for (group, words) in tile.words.as_chunks_mut::<16>().0.iter_mut().enumerate() {
                let at = offset + NIBBLES_AT + 32 * group + 16 * half;
                for (c, column) in isa.columns_ahead(bytes, stride, at).into_iter().enumerate() {
                    let even = isa.and(isa.shl::<4>(bits[c]), fifth);
                    let odd = isa.and(isa.shl::<3>(bits[c]), fifth);
                    words[4 * half + c] = isa.or(isa.and(column, low), even);
                    words[8 + 4 * half + c] = isa.or(isa.and(isa.shr::<4>(column), low), odd);
                    bits[c] = isa.shr::<2>(bits[c]);
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
        k_quants::sixteen_dots_above_minimums::<S, Q5K>(isa, steps, records, tile)
    }
}

/// The fifth bits of two sub-blocks that are two apart, and what brings them to bit 4.
const FIFTH_BITS: [FifthBits; 2] = [fifth_bits(0), fifth_bits(1)];

/// A mask and factors.
type FifthBits = ([u8; 4 * LANES], [u8; 4 * LANES]);

const fn fifth_bits(first: u32) -> FifthBits {
    let (mut mask, mut factor) = ([0; 4 * LANES], [0; 4 * LANES]);
    let mut i = 0;
    while i < mask.len() {
        let bit = if i < mask.len() / 2 { first } else { first + 2 };
        mask[i] = 1 << bit;
        // Of i16: the products of both their bytes stay bytes.
        factor[i] = if i % 2 == 0 { 1 << (4 - bit) } else { 0 };
        i += 1;
    }
    (mask, factor)
}

#[inline(always)]
fn fifth_of<S: Isa>(isa: S, bits: S::V, (mask, factor): &FifthBits) -> S::V {
    isa.mul_i16(isa.and(bits, isa.bytes(mask)), isa.bytes(factor))
}

impl StepDots for Q5K {
    #[inline(always)]
    fn dots<S: Isa>(isa: S, block: &[u8], words: &[S::V; 4]) -> S::V {
        let scales = packed_scales(block);
        let nibbles: &[[u8; 4 * LANES]] = block[NIBBLES_AT..BYTES].as_chunks().0;
        let fifth = block[FIFTH_BITS_AT..].first_chunk().expect("32 bytes");
        let mut bits = isa.halves(fifth, fifth);
        let low = isa.splat_i32(0x0f0f_0f0f);
        let mut dots = isa.splat_i32(0);
        let words = words.as_chunks::<2>().0;
        for ((nibbles, words), scales) in nibbles.iter().zip(words).zip(scales) {
            let nibbles = isa.bytes(nibbles);
            let even = fifth_of(isa, bits, &FIFTH_BITS[0]);
            let odd = fifth_of(isa, bits, &FIFTH_BITS[1]);
            let first = isa.or(isa.and(nibbles, low), even);
            let second = isa.or(isa.and(isa.shr::<4>(nibbles), low), odd);
            dots = paired_dots(isa, dots, [first, second], scales, words);
            bits = isa.shr::<4>(bits);
        }
        dots
    }
}
