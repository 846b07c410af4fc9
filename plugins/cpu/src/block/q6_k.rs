//! `ggml.q6_K`: 256 elements of 6 bits around 32, sixteen sub-blocks of 16 with a signed scale each.
//!
//! Elements are multiplied as 0..=63; `32 * scale * sum of activations` is taken off the block's sum.

use super::dot::Unsigned;
use super::record::Rounding;
use super::{Block, Tile, k_quants};
use crate::isa::Isa;

/// The format.
pub(super) struct Q6K;

const PAIRS_AT: usize = 128;
const SCALES_AT: usize = 192;
/// The last 16 bytes of a block; `d` is their upper end.
const TAIL_AT: usize = 194;

impl Block for Q6K {
    type Parts = k_quants::Scaled<Unsigned<32>, 4>;

    const ROUNDING: Rounding = Rounding::Q8_256;
    const BLOCK_ELEMS: usize = 256;
    const BLOCK_BYTES: usize = 210;

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
        let low = isa.splat_i32(0x0f0f_0f0f);
        let upper = isa.splat_i32(0x3030_3030);
        // Two halves of 128 elements; a half is four quarters of 32.
        for (half, words) in tile.words.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            for part in 0..2 {
                let at = |start: usize, width: usize| offset + start + width * half + 16 * part;
                let first = isa.columns(bytes, stride, at(0, 64));
                let second = isa.columns(bytes, stride, at(32, 64));
                let pairs = isa.columns(bytes, stride, at(PAIRS_AT, 32));
                for c in 0..4 {
                    let (first, second, pair) = (first[c], second[c], pairs[c]);
                    let join = |nibble, bits| isa.or(isa.and(nibble, low), isa.and(bits, upper));
                    let t = 4 * part + c;
                    words[t] = join(first, isa.shl::<4>(pair));
                    words[8 + t] = join(second, isa.shl::<2>(pair));
                    words[16 + t] = join(isa.shr::<4>(first), pair);
                    words[24 + t] = join(isa.shr::<4>(second), isa.shr::<2>(pair));
                }
            }
        }
    }
}

#[inline(always)]
fn unpack_scales<S: Isa>(isa: S, bytes: &[u8], stride: usize, offset: usize, tile: &mut Tile<S>) {
    let [.., tail] = isa.columns(bytes, stride, offset + TAIL_AT);
    tile.d[0] = isa.float_f16(isa.shr::<16>(tail));
    let columns = isa.columns(bytes, stride, offset + SCALES_AT);
    for (c, column) in columns.into_iter().enumerate() {
        tile.scales[4 * c] = isa.sar::<24>(isa.shl::<24>(column));
        tile.scales[4 * c + 1] = isa.sar::<24>(isa.shl::<16>(column));
        tile.scales[4 * c + 2] = isa.sar::<24>(isa.shl::<8>(column));
        tile.scales[4 * c + 3] = isa.sar::<24>(column);
        tile.pairs[2 * c] = isa.sar_i16::<8>(isa.shl_i16::<8>(column));
        tile.pairs[2 * c + 1] = isa.sar_i16::<8>(column);
    }
}
