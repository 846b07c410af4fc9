//! Random weights in every format: any block bytes are valid, so blocks are random bytes with scales
//! that keep the values near those of a model.

use super::Seed;
use guild_abi::abi::{
    GUILD_FORMAT_BF16, GUILD_FORMAT_F16, GUILD_FORMAT_F32, GUILD_FORMAT_IQ4_NL,
    GUILD_FORMAT_IQ4_XS, GUILD_FORMAT_Q2_K, GUILD_FORMAT_Q3_K, GUILD_FORMAT_Q4_0,
    GUILD_FORMAT_Q4_1, GUILD_FORMAT_Q4_K, GUILD_FORMAT_Q5_0, GUILD_FORMAT_Q5_1, GUILD_FORMAT_Q5_K,
    GUILD_FORMAT_Q6_K, GUILD_FORMAT_Q8_0,
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
    // Where the F16 scales stand in a block.
    let scales: &[usize] = match format {
        GUILD_FORMAT_Q4_0 | GUILD_FORMAT_Q5_0 | GUILD_FORMAT_Q8_0 => &[0],
        GUILD_FORMAT_IQ4_NL | GUILD_FORMAT_IQ4_XS => &[0],
        GUILD_FORMAT_Q4_1 | GUILD_FORMAT_Q5_1 => &[0, 2],
        GUILD_FORMAT_Q4_K | GUILD_FORMAT_Q5_K => &[0, 2],
        GUILD_FORMAT_Q2_K => &[80, 82],
        GUILD_FORMAT_Q3_K => &[108],
        GUILD_FORMAT_Q6_K => &[208],
        _ => panic!("format {format} has no block layout here"),
    };
    for block in bytes.chunks_exact_mut(storage.block_bytes) {
        for &at in scales {
            let exponent = seed.below(21) as i32 - 20;
            let sign = if seed.below(2) == 0 { -1.0 } else { 1.0 };
            let scale = sign * (0.5 + seed.unit().abs()) * 2f32.powi(exponent) * 0.25;
            block[at..at + 2].copy_from_slice(&f32_to_f16(scale).to_le_bytes());
        }
    }
    bytes
}
