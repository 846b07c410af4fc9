//! Cases of `rms_norm`, `gated_rms_norm` and `l2_norm`.

use super::{Case, Operand, Seed, params};
use crate::oracle;
use guild_abi::contract::{GATED_RMS_NORM, L2_NORM, RMS_NORM};

const EPSILON: f32 = 1e-6;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let shapes: [&[usize]; 11] = [
        &[1],
        &[15],
        &[16],
        &[17],
        &[33],
        &[3, 16],
        &[2, 33],
        &[1, 128],
        &[17, 64],
        &[5, 300],
        &[4100],
    ];
    for row in shapes {
        cases.push(rms_norm(row));
        let row = if row.len() == 2 { row } else { &[1, row[0]] };
        cases.extend([gated_rms_norm(row), l2_norm(row)]);
    }
    cases
        .iter()
        .flat_map(|case| {
            [
                case.clone(),
                case.in_place(),
                case.strided(),
                case.strided().in_place(),
            ]
        })
        .collect()
}

fn norm_params(scale: f32) -> Vec<u8> {
    params(&[EPSILON.to_le_bytes(), scale.to_le_bytes(), [0; 4]])
}

fn rms_norm(row: &[usize]) -> Case {
    let (shape, x, weight) = data(row);
    let mut case = Case::new(&RMS_NORM, format!("{shape:?}"), shape[0]);
    case.params = norm_params(1.0);
    let y = oracle::rms_norm::rms_norm(&x, &weight, EPSILON);
    case.inputs = vec![
        Operand::rows(&shape, &x),
        Operand::floats(&[weight.len()], &weight),
    ];
    case.outputs = vec![Operand::rows(&shape, &y)];
    case
}

fn gated_rms_norm(row: &[usize]) -> Case {
    let (shape, x, weight) = data(row);
    let z = Seed::new(310).floats(x.len(), 90.0);
    let mut case = Case::new(&GATED_RMS_NORM, format!("{shape:?}"), shape[0]);
    case.params = norm_params(1.0);
    let y = oracle::gated_rms_norm::gated_rms_norm(&x, &weight, &z, EPSILON);
    case.inputs = vec![
        Operand::rows(&shape, &x),
        Operand::floats(&[weight.len()], &weight),
        Operand::rows(&shape, &z),
    ];
    case.outputs = vec![Operand::rows(&shape, &y)];
    case
}

fn l2_norm(row: &[usize]) -> Case {
    let (shape, x, weight) = data(row);
    let scale = 0.088_388_346;
    let mut case = Case::new(&L2_NORM, format!("{shape:?}"), shape[0]);
    case.params = norm_params(scale);
    let y = oracle::l2_norm::l2_norm(&x, weight.len(), EPSILON, scale);
    case.inputs = vec![Operand::rows(&shape, &x)];
    case.outputs = vec![Operand::rows(&shape, &y)];
    case
}

/// Shape, elements and the weight of `[dim]`.
fn data(row: &[usize]) -> (Vec<usize>, Vec<f32>, Vec<f32>) {
    let mut seed = Seed::new(300 + row.iter().sum::<usize>() as u64);
    let rows = 7;
    let shape = [&[rows], row].concat();
    let x = seed.rows_with_specials(rows, row.iter().product());
    let weight = seed.floats(row[row.len() - 1], 2.0);
    (shape, x, weight)
}
