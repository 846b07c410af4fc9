//! How a tile's words are multiplied with activations: the choice between the instruction set's two
//! dots, by type, so that the hot loop's dot is a trait method and always inlined.

use crate::isa::Isa;

/// One of the instruction set's dots of four bytes a lane.
pub(super) trait Dot {
    /// `sum + words . activations` for each group of four bytes.
    fn dot<S: Isa>(isa: S, sum: S::V, words: S::V, activations: S::V) -> S::V;
}

/// Words of unsigned bytes up to 129: [`Isa::dot_unsigned`].
pub(super) struct Unsigned;
/// Words that went through [`Isa::signed_weights`]: [`Isa::dot_signed`], whose sums are
/// [`Isa::SIGNED_OFFSET`] times the sum of the activations too high.
pub(super) struct Signed;

impl Dot for Unsigned {
    #[inline(always)]
    fn dot<S: Isa>(isa: S, sum: S::V, words: S::V, activations: S::V) -> S::V {
        isa.dot_unsigned(sum, words, activations)
    }
}

impl Dot for Signed {
    #[inline(always)]
    fn dot<S: Isa>(isa: S, sum: S::V, words: S::V, activations: S::V) -> S::V {
        isa.dot_signed(sum, words, activations)
    }
}
