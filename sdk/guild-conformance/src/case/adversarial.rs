//! Numbers at the edges of what a float can say, as they come from a broken file or from activations that ran away.

use super::weights::{block_elems, write_f16_scales};
use super::{Seed, random_weight};
use guild_abi::formats::{
    GUILD_FORMAT_BF16, GUILD_FORMAT_F16, GUILD_FORMAT_F32, GUILD_FORMAT_MXFP4, GUILD_FORMAT_NVFP4,
};
use guild_sdk::format;

/// What [`spoil`] puts into a row of activations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Odd {
    Nan,
    Infinity,
    NegativeInfinity,
    /// An infinity of either sign and a NaN, in one block.
    AllNotFinite,
    Zeros,
    NegativeZeros,
    /// A block of nothing but subnormal numbers.
    Subnormals,
    /// Subnormal numbers among others.
    OneInFourSubnormal,
    /// Subnormal numbers alone, so that no sum hides them.
    SubnormalRow,
    /// The largest finite numbers.
    Largest,
    /// Nothing but numbers about 2^-100, below which rounded activations are zero: times a small scale they are
    /// subnormal, and so are sums of them.
    NearTheLimit,
}

impl Odd {
    pub(super) const ALL: [Odd; 11] = [
        Odd::Nan,
        Odd::Infinity,
        Odd::NegativeInfinity,
        Odd::AllNotFinite,
        Odd::Zeros,
        Odd::NegativeZeros,
        Odd::Subnormals,
        Odd::OneInFourSubnormal,
        Odd::SubnormalRow,
        Odd::Largest,
        Odd::NearTheLimit,
    ];

    /// Whether all blocks of a row are odd, and not one alone.
    fn is_everywhere(self) -> bool {
        [Odd::SubnormalRow, Odd::NearTheLimit].contains(&self)
    }
}

/// Rows of activations for weights of this format: row `r` is odd in the `r`-th of these ways in one block, and as
/// usual in the others; odd everywhere in some ways.
pub(super) fn odd_rows(
    seed: &mut Seed,
    format: u32,
    ways: impl IntoIterator<Item = Odd>,
    k: usize,
) -> Vec<f32> {
    let mut all = Vec::new();
    for odd in ways {
        let mut row = seed.floats(k, 2.0);
        // Formats with longer blocks of parts round activations by 32.
        let block = match block_elems(format) {
            1 => 16,
            64 | 128 => 32,
            elems => elems,
        };
        let chosen = seed.below(k.div_ceil(block));
        for (at, block) in row.chunks_mut(block).enumerate() {
            if at == chosen || odd.is_everywhere() {
                spoil(seed, odd, block);
            }
        }
        all.extend(row);
    }
    all
}

/// Puts odd numbers into a block of activations.
fn spoil(seed: &mut Seed, odd: Odd, block: &mut [f32]) {
    let at = seed.below(block.len());
    let subnormal = |seed: &mut Seed| seed.unit() * f32::MIN_POSITIVE;
    match odd {
        // Neither the canonical one nor positive.
        Odd::Nan => block[at] = f32::from_bits(0xffc1_2345),
        Odd::Infinity => block[at] = f32::INFINITY,
        Odd::NegativeInfinity => block[at] = f32::NEG_INFINITY,
        Odd::AllNotFinite => {
            let values = [f32::INFINITY, f32::NAN, f32::NEG_INFINITY];
            for (x, value) in block.iter_mut().zip(values) {
                *x = value;
            }
        }
        Odd::Zeros => block.fill(0.0),
        Odd::NegativeZeros => block.fill(-0.0),
        Odd::Subnormals | Odd::SubnormalRow => block.fill_with(|| subnormal(seed)),
        Odd::OneInFourSubnormal => block
            .iter_mut()
            .step_by(4)
            .for_each(|x| *x = subnormal(seed)),
        Odd::Largest => block.fill_with(|| f32::MAX.copysign(seed.unit())),
        Odd::NearTheLimit => {
            let limit = [0.9, 1.5, 20.0][seed.below(3)] * 2f32.powi(-100);
            block.fill_with(|| seed.unit() * limit);
        }
    }
}

/// A random weight of which half of the blocks have odd scales, or are zero; a few elements where a format has no
/// blocks. Where products may end `beyond` what is finite, every eighth row has scales that aren't finite or are the
/// largest of 8 bits of exponent; they stand in no other, since nothing else shows where they are.
///
/// # Panics
/// As [`random_weight`].
pub(super) fn odd_weight(
    seed: &mut Seed,
    format: u32,
    (rows, elems): (usize, usize),
    beyond: bool,
) -> Vec<u8> {
    let mut bytes = random_weight(seed, format, rows, elems);
    let storage = format::storage(format).expect("a weight format");
    let row_bytes = storage.row_bytes(elems).expect("whole blocks");
    let one_in = if storage.block_elems == 1 { 128 } else { 8 };
    for (row, bytes) in bytes.chunks_exact_mut(row_bytes).enumerate() {
        for block in bytes.chunks_exact_mut(storage.block_bytes) {
            match seed.below(one_in) {
                0 => block.fill(0),
                1..4 => spoil_scales(seed, format, beyond && row % 8 == 7, block),
                _ => {}
            }
        }
    }
    bytes
}

/// Gives a block odd scales. A format without blocks has elements instead.
fn spoil_scales(seed: &mut Seed, format: u32, beyond: bool, block: &mut [u8]) {
    let mut float =
        |significand, exponent| odd_float(seed, significand, exponent, beyond).to_le_bytes();
    match format {
        GUILD_FORMAT_F32 => block.copy_from_slice(&float(23, 8)),
        GUILD_FORMAT_F16 => block.copy_from_slice(&float(10, 5)[..2]),
        GUILD_FORMAT_BF16 => block.copy_from_slice(&float(7, 8)[..2]),
        // Exponents: the first two stand for subnormal numbers, 254 and 255 for the largest.
        GUILD_FORMAT_MXFP4 if beyond => block[0] = 254 + seed.below(2) as u8,
        GUILD_FORMAT_MXFP4 => block[0] = [0, 1, HUGE_EXPONENT as u8][seed.below(3)],
        // Zero, the least, the largest, one that is NaN elsewhere and is zero here, both zero and NaN with a sign.
        GUILD_FORMAT_NVFP4 => {
            block[..4].fill_with(|| [0, 1, 0x7e, 0x7f, 0x80, 0xff][seed.below(6)])
        }
        _ => write_f16_scales(format, block, || {
            let [low, high, ..] = float(10, 5);
            u16::from_le_bytes([low, high])
        }),
    }
}

/// Eight bits of exponent of a number that is huge for a weight, and whose products are finite: 2^13.
const HUGE_EXPONENT: u32 = 140;

/// The bits of an odd float of either sign, with so many bits of significand and exponent.
fn odd_float(seed: &mut Seed, significand: u32, exponent: u32, beyond: bool) -> u32 {
    let infinity = ((1 << exponent) - 1) << significand;
    let largest = infinity - 1;
    let quiet = 1 << (significand - 1);
    let huge = if exponent < 8 {
        largest
    } else {
        HUGE_EXPONENT << significand
    };
    let largest_subnormal = (1 << significand) - 1;
    let odd = if beyond {
        [infinity, infinity + 1, infinity + quiet, largest, 1]
    } else {
        [0, 1, largest_subnormal, largest_subnormal + 1, huge]
    };
    let sign = seed.below(2) as u32;
    odd[seed.below(odd.len())] | sign << (significand + exponent)
}
