//! What the cases of products must have, in every weight format: shapes at which a kernel may go another way, and odd
//! numbers. Without a case at such an edge a kernel that is wrong there would pass.

use guild_conformance::case::{self, Case, Operand};
use guild_conformance::oracle::Matrix;
use guild_sdk::abi::contract::{CoreOp, LINEAR, MOE_EXPERTS};
use guild_sdk::format::{self, WEIGHT_FORMATS};
use std::collections::BTreeSet;
use std::sync::LazyLock;

static CASES: LazyLock<Vec<Case>> = LazyLock::new(case::all);

/// Elements that a kernel multiplies at once.
const STEP: usize = 256;
/// More weight rows than sixteen for each task, whatever the kit's number of workers.
const MANY_WEIGHT_ROWS: usize = 400;
/// No scale but an odd one makes elements as large as this.
const HUGE: f32 = 2000.0;

/// The cases of an operation whose first weight, which is input `at`, has this format.
fn cases_of(op: &'static CoreOp, at: usize, format: u32) -> Vec<&'static Case> {
    let mine = |case: &&Case| case.op.name == op.name && case.inputs[at].format == format;
    let cases: Vec<&Case> = CASES.iter().filter(mine).collect();
    assert!(!cases.is_empty(), "{}: {}", op.name, format::name(format));
    cases
}

/// The numbers of `wanted` that `has` lacks.
fn missing(wanted: &[usize], has: impl Iterator<Item = usize>) -> Vec<usize> {
    let has: BTreeSet<usize> = has.collect();
    let missing = wanted.iter().filter(|number| !has.contains(number));
    missing.copied().collect()
}

fn values(operand: &Operand) -> Vec<f32> {
    let words = operand.bytes.as_chunks::<4>().0.iter();
    words.map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// Asserts that calls of one row and of many have odd activations, and odd weights with them.
fn assert_odd(cases: &[&Case], at: usize, name: &str) {
    type Holds = fn(&[f32]) -> bool;
    let kinds: [(&str, Holds); 5] = [
        ("one NaN", |x| x.iter().filter(|x| x.is_nan()).count() == 1),
        ("infinity", |x| x.iter().any(|x| x.is_infinite())),
        ("subnormal numbers", |x| x.iter().any(|x| x.is_subnormal())),
        ("sixteen zeros", |x| {
            x.windows(16).any(|x| x.iter().all(|x| *x == 0.0))
        }),
        ("ordinary numbers", |x| x.iter().any(|x| x.abs() > 0.1)),
    ];
    let odd: Vec<&&Case> = cases
        .iter()
        .filter(|case| has_zeros_and_huge(&case.inputs[at]))
        .collect();
    // Where all outputs are NaN, nothing is compared. Of a row of one block most odd ways leave NaN or nothing.
    let telling = odd.iter().any(|case| {
        let outputs = values(&case.outputs[0]);
        let ordinary = outputs.iter().filter(|y| y.is_finite() && **y != 0.0);
        case.rows > 1 && ordinary.count() >= outputs.len() / 16
    });
    assert!(telling, "{name}: too few finite outputs");
    for many in [false, true] {
        let inputs = odd.iter().filter(|case| (case.rows > 1) == many);
        let inputs: Vec<Vec<f32>> = inputs.map(|case| values(&case.inputs[0])).collect();
        for (kind, holds) in kinds {
            let found = inputs.iter().any(|x| holds(x)) || (many && kind == "one NaN");
            assert!(found, "{name}: {kind}, more than one row: {many}");
        }
    }
}

/// Whether a weight has blocks of zeros and such with huge scales; elements where its format has no blocks.
fn has_zeros_and_huge(weight: &Operand) -> bool {
    let storage = format::storage(weight.format).unwrap();
    let mut blocks = weight.bytes.chunks_exact(storage.block_bytes);
    if !blocks.any(|block| block.iter().all(|byte| *byte == 0)) {
        return false;
    }
    let elems = weight.shape[weight.shape.len() - 1];
    let matrix = Matrix::new(weight.format, &weight.bytes, elems).unwrap();
    (0..matrix.rows()).any(|row| {
        let row = matrix.decode(row);
        row.iter().any(|x| x.is_finite() && x.abs() >= HUGE)
    })
}

#[test]
fn names_of_products_are_unique() {
    let mut names = BTreeSet::new();
    let products = [LINEAR.name, MOE_EXPERTS.name];
    for case in CASES.iter().filter(|case| products.contains(&case.op.name)) {
        assert!(names.insert((case.op.name, &case.name)), "{}", case.name);
    }
}

#[test]
fn linear_has_every_shape_in_every_format() {
    for &format in WEIGHT_FORMATS {
        let (name, cases) = (format::name(format), cases_of(&LINEAR, 1, format));
        let rows = cases.iter().map(|case| case.rows);
        assert!(missing(&[1, 2, 7, 12, 20, 33], rows).is_empty(), "{name}");
        let one_row = cases.iter().filter(|case| case.rows == 1);
        let shapes: Vec<[usize; 2]> = one_row
            .clone()
            .map(|case| [case.inputs[1].shape[0], case.inputs[1].shape[1]])
            .collect();
        let lengths_of = |weight_rows: usize| {
            let fit = shapes.iter().filter(move |[m, _]| *m == weight_rows);
            fit.map(|[_, k]| *k)
        };
        let whole_steps = format::storage(format).unwrap().block_elems == STEP;
        for weight_rows in [5, 37] {
            if whole_steps {
                let steps = lengths_of(weight_rows).map(|k| k / STEP);
                let missing = missing(&[1, 2, 3, 8, 16, 17, 24], steps);
                assert!(missing.is_empty(), "{name}: {missing:?} steps");
            } else {
                let mut lengths = lengths_of(weight_rows);
                let short = lengths.any(|k| k > 16 * STEP && k % STEP != 0);
                assert!(short, "{name}: a short last step");
            }
        }
        assert!(
            lengths_of(1).any(|k| k > 16 * STEP),
            "{name}: one weight row"
        );
        let many = shapes.iter().any(|[m, _]| *m > MANY_WEIGHT_ROWS);
        assert!(many, "{name}: many weight rows for a task");
    }
}

#[test]
fn moe_experts_has_every_shape_in_every_format() {
    for &format in WEIGHT_FORMATS {
        let (name, cases) = (format::name(format), cases_of(&MOE_EXPERTS, 3, format));
        let rows = cases.iter().map(|case| case.rows);
        assert!(missing(&[1, 2, 9, 12, 22, 33], rows).is_empty(), "{name}");
        // With gaps between the rows of gate and up, and without.
        for gaps in [false, true] {
            let has_gaps = |case: &&&Case| (case.inputs[3].row_gap > 0) == gaps;
            let mut one_row = cases.iter().filter(|case| case.rows == 1).filter(has_gaps);
            let several_steps = one_row.any(|case| case.inputs[3].shape[2] > STEP);
            assert!(several_steps, "{name}: one row of several steps, {gaps}");
        }
    }
}

#[test]
fn products_have_odd_numbers_in_every_format() {
    for &format in WEIGHT_FORMATS {
        for (op, at) in [(&LINEAR, 1), (&MOE_EXPERTS, 3)] {
            let name = format!("{} {}", op.name, format::name(format));
            assert_odd(&cases_of(op, at, format), at, &name);
        }
    }
}
