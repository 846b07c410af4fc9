//! Cases of `linear`: every weight format, one row and several, special rows, several weights.

use super::{Case, Operand, Seed, random_weight};
use crate::oracle::{self, Matrix};
use guild_abi::contract::LINEAR;
use guild_abi::formats::{
    GUILD_FORMAT_BF16, GUILD_FORMAT_F32, GUILD_FORMAT_MXFP4, GUILD_FORMAT_Q4_K, GUILD_FORMAT_Q6_K,
    GUILD_FORMAT_Q8_0,
};
use guild_sdk::format::{self, WEIGHT_FORMATS};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &format in WEIGHT_FORMATS {
        let block = format::storage(format).map_or(1, |storage| storage.block_elems);
        let lengths: &[usize] = match block {
            1 => &[1, 15, 16, 17, 33, 80],
            // The last one goes beyond two steps of 256 elements.
            32 => &[32, 96, 160, 576],
            64 => &[64, 192, 320, 576],
            128 => &[128, 384, 640],
            _ => &[256, 768],
        };
        for &k in lengths {
            for (rows, m) in [(1, 1), (1, 17), (7, 33), (16, 5), (17, 16)] {
                let case = linear(rows, k, &[(format, m)]);
                if rows == 7 {
                    cases.push(case.strided());
                }
                cases.push(case);
            }
        }
    }
    let mixed = [
        (GUILD_FORMAT_Q4_K, 15),
        (GUILD_FORMAT_Q6_K, 17),
        (GUILD_FORMAT_F32, 1),
        (GUILD_FORMAT_Q8_0, 33),
    ];
    for rows in [1, 6] {
        cases.push(linear(rows, 512, &mixed));
        cases.push(linear(
            rows,
            40,
            &[(GUILD_FORMAT_BF16, 9), (GUILD_FORMAT_F32, 20)],
        ));
    }
    cases.extend([negative_zero(), extreme_scales()]);
    cases
}

/// Products that all round to -0: a lane that no element reaches any more must stay so.
fn negative_zero() -> Case {
    let k = 17;
    let (x, weight) = (vec![-1e-30; k], vec![1e-30; k]);
    let bytes: Vec<u8> = weight.iter().flat_map(|x: &f32| x.to_le_bytes()).collect();
    let name = "[1, 17] x f32 1, every product -0".to_owned();
    product(name, &x, k, vec![(GUILD_FORMAT_F32, bytes)])
}

/// The least and the largest scales of eight bits of exponent: products with subnormal ones aren't
/// flushed, those beyond f32 become infinite.
fn extreme_scales() -> Case {
    let (k, exponents) = (64, [[0, 1], [254, 255], [0, 255]]);
    let mut seed = Seed::new(399);
    let x = [seed.floats(k, 1e30), seed.floats(k, 1e-3)].concat();
    let mut bytes = random_weight(&mut seed, GUILD_FORMAT_MXFP4, exponents.len(), k);
    let blocks = bytes.chunks_exact_mut(17);
    for (block, exponent) in blocks.zip(exponents.as_flattened()) {
        block[0] = *exponent;
    }
    let name = format!("[2, {k}] x ggml.mxfp4 3, extreme scales");
    product(name, &x, k, vec![(GUILD_FORMAT_MXFP4, bytes)])
}

fn linear(rows: usize, k: usize, weights: &[(u32, usize)]) -> Case {
    let mut seed = Seed::new(400 + (rows * k) as u64);
    let x = seed.rows_with_specials(rows, k);
    let names: Vec<String> = weights
        .iter()
        .map(|&(format, m)| format!("{} {m}", format::name(format)))
        .collect();
    let weights = weights
        .iter()
        .map(|&(format, m)| (format, random_weight(&mut seed, format, m, k)))
        .collect();
    product(
        format!("[{rows}, {k}] x {}", names.join(", ")),
        &x,
        k,
        weights,
    )
}

/// Rows `x` of `k` elements times weights, each a format and bytes.
fn product(name: String, x: &[f32], k: usize, weights: Vec<(u32, Vec<u8>)>) -> Case {
    let rows = x.len() / k;
    let mut case = Case::new(&LINEAR, name, rows);
    case.inputs = vec![Operand::rows(&[rows, k], x)];
    for (format, bytes) in weights {
        let weight = Matrix::new(format, &bytes, k).expect("whole rows");
        let (m, y) = (weight.rows(), oracle::linear::linear(x, &weight));
        case.outputs.push(Operand::rows(&[rows, m], &y));
        case.inputs.push(Operand::weight(format, &[m, k], bytes));
    }
    case
}
