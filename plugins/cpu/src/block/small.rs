//! What the formats with 32 elements and one F16 scale share. A step is up to eight blocks.

use super::Tile;
use super::record::{Record, small_scale, small_sum, word};
use crate::isa::{Isa, LANES};

/// The F16 scale at the start of a block, for sixteen rows.
#[inline(always)]
pub(super) fn unpack_scale<S: Isa>(isa: S, bytes: &[u8], stride: usize, offset: usize) -> S::F {
    let words: [u32; LANES] = core::array::from_fn(|row| {
        let at = row * stride + offset;
        u32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
    });
    isa.float_f16(isa.load_i32(&words))
}

/// Adds up to eight blocks. `dot` multiplies four elements a lane; a stored element is `bias` above
/// its value.
#[inline(always)]
pub(super) fn multiply<S: Isa, const R: usize>(
    isa: S,
    tile: &Tile<S>,
    blocks: usize,
    records: [&Record; R],
    sums: &mut [S::F; R],
    bias: i32,
    dot: impl Fn(S::V, S::V, S::V) -> S::V,
) {
    for block in 0..blocks.min(8) {
        let mut integers = [isa.splat_i32(0); R];
        for r in 0..R {
            integers[r] = isa.splat_i32(-bias * small_sum(records[r], block));
        }
        for t in 0..8 {
            for r in 0..R {
                let activations = isa.splat_i32(word(records[r], 4 * (8 * block + t)));
                integers[r] = dot(integers[r], tile.words[8 * block + t], activations);
            }
        }
        for r in 0..R {
            let d = isa.mul(tile.d[block], isa.splat(small_scale(records[r], block)));
            sums[r] = isa.fma(isa.float(integers[r]), d, sums[r]);
        }
    }
}
