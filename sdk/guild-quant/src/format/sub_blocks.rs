//! The walk that all quantised formats share: sub-blocks of elements with an integer scale each, and in some formats
//! an integer minimum each, under one or two F16 scales for the whole block.
//!
//! A format says where its fields stand; the order of arithmetic stands here once. Value:
//! `(d * scale) * q - (dmin * min)`, each step rounded to f32.

use super::{BlockIntegers, QuantisedFormat, assert_block, assert_block_bytes, canonical, f16_at};

/// Where a quantised format keeps its fields. `block` is `[BLOCK_BYTES]` everywhere.
pub(super) trait SubBlocks: QuantisedFormat {
    /// Elements in a sub-block; it divides a part of the block.
    const SUB_BLOCK: usize;
    /// Where the F16 scale stands. [`SubBlocks::d`] of a format that computes its scale doesn't read it.
    const D_AT: usize = 0;
    /// Where the F16 scale of the minimums stands; `None` for a format without minimums.
    const DMIN_AT: Option<usize> = None;

    /// The scale of part `part`, finite or not.
    fn d(block: &[u8], _part: usize) -> f32 {
        f16_at(block, Self::D_AT)
    }

    /// Scale and minimum of sub-block `s`, counted through all parts. A format that has none says 1 and 0.
    fn scale_min(block: &[u8], s: usize) -> (i16, i16);

    /// Element `i` of sub-block `s` as an integer in -128..=127.
    fn value(block: &[u8], s: usize, i: usize) -> i16;
}

/// [`super::BlockFormat::decode`] of any quantised format.
pub(super) fn decode<F: SubBlocks>(block: &[u8], out: &mut [f32]) {
    assert_block::<F>(block, out);
    let dmin = dmin::<F>(block);
    for (part, out) in out.chunks_exact_mut(part_elems::<F>()).enumerate() {
        let d = F::d(block, part);
        let first = first_sub_block::<F>(part);
        for (s, out) in (first..).zip(out.chunks_exact_mut(F::SUB_BLOCK)) {
            let (scale, min) = F::scale_min(block, s);
            let (scale, min) = (d * f32::from(scale), dmin * f32::from(min));
            for (i, out) in out.iter_mut().enumerate() {
                // Without minimums this takes +0 off, which changes no value, not even -0.
                *out = canonical(scale * f32::from(F::value(block, s, i)) - min);
            }
        }
    }
}

/// [`QuantisedFormat::integers`] of any quantised format.
pub(super) fn integers<F: SubBlocks>(block: &[u8], part: usize, out: &mut BlockIntegers) {
    assert_block_bytes::<F>(block);
    assert!(part < F::PARTS, "parts in a block of {}", F::NAME);
    *out = BlockIntegers {
        d: F::d(block, part),
        dmin: dmin::<F>(block),
        has_min: F::DMIN_AT.is_some(),
        elems: part_elems::<F>(),
        sub_block: F::SUB_BLOCK,
        ..BlockIntegers::new()
    };
    let first = first_sub_block::<F>(part);
    let values = out.values[..part_elems::<F>()].chunks_exact_mut(F::SUB_BLOCK);
    for (at, values) in values.enumerate() {
        let s = first + at;
        (out.scales[at], out.mins[at]) = F::scale_min(block, s);
        for (i, q) in values.iter_mut().enumerate() {
            *q = F::value(block, s, i);
        }
    }
}

/// Elements in a part of a block.
const fn part_elems<F: SubBlocks>() -> usize {
    F::BLOCK_ELEMS / F::PARTS
}

/// The number of a part's first sub-block.
const fn first_sub_block<F: SubBlocks>(part: usize) -> usize {
    part * part_elems::<F>() / F::SUB_BLOCK
}

fn dmin<F: SubBlocks>(block: &[u8]) -> f32 {
    F::DMIN_AT.map_or(0.0, |at| f16_at(block, at))
}

/// The four bits with number `n`: byte `n / 2` holds them, an even number in its low half.
pub(super) fn nibble(bytes: &[u8], n: usize) -> u8 {
    (bytes[n / 2] >> (4 * (n % 2))) & 0x0f
}

/// Element `i` of 32 nibbles in 16 bytes: byte `j` holds element `j` in its low half and element `j + 16` in its high
/// half.
pub(super) fn nibble_of_32(bytes: &[u8], i: usize) -> u8 {
    let byte = bytes[i % 16];
    if i < 16 { byte & 0x0f } else { byte >> 4 }
}

/// Element `i` of sub-block `s` of 256 nibbles in 128 bytes: each run of 32 bytes holds two sub-blocks of 32, the even
/// one in the low halves, the odd one in the high halves.
pub(super) fn nibble_of_256(bytes: &[u8], s: usize, i: usize) -> u8 {
    let byte = bytes[s / 2 * 32 + i];
    if s.is_multiple_of(2) {
        byte & 0x0f
    } else {
        byte >> 4
    }
}

/// Element `i` of 32 integers of 5 bits, in 0..=31: four bytes with the fifth bit of element `i` at bit `i`, then
/// nibbles as [`nibble_of_32`] reads them.
pub(super) fn value_of_5_bits(bytes: &[u8], i: usize) -> u8 {
    let fifth = (bytes[i / 8] >> (i % 8)) & 1;
    nibble_of_32(&bytes[4..], i) | (fifth << 4)
}

/// Element `i` of 256 pairs of bits in 64 bytes: each half of 128 elements has 32 bytes, and its quarter `k` of 32
/// elements takes bits `2k, 2k + 1` of each.
pub(super) fn pair_of_256(bytes: &[u8], i: usize) -> u8 {
    let (half, quarter, lane) = (i / 128, i % 128 / 32, i % 32);
    (bytes[32 * half + lane] >> (2 * quarter)) & 3
}
