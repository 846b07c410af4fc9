//! The sixteen levels that `ggml.iq4_nl` and `ggml.iq4_xs` share, looked up in a register.

use crate::isa::{Isa, LANES};
use guild_quant::format::IQ4_LEVELS;

/// The table for [`look_up`]: sixteen bytes, repeated, in the form of signed weights.
#[inline(always)]
pub(super) fn table<S: Isa>(isa: S) -> S::V {
    let levels = IQ4_LEVELS.map(i8::cast_unsigned);
    let quads = levels.as_chunks::<4>().0;
    let words: [u32; LANES] = core::array::from_fn(|i| u32::from_le_bytes(quads[i % 4]));
    isa.signed_weights(isa.load_i32(&words))
}

/// The level of each byte of `nibbles`, which are below 16.
#[inline(always)]
pub(super) fn look_up<S: Isa>(isa: S, table: S::V, nibbles: [S::V; 8]) -> [S::V; 8] {
    let mut words = nibbles;
    for word in &mut words {
        *word = isa.look_up(table, *word);
    }
    words
}
