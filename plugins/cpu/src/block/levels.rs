//! Tables of sixteen levels that four bits name, looked up in a register.

use crate::isa::{Isa, LANES};
use guild_quant::format::IQ4_LEVELS;
use guild_quant::format::fp4::E2M1_LEVELS;

/// The levels of `ggml.iq4_nl` and `ggml.iq4_xs`, in the form of signed weights.
#[inline(always)]
pub(super) fn iq4<S: Isa>(isa: S) -> S::V {
    isa.signed_weights(table(isa, IQ4_LEVELS))
}

/// What the entries of [`e2m1`] are above their levels, so that none is negative.
pub(super) const E2M1_BIAS: i32 = 12;

/// The levels of `ggml.mxfp4` and `ggml.nvfp4`.
#[inline(always)]
pub(super) fn e2m1<S: Isa>(isa: S) -> S::V {
    const RAISED: [i8; 16] = {
        let mut levels = E2M1_LEVELS;
        let mut i = 0;
        while i < 16 {
            levels[i] += E2M1_BIAS as i8;
            i += 1;
        }
        levels
    };
    table(isa, RAISED)
}

/// Sixteen bytes, four times.
#[inline(always)]
fn table<S: Isa>(isa: S, levels: [i8; 16]) -> S::V {
    let levels = levels.map(i8::cast_unsigned);
    let quads = levels.as_chunks::<4>().0;
    let words: [u32; LANES] = core::array::from_fn(|i| u32::from_le_bytes(quads[i % 4]));
    isa.load_i32(&words)
}

/// The level of each byte of `nibbles`, which are below 16.
#[inline(always)]
pub(super) fn look_up<S: Isa, const WORDS: usize>(
    isa: S,
    table: S::V,
    nibbles: [S::V; WORDS],
) -> [S::V; WORDS] {
    let mut words = nibbles;
    for word in &mut words {
        *word = isa.look_up(table, *word);
    }
    words
}
