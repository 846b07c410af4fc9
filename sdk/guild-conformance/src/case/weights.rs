//! Random weights in every format: any block bytes are valid, so blocks are random bytes with scales
//! that keep the values near those of a model.

use super::Seed;
use guild_abi::formats::{
    GUILD_FORMAT_BF16, GUILD_FORMAT_F16, GUILD_FORMAT_F32, GUILD_FORMAT_IQ1_M, GUILD_FORMAT_IQ1_S,
    GUILD_FORMAT_IQ2_S, GUILD_FORMAT_IQ2_XS, GUILD_FORMAT_IQ2_XXS, GUILD_FORMAT_IQ3_S,
    GUILD_FORMAT_IQ3_XXS, GUILD_FORMAT_IQ4_NL, GUILD_FORMAT_IQ4_XS, GUILD_FORMAT_MXFP4,
    GUILD_FORMAT_NVFP4, GUILD_FORMAT_Q1_0, GUILD_FORMAT_Q2_K, GUILD_FORMAT_Q3_K, GUILD_FORMAT_Q4_0,
    GUILD_FORMAT_Q4_1, GUILD_FORMAT_Q4_K, GUILD_FORMAT_Q5_0, GUILD_FORMAT_Q5_1, GUILD_FORMAT_Q5_K,
    GUILD_FORMAT_Q6_K, GUILD_FORMAT_Q8_0, GUILD_FORMAT_TQ1_0, GUILD_FORMAT_TQ2_0,
};
use guild_numerics::convert::{f32_to_bf16, f32_to_f16};
use guild_sdk::format;

/// `rows` rows of `elems` elements in `format`, which must be a weight format with whole blocks.
/// The scales of a row's blocks differ by up to 2^20.
///
/// # Panics
/// When `format` is no weight format or `elems` isn't a whole number of blocks.
#[must_use]
pub fn random_weight(seed: &mut Seed, format: u32, rows: usize, elems: usize) -> Vec<u8> {
    let floats = |seed: &mut Seed| seed.floats(rows * elems, 0.5);
    match format {
        GUILD_FORMAT_F32 => floats(seed).iter().flat_map(|x| x.to_le_bytes()).collect(),
        GUILD_FORMAT_F16 => floats(seed)
            .iter()
            .flat_map(|&x| f32_to_f16(x).to_le_bytes())
            .collect(),
        GUILD_FORMAT_BF16 => floats(seed)
            .iter()
            .flat_map(|&x| f32_to_bf16(x).to_le_bytes())
            .collect(),
        _ => blocks(seed, format, rows * elems),
    }
}

fn blocks(seed: &mut Seed, format: u32, elems: usize) -> Vec<u8> {
    let storage = format::storage(format).expect("a weight format");
    let bytes = storage.row_bytes(elems).expect("whole blocks");
    let mut bytes: Vec<u8> = (0..bytes).map(|_| (seed.bits() >> 32) as u8).collect();
    for block in bytes.chunks_exact_mut(storage.block_bytes) {
        match format {
            GUILD_FORMAT_MXFP4 => block[0] = 126 - seed.below(21) as u8,
            // Scales of 2^-10 to 240 are what random bytes say.
            GUILD_FORMAT_NVFP4 => {}
            _ => write_f16_scales(format, block, || f16_scale(seed)),
        }
    }
    bytes
}

/// Elements of a block; 1 in a format without blocks.
pub(super) fn block_elems(format: u32) -> usize {
    format::storage(format).map_or(1, |storage| storage.block_elems)
}

/// Gives each F16 scale of a block the next bits.
pub(super) fn write_f16_scales(format: u32, block: &mut [u8], mut next: impl FnMut() -> u16) {
    if format == GUILD_FORMAT_IQ1_M {
        let scale = next();
        for (k, word) in block[48..].as_chunks_mut::<2>().0.iter_mut().enumerate() {
            word[1] = word[1] & 0x0f | ((scale >> (4 * k)) as u8) << 4;
        }
        return;
    }
    for &at in f16_scales_at(format) {
        block[at..at + 2].copy_from_slice(&next().to_le_bytes());
    }
}

/// A scale as F16, of either sign.
fn f16_scale(seed: &mut Seed) -> u16 {
    let exponent = seed.below(21) as i32 - 20;
    let sign = if seed.below(2) == 0 { -1.0 } else { 1.0 };
    f32_to_f16(sign * (0.5 + seed.unit().abs()) * 2f32.powi(exponent) * 0.25)
}

/// Where the F16 scales stand in a block.
fn f16_scales_at(format: u32) -> &'static [usize] {
    match format {
        GUILD_FORMAT_Q1_0 | GUILD_FORMAT_Q4_0 | GUILD_FORMAT_Q5_0 | GUILD_FORMAT_Q8_0 => &[0],
        GUILD_FORMAT_IQ2_XXS | GUILD_FORMAT_IQ2_XS | GUILD_FORMAT_IQ2_S => &[0],
        GUILD_FORMAT_IQ3_XXS | GUILD_FORMAT_IQ3_S | GUILD_FORMAT_IQ1_S => &[0],
        GUILD_FORMAT_IQ4_NL | GUILD_FORMAT_IQ4_XS => &[0],
        GUILD_FORMAT_Q4_1 | GUILD_FORMAT_Q5_1 => &[0, 2],
        GUILD_FORMAT_Q4_K | GUILD_FORMAT_Q5_K => &[0, 2],
        GUILD_FORMAT_Q2_K => &[80, 82],
        GUILD_FORMAT_Q3_K => &[108],
        GUILD_FORMAT_Q6_K => &[208],
        GUILD_FORMAT_TQ1_0 => &[52],
        GUILD_FORMAT_TQ2_0 => &[64],
        _ => panic!("format {format} has no block layout here"),
    }
}
