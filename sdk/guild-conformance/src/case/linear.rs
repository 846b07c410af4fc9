//! Cases of `linear`: every weight format, one row and several, special rows, several weights, odd numbers.

use super::adversarial::{Odd, odd_rows, odd_weight};
use super::weights::block_elems;
use super::{Case, Operand, Seed, random_weight};
use crate::oracle::{self, Matrix};
use crate::tolerance;
use guild_abi::contract::LINEAR;
use guild_abi::formats::{
    GUILD_FORMAT_BF16, GUILD_FORMAT_F32, GUILD_FORMAT_MXFP4, GUILD_FORMAT_Q4_K, GUILD_FORMAT_Q6_K,
    GUILD_FORMAT_Q8_0,
};
use guild_sdk::format::{self, WEIGHT_FORMATS};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &format in WEIGHT_FORMATS {
        let block = block_elems(format);
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
        cases.extend(one_row(format));
        cases.extend(many_rows(format));
        cases.extend(odd_numbers(format));
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
    // More rows than are multiplied at once, whatever the way, and not a multiple of what that is.
    cases.push(linear(275, 80, &[(GUILD_FORMAT_BF16, 37)]));
    cases
}

/// Elements of a step: that many of a row are multiplied at once.
const STEP: usize = 256;

/// One row of activations. A kernel may read a weight in the order of the file then, steps of several rows at once:
/// rows of less and more than sixteen steps, some that divide sixteen and some that don't; weights that end within
/// sixteen steps, within sixteen rows, or after several times sixteen rows for one task.
fn one_row(format: u32) -> Vec<Case> {
    let block = block_elems(format);
    let lengths: &[usize] = match block {
        STEP => &[1, 2, 3, 8, 16, 17, 24].map(|steps| steps * STEP),
        // A last step that is a short one.
        _ => &[STEP + block, 16 * STEP + block],
    };
    let mut cases = Vec::new();
    for &k in lengths {
        // Of weights with one short row there are cases above.
        let weight_rows: &[usize] = if k > 3 * STEP { &[1, 5, 37] } else { &[5, 37] };
        cases.extend(weight_rows.iter().map(|&m| linear(1, k, &[(format, m)])));
    }
    // So many that a task has more than sixteen, with one worker and with two.
    cases.push(linear(1, lengths[0], &[(format, 421)]));
    if block == STEP {
        cases.push(linear(1, 3 * STEP, &[(format, 421)]));
        cases.push(linear(1, 17 * STEP, &[(format, 205)]));
    }
    cases
}

/// Numbers of rows on both sides of those from which a kernel may go another way.
fn many_rows(format: u32) -> Vec<Case> {
    let k = short_row(format);
    let rows = [2, 12, 20, 33];
    rows.map(|rows| linear(rows, k, &[(format, 37)])).to_vec()
}

/// Elements of a row of more than two steps, the last of which is short where the format allows it.
fn short_row(format: u32) -> usize {
    match block_elems(format) {
        STEP => 3 * STEP,
        block => 2 * STEP + block,
    }
}

/// Odd scales with odd activations: one row in each way, and all of them in one call.
fn odd_numbers(format: u32) -> Vec<Case> {
    let (mut seed, k) = (Seed::new(398), short_row(format));
    let mut case = |what: String, ways: &[Odd], k: usize, m: usize| {
        let x = odd_rows(&mut seed, format, ways.iter().copied(), k);
        let bytes = odd_weight(&mut seed, format, (m, k), true);
        let (rows, name) = (ways.len(), format::name(format));
        let name = format!("[{rows}, {k}] x odd {name} {m}, {what}");
        product(name, &x, k, vec![(format, bytes)])
    };
    let mut cases: Vec<Case> = Odd::ALL
        .iter()
        .map(|odd| case(format!("{odd:?}"), &[*odd], k, 21))
        .collect();
    // Beyond sixteen steps, where sums of a row go on.
    let long = 15 * STEP + k;
    for odd in [Odd::NearTheLimit, Odd::Zeros] {
        cases.push(case(format!("{odd:?}"), &[odd], long, 13));
    }
    let twice = [Odd::ALL, Odd::ALL].concat();
    cases.push(case("all ways".to_owned(), &twice, k, 13));
    cases.push(case("some ways".to_owned(), &Odd::ALL[2..9], k, 13));
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
    case.tolerance = Some(tolerance::linear);
    case.inputs = vec![Operand::rows(&[rows, k], x)];
    for (format, bytes) in weights {
        let weight = Matrix::new(format, &bytes, k).expect("whole rows");
        let (m, y) = (weight.rows(), oracle::linear::linear(x, &weight));
        case.outputs.push(Operand::rows(&[rows, m], &y));
        case.inputs.push(Operand::weight(format, &[m, k], bytes));
    }
    case
}
