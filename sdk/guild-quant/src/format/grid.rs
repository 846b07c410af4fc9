//! The lattices of the `iq1`, `iq2` and `iq3` formats: an index in a block names a point, which gives eight or four
//! elements at once.
//!
//! Which points a lattice has is a fact of the format that follows from nothing else, so `points` holds them as a
//! table. Signs and scales that the formats have in common stand here too.

mod points;

/// A lattice.
pub struct Grid<const POINTS: usize> {
    /// The level numbers of each point, `16 / elems` bits each, the first element lowest.
    packed: &'static [u16; POINTS],
    elems: usize,
    /// What a level number stands for.
    levels: &'static [i8],
}

impl<const POINTS: usize> Grid<POINTS> {
    /// Elements of a point, 8 or 4.
    #[must_use]
    pub const fn elems(&self) -> usize {
        self.elems
    }

    /// Element `elem` of point `point`.
    ///
    /// # Panics
    /// When there is no such point or element.
    #[must_use]
    pub const fn value(&self, point: usize, elem: usize) -> i8 {
        assert!(elem < self.elems, "an element of a point");
        let bits = 16 / self.elems;
        let number = (self.packed[point] >> (bits * elem)) as usize & ((1 << bits) - 1);
        self.levels[number]
    }
}

/// The points of `ggml.iq2_xxs`.
pub const IQ2_XXS: Grid<256> = eights(&points::IQ2_XXS, &IQ2_LEVELS);
/// The points of `ggml.iq2_xs`.
pub const IQ2_XS: Grid<512> = eights(&points::IQ2_XS, &IQ2_LEVELS);
/// The points of `ggml.iq2_s`.
pub const IQ2_S: Grid<1024> = eights(&points::IQ2_S, &IQ2_LEVELS);
/// The points of `ggml.iq3_xxs`.
pub const IQ3_XXS: Grid<256> = fours(&points::IQ3_XXS, &[4, 12, 20, 28, 36, 44, 52, 62]);
/// The points of `ggml.iq3_s`.
pub const IQ3_S: Grid<512> = fours(&points::IQ3_S, &[1, 3, 5, 7, 9, 11, 13, 15]);
/// The points of `ggml.iq1_s` and `ggml.iq1_m`.
pub const IQ1: Grid<2048> = eights(&points::IQ1, &[-1, 0, 1]);

const IQ2_LEVELS: [i8; 3] = [8, 25, 43];

const fn eights<const POINTS: usize>(
    packed: &'static [u16; POINTS],
    levels: &'static [i8],
) -> Grid<POINTS> {
    Grid {
        packed,
        elems: 8,
        levels,
    }
}

const fn fours<const POINTS: usize>(
    packed: &'static [u16; POINTS],
    levels: &'static [i8],
) -> Grid<POINTS> {
    Grid {
        packed,
        elems: 4,
        levels,
    }
}

/// Eight signs of which seven are stored, in the low bits of `seven`: the eighth makes the number of minus signs even.
pub(super) fn eight_signs(seven: u32) -> u8 {
    let seven = (seven & 0x7f) as u8;
    seven | ((seven.count_ones() & 1) << 7) as u8
}

/// `magnitude` with the sign of element `i` of eight: minus where bit `i` of `signs` is set.
pub(super) fn signed(magnitude: i8, signs: u8, i: usize) -> i16 {
    let magnitude = i16::from(magnitude);
    if (signs >> i) & 1 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// The scale that four or three stored bits stand for: an odd number, so that no sub-block is zero.
pub(super) fn odd(stored: u8) -> i16 {
    2 * i16::from(stored) + 1
}

/// An element of the `iq1` formats in eighths: the point's, moved by an eighth up or down.
pub(super) fn moved(point: usize, elem: usize, down: bool) -> i16 {
    8 * i16::from(IQ1.value(point, elem)) + if down { -1 } else { 1 }
}
