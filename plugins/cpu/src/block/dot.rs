//! How a tile's words are multiplied with activations: the choice between the instruction set's two
//! dots, by type, so that the hot loop's dot is a trait method and always inlined.

use super::Tile;
use super::record::Source;
use crate::isa::Isa;

/// One of the instruction set's dots of four bytes a lane.
pub(super) trait Dot {
    /// What a word's byte is above its value.
    fn bias<S: Isa>() -> i32;
    /// `sum + words . activations` for each group of four bytes.
    fn dot<S: Isa>(isa: S, sum: S::V, words: S::V, activations: S::V) -> S::V;
    /// The words' values as signed bytes.
    fn values<S: Isa>(isa: S, words: S::V) -> S::V;
}

/// Words of unsigned bytes up to 127, each `BIAS` above its value: [`Isa::dot_unsigned`].
pub(super) struct Unsigned<const BIAS: i32>;
/// Words that went through [`Isa::signed_weights`]: [`Isa::dot_signed`].
pub(super) struct Signed;

impl<const BIAS: i32> Dot for Unsigned<BIAS> {
    #[inline(always)]
    fn bias<S: Isa>() -> i32 {
        BIAS
    }
    #[inline(always)]
    fn dot<S: Isa>(isa: S, sum: S::V, words: S::V, activations: S::V) -> S::V {
        isa.dot_unsigned(sum, words, activations)
    }
    #[inline(always)]
    fn values<S: Isa>(isa: S, words: S::V) -> S::V {
        // With its highest bit set no byte borrows from the next.
        let top = isa.splat_i32(0x8080_8080_u32.cast_signed());
        let raised = isa.or(words, top);
        isa.xor(isa.sub_i32(raised, isa.splat_i32(0x0101_0101 * BIAS)), top)
    }
}

impl Dot for Signed {
    #[inline(always)]
    fn bias<S: Isa>() -> i32 {
        S::SIGNED_OFFSET
    }
    #[inline(always)]
    fn dot<S: Isa>(isa: S, sum: S::V, words: S::V, activations: S::V) -> S::V {
        isa.dot_signed(sum, words, activations)
    }
    #[inline(always)]
    fn values<S: Isa>(isa: S, words: S::V) -> S::V {
        // Its own inverse.
        isa.signed_weights(words)
    }
}

/// The integer dots of part `part` of `4 * WORDS` elements, counted through the step.
#[inline(always)]
pub(super) fn dots<S: Isa, D: Dot, A: Source<S>, const WORDS: usize, const R: usize>(
    isa: S,
    tile: &Tile<S>,
    part: usize,
    records: [A; R],
) -> [S::V; R] {
    let mut integers = [isa.splat_i32(0); R];
    for t in 0..WORDS {
        for r in 0..R {
            let activations = records[r].word(isa, WORDS * part + t);
            integers[r] = D::dot(isa, integers[r], tile.words[WORDS * part + t], activations);
        }
    }
    integers
}
