//! `ggml.tq1_0`: 256 elements of -1, 0 or 1, five to a byte, one F16 scale.
//!
//! Elements are multiplied as 0..=2; the sum of activations is taken off the block's sum.

use super::dot::Unsigned;
use super::k_quants::{across, unit_scales};
use super::record::Rounding;
use super::{Block, Tile, k_quants};
use crate::isa::Isa;

/// The format.
pub(super) struct Tq1_0;

/// The last 16 bytes of a block: ten that are read elsewhere, four of four elements each, `d`.
const TAIL_AT: usize = 38;

impl Block for Tq1_0 {
    type Parts = k_quants::Scaled<Unsigned<1>, 8>;

    const ROUNDING: Rounding = Rounding::Q8_256;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 54;

    #[inline(always)]
    fn unpack<S: Isa>(
        isa: S,
        bytes: &[u8],
        stride: usize,
        offset: usize,
        _blocks: usize,
        tile: &mut Tile<S>,
    ) {
        let [.., middle, last] = isa.columns_ahead(bytes, stride, offset + TAIL_AT);
        tile.d[0] = isa.float_f16(isa.shr::<16>(last));
        unit_scales(isa, tile);
        // 32 bytes give 160 elements, 16 give 80, four give 16: those of digit 0 first.
        for part in 0..2 {
            let columns = isa.columns_ahead(bytes, stride, offset + 16 * part);
            for (c, column) in columns.into_iter().enumerate() {
                let digits = digits::<S, 5>(isa, column);
                for (n, digit) in digits.into_iter().enumerate() {
                    tile.words[8 * n + 4 * part + c] = digit;
                }
            }
        }
        let columns = isa.columns_ahead(bytes, stride, offset + 32);
        for (c, column) in columns.into_iter().enumerate() {
            let digits = digits::<S, 5>(isa, column);
            for (n, digit) in digits.into_iter().enumerate() {
                tile.words[40 + 4 * n + c] = digit;
            }
        }
        let digits = digits::<S, 4>(isa, across(isa, middle, last));
        tile.words[60..].copy_from_slice(&digits);
    }
}

/// The first `COUNT` digits in base three of the fractions of 256 that four bytes are: the integer
/// part of three times what the digit before has left.
#[inline(always)]
fn digits<S: Isa, const COUNT: usize>(isa: S, fractions: S::V) -> [S::V; COUNT] {
    let byte = isa.splat_i32(0x00ff_00ff);
    // Two bytes a word, each with room for the product.
    let mut even = isa.and(fractions, byte);
    let mut odd = isa.and(isa.shr::<8>(fractions), byte);
    let mut digits = [fractions; COUNT];
    for digit in &mut digits {
        even = isa.add_i32(even, isa.shl::<1>(even));
        odd = isa.add_i32(odd, isa.shl::<1>(odd));
        *digit = isa.or(
            isa.and(isa.shr::<8>(even), isa.splat_i32(0x0003_0003)),
            isa.and(odd, isa.splat_i32(0x0300_0300)),
        );
        (even, odd) = (isa.and(even, byte), isa.and(odd, byte));
    }
    digits
}
