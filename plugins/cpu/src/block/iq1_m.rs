//! `ggml.iq1_m`: 256 elements on a lattice of 2,048 points, sixteen sub-blocks of 16 with a 3-bit
//! scale each.

use super::dot::Unsigned;
use super::grid::{IQ1_BIAS, indices, moved, odd};
use super::k_quants::pair_scales;
use super::record::Rounding;
use super::{Block, Tile, k_quants};
use crate::isa::Isa;

/// The format.
pub(super) struct Iq1M;

const NIBBLES_AT: usize = 32;
/// The last 16 bytes of a block; their upper half has the scales and `d`.
const TAIL_AT: usize = 40;

impl Block for Iq1M {
    type Parts = k_quants::Scaled<Unsigned<IQ1_BIAS>, 4>;

    const ROUNDING: Rounding = Rounding::Q8_256;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 56;

    #[inline(always)]
    fn unpack<S: Isa>(
        isa: S,
        bytes: &[u8],
        stride: usize,
        offset: usize,
        _blocks: usize,
        tile: &mut Tile<S>,
    ) {
        unpack_scales(isa, bytes, stride, offset, tile);
        let pairs = isa.columns_ahead(bytes, stride, offset + NIBBLES_AT);
        for (half, words) in tile.words.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            let lows = isa.columns_ahead(bytes, stride, offset + 16 * half);
            for (c, words) in words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                // Four bits for each eight elements; a column has those of 64.
                let pair = pairs[2 * half + c / 2];
                let mut upper = if c.is_multiple_of(2) {
                    pair
                } else {
                    isa.shr::<16>(pair)
                };
                let downs = [
                    isa.shl::<28>(upper),
                    isa.shl::<24>(upper),
                    isa.shl::<20>(upper),
                    isa.shl::<16>(upper),
                ];
                let indices = indices::<S, 3, 4>(isa, lows[c], &mut upper);
                *words = moved(isa, indices, downs);
            }
        }
    }
}

/// A word of 16 bits has four scales and, above them, a quarter of `d`; a column has two words.
#[inline(always)]
fn unpack_scales<S: Isa>(isa: S, bytes: &[u8], stride: usize, offset: usize, tile: &mut Tile<S>) {
    let [.., first, second] = isa.columns_ahead(bytes, stride, offset + TAIL_AT);
    let low = isa.or(
        isa.and(isa.shr::<12>(first), isa.splat_i32(0x000f)),
        isa.and(isa.shr::<24>(first), isa.splat_i32(0x00f0)),
    );
    let high = isa.or(
        isa.and(isa.shr::<4>(second), isa.splat_i32(0x0f00)),
        isa.and(isa.shr::<16>(second), isa.splat_i32(0xf000)),
    );
    let d = isa.float_f16(isa.or(low, high));
    tile.d[0] = isa.mul(d, isa.splat(1.0 / 8.0));
    let words = [first, isa.shr::<16>(first), second, isa.shr::<16>(second)];
    for (scales, word) in tile.scales.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        let mut rest = word;
        for scale in scales {
            *scale = odd(isa, isa.and(rest, isa.splat_i32(7)));
            rest = isa.shr::<3>(rest);
        }
    }
    pair_scales::<S, 16>(isa, tile);
}
