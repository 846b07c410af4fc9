//! Cases of `add`, `swiglu`, `sigmoid_mul` and `concat`.

use super::{Case, Operand, Seed};
use crate::oracle;
use guild_abi::contract::{ADD, CONCAT, CoreOp, SIGMOID_MUL, SWIGLU};

/// Shapes of one row.
const ROWS: [&[usize]; 7] = [&[1], &[15], &[16], &[17], &[33], &[3, 17], &[2, 64]];

/// The function that the oracle computes on two operands.
type Oracle = fn(&[f32], &[f32]) -> Vec<f32>;

pub(super) fn cases() -> Vec<Case> {
    let ops: [(&'static CoreOp, Oracle, f32); 3] = [
        (&ADD, oracle::add::add, 2.0),
        (&SWIGLU, oracle::swiglu::swiglu, 120.0),
        (&SIGMOID_MUL, oracle::sigmoid_mul::sigmoid_mul, 120.0),
    ];
    let mut cases = Vec::new();
    for (op, oracle, gate_scale) in ops {
        for (at, row) in ROWS.iter().enumerate() {
            let case = binary(op, oracle, gate_scale, row, at as u64);
            cases.extend([
                case.in_place(),
                case.strided(),
                case.strided().in_place(),
                case,
            ]);
        }
    }
    for (p, q) in [(1, 1), (16, 17), (33, 5)] {
        let case = concat(p, q);
        cases.extend([case.strided(), case]);
    }
    cases
}

fn binary(op: &'static CoreOp, oracle: Oracle, gate_scale: f32, row: &[usize], seed: u64) -> Case {
    let mut seed = Seed::new(100 + seed);
    let rows = 7;
    let dim: usize = row.iter().product();
    let mut a = seed.rows_with_specials(rows, dim);
    let mut b = seed.floats(rows * dim, gate_scale);
    // `swiglu` has its gate first, `sigmoid_mul` second.
    if op.number == SWIGLU.number {
        core::mem::swap(&mut a, &mut b);
    }
    let shape = [&[rows], row].concat();
    let mut case = Case::new(op, format!("{shape:?}"), rows);
    case.inputs = vec![Operand::rows(&shape, &a), Operand::rows(&shape, &b)];
    case.outputs = vec![Operand::rows(&shape, &oracle(&a, &b))];
    case
}

fn concat(p: usize, q: usize) -> Case {
    let mut seed = Seed::new(190);
    let rows = 5;
    let (a, b) = (seed.floats(rows * p, 1.0), seed.floats(rows * q, 1.0));
    let y = oracle::concat::concat(&a, p, &b, q);
    let mut case = Case::new(&CONCAT, format!("[{rows}, {p} + {q}]"), rows);
    case.inputs = vec![Operand::rows(&[rows, p], &a), Operand::rows(&[rows, q], &b)];
    case.outputs = vec![Operand::rows(&[rows, p + q], &y)];
    case
}
